import assert from 'node:assert/strict';
import type { RowBatch } from '../../src/data/row-batch.ts';
import type { GrowthPolicy } from '../../plugins/database/executor/api.ts';
import type { TableShape } from '../../src/data/table-shape.ts';
import { batch, DatabaseFixture, offsets, OVERRIDE, type Columns } from './database-fixture.ts';

const START = 1_700_000_000_000_000;

/** Rows with a time and a primary tag each; `columns` as in `batch`. */
function rows(table: string, count: number, columns: Columns): RowBatch {
  const time = Array.from({ length: count }, (_, row) => START + row);
  const primary = Array.from({ length: count }, () => 'p');
  return batch(table, { 'k_timestamp:time:time': time, 'primary_tag:text:primary-tag': primary, ...columns });
}

const TYPES: Readonly<Record<string, string>> = { int: 'INT8', float: 'FLOAT8', bool: 'BOOL', text: 'VARCHAR' };

/** The shape that a decoder would give: lengths are 254, or the longest value's bytes. */
function shape(of: RowBatch): TableShape {
  return {
    exact: false,
    columns: of.columns.map(({ name, role, kind, cells }) => {
      const longest = Math.max(254, ...cells.map((cell) => (typeof cell === 'string' ? Buffer.byteLength(cell) : 0)));
      return {
        name,
        role,
        type: role === 'time' ? 'TIMESTAMPTZ' : (TYPES[kind] ?? 'VARCHAR'),
        length: kind === 'text' ? longest : undefined,
        nullable: role === 'data' || role === 'tag',
      };
    }),
  };
}

describe('tables grow for the rows that are written', () => {
  let fixture: DatabaseFixture;
  before(async () => (fixture = await DatabaseFixture.create()));
  after(() => fixture.close());

  const write = (of: RowBatch, executor = fixture.executor) => executor.write(of, { ...OVERRIDE, shape: shape(of) });
  const columnsOf = (table: string) =>
    fixture.rows(
      `SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute
       WHERE attrelid = to_regclass($1) AND attnum > 0 ORDER BY attnum`,
      [table],
    );

  it('a missing table is created: time, data, primary tag, tags, marked as such', async () => {
    const report = await write(rows('made', 2, { 'host:text:tag': ['a', 'b'], 'v:int': [1, 2] }));
    assert.deepEqual(report, { stored: 2, discarded: 0, collapsed: 0, faults: [] });
    assert.deepEqual(await columnsOf('made'), [
      ['k_timestamp', 'timestamp with time zone', null],
      ['v', 'bigint', null],
      ['primary_tag', 'character varying(254)', 'sluice:primary-tag'],
      ['host', 'character varying(254)', 'sluice:tag'],
    ]);
  });

  it('new fields and tags become columns; rows before have NULL there', async () => {
    await write(rows('grown', 1, { 'v:int': [1] }));
    await write(rows('grown', 1, { 'v:int': [2], 'w:float': [0.5], 'zone:text:tag': ['z'] }));
    assert.deepEqual((await columnsOf('grown')).slice(3), [
      ['w', 'double precision', null],
      ['zone', 'character varying(254)', 'sluice:tag'],
    ]);
  });

  it('varchar(n) gets longer for a longer value, and only then', async () => {
    await fixture.run('CREATE TABLE wide (k_timestamp timestamptz PRIMARY KEY, s varchar(10))');
    const write1 = (s: string) => write(batch('wide', { 'k_timestamp:time:time': [START + s.length], 's:text': [s] }));
    await write1('ääääääääää');
    assert.equal((await columnsOf('wide'))[1]?.[1], 'character varying(10)');
    await write1('x'.repeat(11));
    assert.equal((await columnsOf('wide'))[1]?.[1], 'character varying(254)');
    await write1('y'.repeat(300));
    assert.equal((await columnsOf('wide'))[1]?.[1], 'character varying(300)');
  });

  it('types never change: the value that does not fit fails alone', async () => {
    await write(rows('typed', 1, { 'v:int': [1] }));
    const report = await write(rows('typed', 3, { 'v:float': [1, 1.5, 3] }));
    assert.equal(report.stored, 2);
    assert.deepEqual(offsets(report.faults), [1]);
    assert.match(report.faults[0]?.message ?? '', /1\.5 is not an integer/);
  });

  it('a tag that is a field of the table, or the reverse, is a fault of its rows', async () => {
    await write(rows('roles', 1, { 'v:int': [1], 'host:text:tag': ['a'] }));
    const asTag = await write(rows('roles', 2, { 'v:text:tag': ['x', null], 'w:int': [1, 1] }));
    assert.equal(asTag.stored, 1);
    assert.match(asTag.faults[0]?.message ?? '', /duplicate TAG name: "v"/);
    const asField = await write(rows('roles', 2, { 'host:text': ['x', null], 'w:int': [1, 1] }));
    assert.match(asField.faults[0]?.message ?? '', /duplicate COLUMN name: "host"/);
    assert.deepEqual(offsets(asField.faults), [0]);
  });

  it('a name of more than 63 bytes is refused, not cut, and its neighbours are stored', async () => {
    const long = 'ä'.repeat(32);
    const report = await write(rows('names', 2, { 'v:int': [1, 1], [`${long}:int`]: [null, 2] }));
    assert.equal(report.stored, 1);
    assert.match(report.faults[0]?.message ?? '', /has 64 bytes; PostgreSQL allows at most 63/);
    const table = 't'.repeat(64);
    await assert.rejects(write(rows(table, 1, { 'v:int': [1] })), { sqlstate: '42622', scope: 'table' });
  });

  it('names that look like SQL are names', async () => {
    const hostile = `x" int); DROP TABLE made; --'\\`;
    const report = await write(rows(`t${hostile}`, 1, { [`f${hostile}`]: [`v${hostile}`], 'tag" \\:text:tag': [`'`] }));
    assert.equal(report.stored, 1);
    const [row] = await fixture.rows(`SELECT * FROM "t${hostile.replaceAll('"', '""')}"`);
    assert.equal(row?.[1], `v${hostile}`);
    assert.equal((await fixture.rows('SELECT count(*) FROM made'))[0]?.[0], '2');
  });

  it('twenty clients that grow one table differently at the same time all succeed', async () => {
    const clients = Array.from({ length: 20 }, (_, id) =>
      fixture.open(
        { poolSize: 2 },
        `${fixture.access.url.includes('?') ? '&' : '?'}application_name=grower${String(id)}`,
      ),
    );
    const write1 = (id: number, round: number) =>
      write(
        batch('crowd', {
          'k_timestamp:time:time': [START + id * 100 + round],
          'primary_tag:text:primary-tag': [`p${String(id)}`],
          [`tag${String((id + round) % 7)}:text:tag`]: ['x'.repeat(id * 20 + 1)],
          [`f${String(id % 5)}_${String(round)}:int`]: [id],
          's:text': ['y'.repeat(100 * round + id)],
        }),
        clients[id],
      );
    const reports = await Promise.all(clients.flatMap((_, id) => [0, 1, 2, 3, 4].map((round) => write1(id, round))));
    assert.deepEqual(
      reports.flatMap(({ faults }) => faults),
      [],
    );
    assert.equal((await fixture.rows('SELECT count(*) FROM crowd'))[0]?.[0], '100');
    const names = (await columnsOf('crowd')).map(([name]) => name);
    assert.equal(names.length, 3 + 7 + 25);
    const marked = (await columnsOf('crowd')).filter(([, , comment]) => comment === 'sluice:tag');
    assert.equal(marked.length, 7);
    await Promise.all(clients.map((client) => client.close()));
  });

  it("a user without the right to change the table stores the rows that fit; the others are faults with the database's message", async () => {
    await write(rows('owned', 1, { 'v:int': [1] }));
    const role = `writer_${fixture.access.database.slice(-8)}`;
    await fixture.run(
      'REVOKE CREATE ON SCHEMA public FROM public',
      `CREATE ROLE ${role} LOGIN PASSWORD 'w'`,
      `GRANT INSERT, SELECT, UPDATE ON owned TO ${role}`,
    );
    const executor = fixture.as(role, 'w');
    try {
      const report = await write(rows('owned', 2, { 'v:int': [7, 8], 'more:int': [null, 1] }), executor);
      assert.equal(report.stored, 1);
      assert.deepEqual(offsets(report.faults), [1]);
      assert.match(report.faults[0]?.message ?? '', /must be owner of table owned/);
      await assert.rejects(write(rows('not_there', 1, { 'v:int': [7] }), executor), /permission denied for schema/);
    } finally {
      await executor.close();
      await fixture.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
    }
  });

  it('a table that was dropped meanwhile is created again', async () => {
    await write(rows('again', 1, { 'v:int': [1] }));
    await fixture.run('DROP TABLE again');
    assert.equal((await write(rows('again', 1, { 'v:int': [1] }))).stored, 1);
  });

  it('text without a zone is a time of the zone that the writer names', async () => {
    await fixture.run('CREATE TABLE zoned (k_timestamp timestamptz PRIMARY KEY, at timestamptz)');
    const times = batch('zoned', { 'k_timestamp:time:time': [START], 'at:text': ['2024-01-01 12:00:00'] });
    await fixture.executor.write(times, { ...OVERRIDE, timeZone: 'Asia/Shanghai' });
    assert.equal((await fixture.rows('SELECT at FROM zoned'))[0]?.[0], '2024-01-01 04:00:00+00');
    await fixture.executor.write(times, OVERRIDE);
    assert.equal((await fixture.rows('SELECT at FROM zoned'))[0]?.[0], '2024-01-01 12:00:00+00');
  });

  it('a table grows only as far as the policy goes', async () => {
    const limited = (of: RowBatch, growth: Partial<GrowthPolicy>) =>
      fixture.executor.write(of, {
        ...OVERRIDE,
        shape: shape(of),
        growth: { create: false, add: false, widen: false, ...growth },
      });
    await assert.rejects(limited(rows('kept', 1, { 'v:int': [1] }), { add: true, widen: true }), {
      scope: 'table',
      message: 'table "kept" does not exist and may not be created',
    });
    await limited(rows('kept', 1, { 'v:int': [1] }), { create: true, tableOptions: 'WITH (fillfactor=70)' });
    assert.deepEqual(await fixture.rows(`SELECT reloptions FROM pg_class WHERE oid = 'kept'::regclass`), [
      ['{fillfactor=70}'],
    ]);
    const more = () => rows('kept', 2, { 'v:int': [1, 2], 'w:int': [null, 2], 's:text': ['a', null] });
    const refused = await limited(more(), { widen: true });
    assert.deepEqual(offsets(refused.faults), [0, 1]);
    assert.match(refused.faults[1]?.message ?? '', /table "kept" has no column "w"/);
    assert.equal((await limited(more(), { add: true })).stored, 2);
    const long = () => rows('kept', 2, { 'v:int': [1, 2], 's:text': ['short', 'x'.repeat(300)] });
    const tooLong = await limited(long(), { add: true });
    assert.deepEqual(offsets(tooLong.faults), [1]);
    assert.equal(tooLong.faults[0]?.sqlstate, '22001');
    assert.equal((await limited(long(), { widen: true })).stored, 2);
  });

  it('a field that others have made a tag since the table was read does not cause rows to be refused', async () => {
    await write(rows('joined', 1, { 'host:text:tag': ['a'], 'v:text': ['x'] }));
    await fixture.run(`COMMENT ON COLUMN joined.v IS 'sluice:tag'`);
    const report = await write(rows('joined', 1, { 'host:text:tag': ['a'], 'v:text:tag': ['y'] }));
    assert.deepEqual(report, { stored: 1, discarded: 0, collapsed: 0, faults: [] });
  });

  it('a table with the maximum number of columns gets no more, and rows that need no other column are stored', async () => {
    const many = Array.from({ length: 1_597 }, (_, index) => `c${String(index)} bool`);
    await fixture.run(`CREATE TABLE widest (k_timestamp timestamptz, primary_tag varchar, v int8, ${many.join(', ')})`);
    const report = await write(rows('widest', 2, { 'v:int': [1, 2], 'more:int': [null, 3] }));
    assert.equal(report.stored, 1);
    assert.deepEqual(offsets(report.faults), [1]);
    assert.match(report.faults[0]?.message ?? '', /at most 1600 columns/);
  });
});
