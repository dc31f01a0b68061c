import assert from 'node:assert/strict';
import { SinkFixture } from './sink-fixture.ts';

const AT_S = 1_700_000_000;
const AT_MS = AT_S * 1000;

interface Point {
  readonly metric: string;
  readonly timestamp?: unknown;
  readonly value: unknown;
  readonly tags?: object;
}

const points = (...list: Point[]) => JSON.stringify(list.map((point) => ({ timestamp: AT_MS, ...point })));

describe('a sink of the documented formats', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('formats')));
  after(() => fixture.close());

  /** Sends messages through a sink of their own; resolves when their offsets are committed. */
  async function sink(
    format: string,
    messages: readonly string[],
    more: Record<string, string> = {},
  ): Promise<{ readonly name: string; readonly topic: string }> {
    const topic = await fixture.topicOf(messages);
    const name = await fixture.start(topic, { 'protocol.type': format, ...more });
    if (messages.length > 0) await fixture.done(name, messages.length);
    return { name, topic };
  }

  describe('json_tsd', () => {
    it('creates a table per metric with the tags as columns, all VARCHAR except the time', async () => {
      await sink('json_tsd', [
        points(
          { metric: 'sys.cpu', value: 42, tags: { host: 'web01' } },
          { metric: 'sys.cpu', value: true, tags: { host: 'web02' } },
          { metric: 'sys.cpu', value: 'hot', tags: { host: 'web03', slot: 7 } },
        ),
        points({ metric: 'sys.mem', value: 0.25, timestamp: AT_S }),
      ]);
      assert.deepEqual(await fixture.columnsOf('"sys.cpu"'), [
        ['timestamp', 'timestamp with time zone', null],
        ['value', 'character varying(254)', null],
        ['primary_tag', 'character varying(254)', 'sluice:primary-tag'],
        ['host', 'character varying(254)', 'sluice:tag'],
        ['slot', 'character varying(254)', 'sluice:tag'],
      ]);
      const rows = await fixture.sql.rows(
        'select extract(epoch from timestamp), value, host, slot from "sys.cpu" order by host',
      );
      assert.deepEqual(rows, [
        [`${String(AT_S)}.000000`, '42', 'web01', null],
        [`${String(AT_S)}.000000`, 'true', 'web02', null],
        [`${String(AT_S)}.000000`, 'hot', 'web03', '7'],
      ]);
      assert.deepEqual(await fixture.sql.rows('select extract(epoch from timestamp)::int8, value from "sys.mem"'), [
        [String(AT_S), '0.25'],
      ]);
    });

    it('creates value columns of the type value.type', async () => {
      await sink('json_tsd', [points({ metric: 'auto.f', value: 1 }, { metric: 'auto.b', value: true })], {
        'value.type': 'auto',
      });
      await sink('json_tsd', [points({ metric: 'fixed.f', value: 1 })], { 'value.type': 'FLOAT8' });
      const types: unknown[] = [];
      for (const table of ['"auto.f"', '"auto.b"', '"fixed.f"']) types.push((await fixture.columnsOf(table))[1]?.[1]);
      assert.deepEqual(types, ['double precision', 'boolean', 'double precision']);
    });

    it('writes the metric a.b to column b of table a if it exists, and keeps the other cells of the row', async () => {
      await fixture.sql.run(
        'create table plant (at timestamptz, power float8, note varchar(8), site varchar(16), primary key (at, site))',
        `comment on column plant.site is 'sluice:primary-tag'`,
        `insert into plant values (to_timestamp(${String(AT_S)}), 1, 'kept', 'oslo')`,
      );
      await sink('json_tsd', [
        points({ metric: 'plant.power', value: 4.5, tags: { site: 'oslo' } }),
        points({ metric: 'plant.note', value: 'new', tags: { site: 'rome' } }),
        points({ metric: 'plant.power', value: 7, tags: { site: 'rome' } }),
      ]);
      assert.deepEqual(await fixture.sql.rows('select power, note, site from plant order by site'), [
        ['4.5', 'kept', 'oslo'],
        ['7', 'new', 'rome'],
      ]);
    });

    it('adds tags to tables that it created, unless auto.evolve is none', async () => {
      const { name, topic } = await sink('json_tsd', [points({ metric: 'grow.t', value: 1 })]);
      await fixture.kafka.produce(topic, [
        { value: points({ metric: 'grow.t', value: 'x'.repeat(300), tags: { zone: 'z' } }) },
      ]);
      await fixture.done(name, 2);
      assert.deepEqual(await fixture.sql.rows('select length(value), zone from "grow.t" order by zone nulls first'), [
        ['1', null],
        ['300', 'z'],
      ]);
      const refused = await sink('json_tsd', [], { 'auto.evolve': 'none' });
      await fixture.kafka.produce(refused.topic, [
        { value: points({ metric: 'grow.t', value: 2, tags: { other: 'o' } }) },
      ]);
      assert.match(await fixture.traceOf(refused.name), /table "grow\.t" has no column "other"/);
    });

    it('reads times in the unit of timestamp.precision', async () => {
      await sink('json_tsd', [points({ metric: 'unit.s', value: 1, timestamp: AT_S })], { 'timestamp.precision': 's' });
      await sink('json_tsd', [points({ metric: 'unit.ms', value: 1, timestamp: 5 })], { 'timestamp.precision': 'ms' });
      assert.equal(await fixture.sql.number('select extract(epoch from timestamp) from "unit.s"'), AT_S);
      assert.equal(await fixture.sql.number('select extract(epoch from timestamp) * 1000 from "unit.ms"'), 5);
    });
  });

  describe('line_tsd', () => {
    it('creates a table per metric, and accepts several lines per message', async () => {
      await sink('line_tsd', [
        `net.in ${String(AT_S)} 15 host=a if=eth0\nput net.in ${String(AT_S + 1)} 1.5 host=a if=eth0`,
        `net.in ${String(AT_MS + 2000)} -3 host=b`,
      ]);
      assert.deepEqual(
        await fixture.sql.rows(
          'select extract(epoch from timestamp)::int8, value, host, "if" from "net.in" order by 1',
        ),
        [
          [String(AT_S), '15', 'a', 'eth0'],
          [String(AT_S + 1), '1.5', 'a', 'eth0'],
          [String(AT_S + 2), '-3', 'b', null],
        ],
      );
    });

    it('does not create tables with auto.create=false', async () => {
      const { name, topic } = await sink('line_tsd', [], { 'auto.create': 'false' });
      await fixture.kafka.produce(topic, [{ value: `not.made ${String(AT_S)} 1` }]);
      const trace = await fixture.traceOf(name);
      assert.match(trace, /table "not\.made" does not exist and may not be created/);
      assert.match(trace, new RegExp(`topic ${topic}, partition 0, offset 0`));
    });
  });

  describe('line_lp', () => {
    it('creates and extends tables only if configured', async () => {
      const line = (fields: string) => `made_by_lines,site=oslo ${fields} ${String(AT_MS)}`;
      const refused = await sink('line_lp', []);
      await fixture.kafka.produce(refused.topic, [{ value: line('a=1') }]);
      assert.match(await fixture.traceOf(refused.name), /"made_by_lines" does not exist/);
      const { name, topic } = await sink('line_lp', [line('a=1,s="x"')], {
        'auto.create': 'true',
        'auto.evolve': 'add',
        'timestamp.precision': 'ms',
        'table.options': 'with (fillfactor = 60)',
      });
      await fixture.kafka.produce(topic, [{ value: line('b=2i') }]);
      await fixture.done(name, 2);
      assert.deepEqual(
        (await fixture.columnsOf('made_by_lines')).map(([column, type]) => [column, type]),
        [
          ['k_timestamp', 'timestamp with time zone'],
          ['a', 'double precision'],
          ['s', 'character varying(254)'],
          ['primary_tag', 'character varying(64)'],
          ['site', 'character varying(254)'],
          ['b', 'bigint'],
        ],
      );
      assert.deepEqual(await fixture.sql.rows(`select reloptions from pg_class where relname = 'made_by_lines'`), [
        ['{fillfactor=60}'],
      ]);
    });

    it('merges lines of the same series and time, also across batches, unless dedup.rule is set (L4)', async () => {
      await fixture.sql.run(
        'create table merged (k_timestamp timestamptz, h text, a int4, b int4, primary key (k_timestamp, h))',
      );
      const line = (fields: string) => `merged,h=x ${fields} ${String(AT_MS)}`;
      const stored = () => fixture.sql.rows('select a, b from merged');
      const options = { 'timestamp.precision': 'ms' };
      const merging = await sink('line_lp', [line('a=1i'), line('b=2i')], options);
      await fixture.done(merging.name, 2);
      assert.deepEqual(await stored(), [['1', '2']]);
      await fixture.kafka.produce(merging.topic, [{ value: line('b=3i') }]);
      await fixture.done(merging.name, 3);
      assert.deepEqual(await stored(), [['1', '3']]);
      const replacing = await sink('line_lp', [line('b=4i')], { ...options, 'dedup.rule': 'override' });
      await fixture.done(replacing.name, 1);
      assert.deepEqual(await stored(), [[null, '4']]);
    });

    it('accepts Unix times for TIMESTAMP columns in their unit, and resolves the documented escapes (M1, M2)', async () => {
      await fixture.sql.run(
        'create table fitted (k_timestamp timestamptz primary key, ms timestamp(3), us timestamptz, s varchar)',
      );
      const [ms, us] = [String(AT_MS), String(AT_MS * 1000)];
      const text = String.raw`s="a\ b\=c\,d"`;
      const lines = [`fitted ms=${ms},us=${us}i,${text} ${ms}`, `fitted ms='2023-11-14 22:13:21.5' ${ms}`];
      const { name } = await sink('line_lp', lines, { 'timestamp.precision': 'ms' });
      await fixture.done(name, 2);
      assert.deepEqual(await fixture.sql.rows(`select ms::text, us = '2023-11-14 22:13:20Z', s from fitted`), [
        ['2023-11-14 22:13:21.5', 't', 'a b=c,d'],
      ]);
    });

    it('spreads the nanoseconds of a record or stores them in a column, and counts merged rows (L6)', async () => {
      const options = { 'auto.create': 'true' };
      const point = (table: string) => `${table},h=x v=1i 1001\n${table},h=x v=2i 1002\n${table},h=x v=3i 1003`;
      const count = async (table: string) => fixture.sql.rows(`select count(*) from ${table}`);
      const floor = await sink('line_lp', [point('n_floor')], options);
      assert.deepEqual(await count('n_floor'), [['1']]);
      const page = await (await fetch(`${fixture.sluice.url}/metrics`)).text();
      assert.match(page, new RegExp(`^sluice_rows_collapsed_total\\{connector="${floor.name}"\\} 2$`, 'm'));
      await sink('line_lp', [point('n_spread'), point('n_spread')], { ...options, nanoseconds: 'spread' });
      assert.deepEqual(await count('n_spread'), [['3']]);
      await sink('line_lp', [point('n_column'), 'n_column,h=x w=9i 1001'], {
        ...options,
        'auto.evolve': 'add',
        nanoseconds: 'column',
      });
      assert.deepEqual(await fixture.sql.rows('select k_nanos, v, w from n_column order by 1'), [
        ['1', '1', '9'],
        ['2', '2', null],
        ['3', '3', null],
      ]);
      const at = '1700000000123456';
      await sink('line_tsd', [`n_tsd ${at}789 1\nn_tsd ${at}788 2`], { nanoseconds: 'column' });
      assert.deepEqual(await fixture.sql.rows('select k_nanos, value from n_tsd order by 1'), [
        ['788', '2'],
        ['789', '1'],
      ]);
    });
  });
});
