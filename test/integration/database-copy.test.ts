import assert from 'node:assert/strict';
import { batch, DatabaseFixture, offsets, OVERRIDE, upTo } from './database-fixture.ts';

const MANY = 200;
/** Tells in each row by which statement it came. */
const CAME_BY = "came_by text DEFAULT substring(current_query() from 'COPY|INSERT')";

describe('a write of many rows', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
  });
  after(() => db.close());

  async function cameBy(table: string): Promise<unknown> {
    return db.rows(`SELECT came_by, count(*) FROM ${table} GROUP BY 1 ORDER BY 1`);
  }

  it('copies them, in every type that has a binary form here', async () => {
    await db.run(
      `CREATE TABLE kinds (id int8 PRIMARY KEY, a int2, b int4, f float4, t timestamptz(3), u timestamp, v varchar(12), c char(3), j json, k jsonb, o bool, y bytea, ${CAME_BY})`,
    );
    const ids = upTo(MANY);
    const report = await db.executor.write(
      batch('kinds', {
        'id:int': ids.map((id) => (id === 0 ? -9223372036854775808n : id)),
        'a:int': ids.map((id) => id - 100),
        'b:int': ids.map((id) => (id % 2 === 0 ? id * -10_000_000 : null)),
        'f:float': ids.map((id) => id / 4),
        't:time': ids.map((id) => 1_700_000_000_000_499 + id * 1000),
        'u:time': ids.map((id) => -1 - id),
        'v:text': ids.map((id) => `é ${String(id)} \\ "`),
        'c:text': ids.map(() => 'ab'),
        'j:json': ids.map((id) => `{"a":${String(id)}}`),
        'k:json': ids.map((id) => `{"b": ${String(id)}}`),
        'o:bool': ids.map((id) => id % 3 === 0),
        'y:bytes': ids.map((id) => Uint8Array.of(id)),
      }),
      OVERRIDE,
    );
    assert.deepEqual(report, { stored: MANY, discarded: 0, collapsed: 0, faults: [] });
    assert.deepEqual(await cameBy('kinds'), [['COPY', String(MANY)]]);
    assert.deepEqual(
      await db.rows("SELECT id, a, b, f, t AT TIME ZONE 'UTC', u, v, c, j, k, o, y FROM kinds ORDER BY a LIMIT 3"),
      [
        [
          '-9223372036854775808',
          '-100',
          '0',
          '0',
          '2023-11-14 22:13:20',
          '1969-12-31 23:59:59.999999',
          'é 0 \\ "',
          'ab ',
          '{"a":0}',
          '{"b": 0}',
          't',
          '\\x00',
        ],
        [
          '1',
          '-99',
          null,
          '0.25',
          '2023-11-14 22:13:20.001',
          '1969-12-31 23:59:59.999998',
          'é 1 \\ "',
          'ab ',
          '{"a":1}',
          '{"b": 1}',
          'f',
          '\\x01',
        ],
        [
          '2',
          '-98',
          '-20000000',
          '0.5',
          '2023-11-14 22:13:20.002',
          '1969-12-31 23:59:59.999997',
          'é 2 \\ "',
          'ab ',
          '{"a":2}',
          '{"b": 2}',
          'f',
          '\\x02',
        ],
      ],
    );
  });

  it('stores the last row of a key, over earlier rows of the batch and stored ones', async () => {
    await db.run(`CREATE TABLE keyed (id int8 PRIMARY KEY, v text, ${CAME_BY})`);
    const write = (ids: number[], text: string) =>
      db.executor.write(
        batch('keyed', { 'id:int': ids, 'v:text': ids.map((id, row) => `${text} ${String(id)} ${String(row)}`) }),
        OVERRIDE,
      );
    const twice = [...upTo(MANY), 7];
    assert.deepEqual(await write(twice, 'first'), { stored: MANY, discarded: 0, collapsed: 1, faults: [] });
    assert.deepEqual(await db.rows('SELECT v FROM keyed WHERE id IN (6, 7) ORDER BY id'), [
      ['first 6 6'],
      ['first 7 200'],
    ]);
    assert.deepEqual(await write(upTo(MANY), 'second'), { stored: MANY, discarded: 0, collapsed: 0, faults: [] });
    assert.deepEqual(await db.rows('SELECT count(*), min(v), max(v) FROM keyed'), [
      [String(MANY), 'second 0 0', 'second 99 99'],
    ]);
  });

  it('names the rows that the server refuses and stores all others', async () => {
    await db.run(`CREATE TABLE checked (id int8, v int4 CHECK (v <> 13), ${CAME_BY})`);
    const report = await db.executor.write(batch('checked', { 'id:int': upTo(MANY), 'v:int': upTo(MANY) }), OVERRIDE);
    assert.equal(report.stored, MANY - 1);
    assert.deepEqual(offsets(report.faults), [13]);
    assert.deepEqual(await cameBy('checked'), [['INSERT', String(MANY - 1)]]);
  });

  it('names the rows whose cells the column cannot take', async () => {
    await db.run('CREATE TABLE short (id int8, v varchar(3) NOT NULL)');
    const cells = upTo(MANY).map((id) => (id === 5 ? null : id === 6 ? 'long' : id === 7 ? 'a\0' : 'ok'));
    const report = await db.executor.write(batch('short', { 'id:int': upTo(MANY), 'v:text': cells }), OVERRIDE);
    assert.equal(report.stored, MANY - 3);
    assert.deepEqual(offsets(report.faults), [5, 6, 7]);
  });

  it('gives missing cells of a NOT NULL column its default', async () => {
    await db.run('CREATE TABLE defaults (id int8, v text NOT NULL DEFAULT $$none$$)');
    const cells = upTo(MANY).map((id) => (id === 5 ? null : 'some'));
    await db.executor.write(batch('defaults', { 'id:int': upTo(MANY), 'v:text': cells }), OVERRIDE);
    assert.deepEqual(await db.rows('SELECT v, count(*) FROM defaults GROUP BY 1 ORDER BY 1'), [
      ['none', '1'],
      ['some', String(MANY - 1)],
    ]);
  });

  it('reads the table definition again when the type of a column has changed', async () => {
    await db.run('CREATE TABLE turned (id int8, v float8)');
    const rows = () => batch('turned', { 'id:int': upTo(MANY), 'v:float': upTo(MANY) });
    await db.executor.write(rows(), OVERRIDE);
    await db.run('ALTER TABLE turned ALTER COLUMN v TYPE int8');
    assert.deepEqual(await db.executor.write(rows(), OVERRIDE), {
      stored: MANY,
      discarded: 0,
      collapsed: 0,
      faults: [],
    });
    assert.deepEqual(await db.rows('SELECT count(*), count(DISTINCT v), max(v) FROM turned'), [
      [String(2 * MANY), String(MANY), String(MANY - 1)],
    ]);
  });

  it('inserts where nothing can be copied: into views, and under row-level security', async () => {
    await db.run(`CREATE TABLE behind (id int8, ${CAME_BY})`, 'CREATE VIEW seen AS SELECT id FROM behind');
    for (let round = 0; round < 2; round++) {
      assert.equal((await db.executor.write(batch('seen', { 'id:int': upTo(MANY) }), OVERRIDE)).stored, MANY);
    }
    assert.deepEqual(await cameBy('behind'), [['INSERT', String(2 * MANY)]]);

    const role = `copier_${db.access.database}`;
    await db.run(
      `CREATE TABLE secured (id int8 PRIMARY KEY, ${CAME_BY})`,
      'ALTER TABLE secured ENABLE ROW LEVEL SECURITY',
      'CREATE POLICY small ON secured USING (true) WITH CHECK (true)',
      `CREATE ROLE ${role} LOGIN PASSWORD 'copier'`,
      `GRANT INSERT, SELECT, UPDATE ON secured TO ${role}`,
    );
    try {
      const report = await db.as(role, 'copier').write(batch('secured', { 'id:int': upTo(MANY) }), OVERRIDE);
      assert.equal(report.stored + report.faults.length, MANY);
      assert.deepEqual(await cameBy('secured'), [['INSERT', String(report.stored)]]);
    } finally {
      await db.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
    }
  });
});
