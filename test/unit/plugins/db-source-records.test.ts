import assert from 'node:assert/strict';
import { sourceSettings, settingProblems } from '../../../plugins/db-source/source-settings.ts';
import type { Page } from '../../../plugins/db-source/feed-reader.ts';
import { RecordWriter } from '../../../plugins/db-source/record-writer.ts';
import type { SourceTable } from '../../../plugins/db-source/tables.ts';
import type { ConnectorConfig } from '../../../src/connect/api.ts';
import { isBlock, recordsOfBlock } from '../../../src/connect/source/source-block.ts';
import type { SourceRecord } from '../../../src/data/record.ts';
import { rowBlockOf } from './database/formats/row-block-of.ts';

const config = (more: ConnectorConfig = {}): ConnectorConfig => ({
  'connection.url': 'jdbc:db://localhost:5432/plant',
  'connection.user': 'u',
  'out.format': 'line_lp',
  ...more,
});

const column = (name: string, type: string, role: 'time' | 'data' | 'tag' = 'data') => {
  const sql = { baseType: 'pg_catalog.text', operatorSchema: 'pg_catalog' };
  return { name, type, typeOid: 25, ...sql, nullable: true, hasDefault: false, role };
};
const table: SourceTable = {
  name: { schema: 'public', name: 'meters' },
  columns: [
    column('ts', 'timestamp with time zone', 'time'),
    column('n', 'bigint'),
    column('m', 'bigint'),
    column('site', 'text', 'tag'),
  ],
  key: ['ts'],
  source: '"public"."meters" t',
  oid: '1',
  hasXmin: true,
  indexedColumns: ['ts'],
};
const BEFORE = { timestamp_us: 1n };
const AFTER = { timestamp_us: 2n };
const row = (n: number, site: string) => ['2026-01-01 00:00:00+00', String(n), '0', site, null];

async function records(rows: (string | null)[][], more: ConnectorConfig) {
  const target = { topic: 'p', partition: { table: 'meters' }, onUnsupportedRow: undefined };
  const writer = new RecordWriter(table, sourceSettings(config(more)), target);
  const made = await recordsOf(writer, { ...PAGE, rows });
  const range = { block: rowBlockOf(rows, table.columns.length + 1), from: 0 };
  assert.deepEqual(await recordsOf(writer, { ...PAGE, range }), made, 'rows as the server sends them');
  return made;
}

const PAGE: Page = { rows: [], offsetBefore: BEFORE, offsetAfter: AFTER, lateRows: 0, isLast: true };

async function recordsOf(writer: RecordWriter, page: Page): Promise<SourceRecord[]> {
  return (await writer.records(page)).flatMap((part) =>
    isBlock(part) ? recordsOfBlock(part) : 'error' in part ? [] : [part],
  );
}

describe('records of a source', () => {
  it('have no key, and the offset after a page only at its end', async () => {
    const made = await records([row(1, 'a'), row(2, 'b')], { 'timestamp.precision': 'ms' });
    assert.deepEqual(
      made.map(({ key, keySchema, value, sourceOffset }) => [key, keySchema, value, sourceOffset]),
      [
        [null, null, 'meters,site=a n=1i64,m=0i64 1767225600000', BEFORE],
        [null, null, 'meters,site=b n=2i64,m=0i64 1767225600000', AFTER],
      ],
    );
  });

  it('have the columns of key.columns as their key', async () => {
    assert.deepEqual(
      (await records([row(1, 'a')], { 'key.columns': 'site' })).map(({ key }) => key),
      ['a'],
    );
    assert.deepEqual(
      (await records([row(1, 'a"')], { 'key.columns': 'site, n' })).map(({ key }) => key),
      ['["a\\"","1"]'],
    );
    await assert.rejects(records([], { 'key.columns': 'rack' }), /it has no column rack \(key\.columns\)/);
  });

  it('have several rows with out.format.rows.per.record, all of one key', async () => {
    const rows = [row(1, 'a'), row(2, 'a'), row(3, 'a'), row(4, 'b')];
    const lines = async (more: ConnectorConfig) =>
      (await records(rows, { 'timestamp.precision': 'ms', ...more })).map(({ value }) =>
        (value as string).match(/n=\d/g)?.join(),
      );
    assert.deepEqual(await lines({ 'out.format.rows.per.record': '3' }), ['n=1,n=2,n=3', 'n=4']);
    assert.deepEqual(await lines({ 'out.format.rows.per.record': '2', 'key.columns': 'site' }), [
      'n=1,n=2',
      'n=3',
      'n=4',
    ]);
  });

  it('have one line of line_tsd each, unless they have several rows', async () => {
    const values = async (more: ConnectorConfig) =>
      (await records([row(1, 'a')], { 'out.format': 'line_tsd', ...more })).map(({ value }) => value);
    const [n, m] = ['meters.n 1767225600000 1 site=a', 'meters.m 1767225600000 0 site=a'];
    assert.deepEqual(await values({}), [n, m]);
    assert.deepEqual(await values({ 'out.format.rows.per.record': '2' }), [`${n}\n${m}`]);
  });

  it('end before they have more than 1,000,000 characters, unless one row has more', async () => {
    const rows = Array.from({ length: 400 }, (_, index) => row(index, 'a'.repeat(10_000)));
    for (const format of ['line_lp', 'json_db', 'json_tsd', 'line_tsd']) {
      const more = { 'out.format': format, 'out.format.rows.per.record': '1000' };
      const lengths = (await records(rows, more)).map(({ value }) => (value as string).length);
      const most = Math.max(...lengths);
      assert.ok(most > 970_000 && most <= 1_000_000, `${format}: ${String(most)}`);
      assert.ok(lengths.length >= 4 && lengths.length < 10, `${format}: ${String(lengths)}`);
      const [long, short] = [row(1, 'a'.repeat(1_100_000)), row(2, 'b')];
      const own = (await records([short, long, short], more)).map(({ value }) => (value as string).length > 1_000_000);
      assert.deepEqual(own, [false, true, false], format);
    }
  });

  it('skip rows that the format cannot represent, and keep those around them', async () => {
    const refused: string[] = [];
    const settings = sourceSettings(config({ 'out.format': 'line_tsd', 'out.format.rows.per.record': '10' }));
    const onUnsupportedRow = ({ message }: Error): void => void refused.push(message);
    const writer = new RecordWriter(table, settings, { topic: 'p', partition: { table: 'meters' }, onUnsupportedRow });
    const rows = [row(1, 'a'), row(2, 'b c'), row(3, 'd')];
    const values = (await recordsOf(writer, { ...PAGE, rows })).map(
      ({ value }) => (value as string).match(/n \d+ \d/g)?.length,
    );
    assert.deepEqual([values, refused.length], [[2], 1]);
    const [failed] = await writer.records({ ...PAGE, rows });
    assert.ok(failed !== undefined && 'error' in failed, 'the row becomes a failed record, for its dead letter');
    assert.match(failed.error.message, /table meters, row .*line_tsd cannot represent the name or tag value "b c"/);
    assert.match(failed.content ?? '', /"site":"b c"/);
  });

  it('are packed, with the offset after a page at its end, and keep large ones in place', async () => {
    const refused: string[] = [];
    const onUnsupportedRow = ({ message }: Error): void => void refused.push(message);
    const settings = sourceSettings(config({ 'key.columns': 'site' }));
    const writer = new RecordWriter(table, settings, { topic: 'p', partition: { table: 'meters' }, onUnsupportedRow });
    const sites = ['a', 'x'.repeat(60_000), 'ü', 'bad\\', 'c'];
    const rows = sites.map((site, index) => row(index, site));
    const page = { ...PAGE, rows: [row(9, 'late')], range: { block: rowBlockOf(rows, 5), from: 0 } };
    const parts = await writer.records(page);
    assert.deepEqual(
      parts.map((part) => {
        if (isBlock(part)) return [part.packed.length, part.packed.hasKeys, part.offsetAfter];
        return 'error' in part ? part.content?.includes('bad') : part.key;
      }),
      ['late', [1, true, BEFORE], 'x'.repeat(60_000), true, [2, true, AFTER]],
    );
    const made = await recordsOf(writer, page);
    assert.deepEqual(
      made.map(({ key, value, sourceOffset }) => [key, /n=\d/.exec(value as string)?.[0], sourceOffset]),
      [
        ['late', 'n=9', BEFORE],
        ['a', 'n=0', BEFORE],
        ['x'.repeat(60_000), 'n=1', BEFORE],
        ['ü', 'n=2', BEFORE],
        ['c', 'n=4', AFTER],
      ],
    );
    assert.equal(refused.length, 2);
    assert.match(
      refused[0] ?? '',
      /row ts=2026-01-01 00:00:00\+00: .* must not be empty, contain control characters or end/,
    );
  });

  it('of a long page are created over several iterations of the event loop (S12)', async () => {
    const own = Object.getOwnPropertyDescriptor(performance, 'now');
    let now = 0;
    // Each look at the clock is 30 ms later.
    Object.defineProperty(performance, 'now', { configurable: true, value: () => (now += 30) });
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    try {
      const rows = Array.from({ length: 1_280 }, (_, index) => row(index, 'a'));
      for (const more of [
        {},
        { 'out.format': 'line_tsd' },
        { 'out.format.rows.per.record': '2' },
        { 'out.format.rows.per.record': '10000' },
        { 'out.format': 'json_db', 'out.format.rows.per.record': '10000' },
      ]) {
        const before = turns;
        const made = (await records(rows, more)).length;
        assert.ok(more['out.format.rows.per.record'] === '10000' ? made === 1 : made >= 640);
        assert.ok(turns - before >= 8, `${String(turns - before)} turns`);
      }
    } finally {
      isDone = true;
      if (own === undefined) Reflect.deleteProperty(performance, 'now');
      else Object.defineProperty(performance, 'now', own);
    }
  });
});

describe('settings of a source', () => {
  const problems = (more: ConnectorConfig) =>
    settingProblems(config(more)).map(({ option, message }) => `${option}: ${message}`);

  it('accept a precision that the format supports', () => {
    assert.deepEqual(problems({ 'timestamp.precision': 'us' }), []);
    assert.deepEqual(problems({ 'timestamp.precision': 's' }), [
      'timestamp.precision: Invalid value s for configuration timestamp.precision: line_lp supports ns, us, ms',
    ]);
    assert.equal(sourceSettings(config()).precision, 'ns');
    assert.equal(sourceSettings(config({ 'out.format': 'json_tsd' })).precision, 'ms');
  });

  it('report errors in expressions and queries', () => {
    assert.match(
      problems({ 'table.include': 'a,(' })[0] ?? '',
      /table\.include: Invalid value \( .* not a regular expression/,
    );
    assert.match(problems({ query: 'select 1;' })[0] ?? '', /must not end in a semicolon/);
    assert.match(problems({ query: 'select 1', 'table.include': 'a' })[0] ?? '', /with a query no tables are read/);
    assert.match(
      problems({ query: 'select 1', mode: 'incrementing' })[0] ?? '',
      /has no key from which the column could be derived/,
    );
  });

  it('match whole names of tables', () => {
    const { isIncluded } = sourceSettings(config({ 'table.include': 'm.*,plant\\.a', 'table.exclude': '.*_old' }));
    assert.deepEqual(
      ['meters', 'xmeters', 'plant.a', 'plant.ab', 'm_old'].map((label) => isIncluded(label)),
      [true, false, true, false, false],
    );
  });
});
