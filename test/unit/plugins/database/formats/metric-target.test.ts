import assert from 'node:assert/strict';
import type { ColumnRole } from '../../../../../src/data/row-batch.ts';
import { JsonTsdDecoder } from '../../../../../plugins/database/formats/tsd/json-tsd.ts';
import { LineTsdDecoder } from '../../../../../plugins/database/formats/tsd/line-tsd.ts';
import {
  metricSplits,
  resolveMetric,
  retarget,
  type MetricTarget,
} from '../../../../../plugins/database/formats/tsd/metric-target.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const LINE = { kind: 'line', line: 1 } as const;

/** Tables by name, their columns as `name` or `name role`; also counts what was asked for. */
function database(tables: Record<string, string[]>) {
  const asked: string[] = [];
  const find = async (name: string) => {
    asked.push(name);
    const columns = tables[name]?.map((text) => {
      const [column = '', role = 'data'] = text.split(' ');
      return { name: column, role: role as ColumnRole };
    });
    return Promise.resolve(columns && { columns });
  };
  return { asked, find };
}

function points(text: string) {
  const decoder = new LineTsdDecoder();
  decoder.add(text, LINE);
  const [rows] = decoder.take().rows;
  assert.ok(rows);
  return rows;
}

const METERS = ['at time', 'current', 'voltage', 'primary_tag primary-tag', 'site tag'];

describe('a metric', () => {
  it('can be split into table and column at every dot, the last one first', () => {
    assert.deepEqual(metricSplits('a.b.c'), [
      { table: 'a.b', column: 'c' },
      { table: 'a', column: 'b.c' },
    ]);
    assert.deepEqual(['plain', '.c', 't.', '.', ''].map(metricSplits), [[], [], [], [], []]);
    const long = 'x'.repeat(64);
    assert.deepEqual(metricSplits(`${long}.a.b`), []);
    assert.deepEqual(metricSplits(`a.${long}`), []);
    assert.deepEqual(metricSplits('.'.repeat(1_000_000)).length, 0);
  });

  it('is a column of an existing table, or else the name of a table', async () => {
    const { find, asked } = database({ meters: METERS, 'sys.cpu': ['k_timestamp time', 'value'], 'a.b': ['x'] });
    assert.deepEqual(await resolveMetric('meters.current', find), {
      table: 'meters',
      column: 'current',
      timeColumn: 'at',
    });
    assert.deepEqual(await resolveMetric('sys.cpu', find), {
      table: 'sys.cpu',
      column: undefined,
      timeColumn: 'k_timestamp',
    });
    assert.deepEqual(await resolveMetric('a.b.x', find), {
      table: 'a.b',
      column: 'x',
      timeColumn: undefined,
    });
    asked.length = 0;
    assert.deepEqual(await resolveMetric('meters.power.active', find), {
      table: 'meters.power.active',
      column: undefined,
      timeColumn: undefined,
    });
    assert.deepEqual(asked, ['meters.power', 'meters', 'meters.power.active']);
  });

  it('is never the time or a tag of a table', async () => {
    const { find } = database({ meters: METERS });
    for (const metric of ['meters.at', 'meters.site', 'meters.primary_tag']) {
      assert.equal((await resolveMetric(metric, find)).table, metric);
    }
  });
});

describe('points with a target', () => {
  const target = (members: Partial<MetricTarget> = {}): MetricTarget => ({
    table: 'meters',
    column: 'current',
    timeColumn: 'at',
    ...members,
  });

  it('get its table, time and value column, and are parts of rows', () => {
    const { rows, faults } = retarget(
      points('meters.current 1700000000 5 site=oslo\nmeters.current 1700000001 6'),
      target(),
    );
    assert.deepEqual(faults, []);
    assert.deepEqual([rows.batch.table, rows.partial, rows.shape], [{ name: 'meters' }, true, undefined]);
    assert.deepEqual(columnsOf(rows.batch), [
      'at time time',
      'current int data',
      'primary_tag text primary-tag',
      'site text tag',
    ]);
    assert.deepEqual(
      rowsOf(rows.batch).map(({ at, current, site }) => [at, current, site]),
      [
        [1_700_000_000_000_000, 5, 'oslo'],
        [1_700_000_001_000_000, 6, null],
      ],
    );
    assert.deepEqual(rows.batch.origins.at(1), { kind: 'line', line: 2 });
  });

  it('keep the shape of their own table, and the same object if nothing changes', () => {
    const decoded = points('sys.cpu 1700000000 5 site=oslo');
    const whole = { table: 'sys.cpu', column: undefined, timeColumn: 'timestamp' };
    const { rows, faults } = retarget(decoded, whole);
    assert.deepEqual(faults, []);
    assert.equal(rows.shape, decoded.shape);
    assert.equal(rows.partial, undefined);
    assert.deepEqual(rowsOf(rows.batch), rowsOf(decoded.batch));
    const other = retarget(decoded, { ...whole, timeColumn: 'at' });
    assert.deepEqual(
      other.rows.shape?.columns.map(({ name }) => name),
      ['at', 'value', 'primary_tag', 'site'],
    );
    assert.deepEqual(columnsOf(other.rows.batch), [
      'at time time',
      'value int data',
      'primary_tag text primary-tag',
      'site text tag',
    ]);
  });

  it('are refused individually if a tag has the name of the time or value column', () => {
    const decoder = new JsonTsdDecoder();
    const point = (tags: object) =>
      JSON.stringify({ metric: 'meters.current', timestamp: 1_700_000_000, value: 5, tags });
    const sets = [{ site: 'a' }, { current: 'b' }, { at: 'c', site: 'c' }, { site: 'd' }];
    decoder.add(`[${sets.map(point).join(',')}]`, LINE);
    const [decoded] = decoder.take().rows;
    assert.ok(decoded);
    const { rows, faults } = retarget(decoded, target());
    assert.deepEqual(
      rowsOf(rows.batch).map(({ current, site }) => [current, site]),
      [
        [5, 'a'],
        [5, 'd'],
      ],
    );
    assert.deepEqual(rows.batch.origins.at(1), { kind: 'line', line: 4 });
    assert.deepEqual(
      faults.map(({ origin, column }) => [origin, column]).toSorted(),
      [
        [{ kind: 'line', line: 2 }, 'current'],
        [{ kind: 'line', line: 3 }, 'at'],
      ].toSorted(),
    );
    assert.equal(
      faults.find(({ column }) => column === 'current')?.message,
      'the tag "current" has the name of the time or value column of table "meters"',
    );
  });
});
