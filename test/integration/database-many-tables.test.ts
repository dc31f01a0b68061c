import assert from 'node:assert/strict';
import type { TableWrite } from '../../plugins/database/executor/api.ts';
import { batch, DatabaseFixture, offsets, OVERRIDE, upTo } from './database-fixture.ts';

const TABLES = 250;

describe('a write of batches of many tables', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
  });
  after(() => db.close());

  async function create(prefix: string, tables: number): Promise<string[]> {
    const names = upTo(tables).map((at) => `${prefix}${String(at)}`);
    await db.run(...names.map((name) => `CREATE TABLE ${name} (id int8 PRIMARY KEY, v varchar(3))`));
    await db.executor.catalogue.findAll(names.map((name) => ({ name })));
    return names;
  }

  /** Two rows. */
  function write(table: string, ids: readonly number[], values: readonly string[] = ['a', 'b']): TableWrite {
    return { batch: batch(table, { 'id:int': ids, 'v:text': values }), policy: OVERRIDE };
  }

  const stored = { status: 'fulfilled', value: { stored: 2, discarded: 0, collapsed: 0, faults: [] } };

  async function countAll(names: readonly string[]): Promise<unknown> {
    const all = names.map((name) => `SELECT xmin::text AS x FROM ${name}`).join(' UNION ALL ');
    return db.rows(`SELECT count(*), count(DISTINCT x) FROM (${all}) t`);
  }

  it('stores a hundred tables in a transaction, and reports the result of each', async () => {
    const names = await create('many', TABLES);
    const settled = await db.executor.writeAll(names.map((name) => write(name, [1, 2])));
    assert.deepEqual(
      settled,
      names.map(() => stored),
    );
    assert.deepEqual(await countAll(names), [[String(TABLES * 2), '3']]);
  });

  it('replaces rows whose keys are stored, and finds a row that its table refuses', async () => {
    const names = await create('mixed', 20);
    await db.run('INSERT INTO mixed3 VALUES (2, $$old$$)', 'ALTER TABLE mixed7 ADD CHECK (v <> $$bad$$)');
    const writes = names.map((name) => write(name, [1, 2], name === 'mixed7' ? ['ok', 'bad'] : ['a', 'b']));
    const settled = await db.executor.writeAll(writes);
    for (const [at, one] of settled.entries()) {
      assert.equal(one.status, 'fulfilled');
      if (at !== 7) assert.deepEqual(one, stored);
      else assert.deepEqual([one.value.stored, offsets(one.value.faults)], [1, [1]]);
    }
    assert.deepEqual(await db.rows('SELECT * FROM mixed3 ORDER BY id'), [
      ['1', 'a'],
      ['2', 'b'],
    ]);
    assert.deepEqual(await db.rows('SELECT * FROM mixed7'), [['1', 'ok']]);
    // Tables whose rows were replaced, and the one that refused, are left out; the others go together again.
    const others = names.filter((name) => name !== 'mixed3' && name !== 'mixed7');
    await db.run(...names.map((name) => `TRUNCATE ${name}`));
    assert.deepEqual(
      await db.executor.writeAll(names.map((name) => write(name, [3, 4]))),
      names.map(() => stored),
    );
    assert.deepEqual(await countAll(others), [['36', '1']]);
  });

  it('creates those that are missing, a hundred in a transaction, and reports those that cannot be created', async () => {
    const names = [...upTo(120).map((at) => `new${String(at)}`), 'n'.repeat(64)];
    const column = { role: 'data', length: undefined, nullable: true } as const;
    const columns = [
      { ...column, name: 'id', type: 'INT8' },
      { ...column, name: 'v', type: 'VARCHAR', length: 3 },
    ];
    const shape = { exact: false, columns };
    await db.run('CREATE TABLE new7 (id int8)');
    const settled = await db.executor.writeAll(
      names.map((name): TableWrite => ({ ...write(name, [1, 2]), policy: { ...OVERRIDE, shape } })),
    );
    assert.deepEqual(
      settled.slice(0, 120),
      names.slice(0, 120).map(() => stored),
    );
    assert.equal(settled[120]?.status, 'rejected');
    const made = `SELECT count(*), count(DISTINCT xmin::text) FROM pg_class WHERE relname ~ '^new[0-9]+$' AND relname <> 'new7'`;
    assert.deepEqual(await db.rows(made), [['119', '2']]);
    assert.deepEqual(await db.rows('SELECT id, v FROM new7'), [
      ['1', 'a'],
      ['2', 'b'],
    ]);
  });

  it('reads the definition of a changed table again, and refuses one that is gone', async () => {
    const names = await create('changed', 4);
    await db.run(
      'ALTER TABLE changed1 DROP COLUMN id, ADD COLUMN id float8',
      'DROP TABLE changed2',
      'ALTER TABLE changed3 ALTER COLUMN v TYPE text',
    );
    const settled = await db.executor.writeAll(names.map((name) => write(name, [1, 2])));
    assert.deepEqual([settled[0], settled[1], settled[3]], [stored, stored, stored]);
    assert.equal(settled[2]?.status, 'rejected');
    assert.match(String(settled[2].reason), /does not exist/);
    assert.deepEqual(await db.rows('SELECT id, v FROM changed1'), [
      ['1', 'a'],
      ['2', 'b'],
    ]);
  });

  it('stops at a failure that concerns more than one table', async () => {
    const names = await create('stopped', 3);
    const aborted = AbortSignal.abort();
    const writes = names.map((name): TableWrite => ({
      ...write(name, [1, 2]),
      policy: { ...OVERRIDE, signal: aborted },
    }));
    const settled = await db.executor.writeAll(writes);
    assert.deepEqual(
      settled.map((one) => (one.status === 'rejected' ? (one.reason as { sqlstate?: string }).sqlstate : undefined)),
      ['57014', '57014', '57014'],
    );
  });

  it('finds many tables by one query, with names of any kind', async () => {
    await db.run(
      'CREATE TABLE "quo""te" (a int8)',
      String.raw`CREATE TABLE "back\slash" (b int8)`,
      'CREATE TABLE "co,m{m}a" (c int8)',
    );
    const names = ['quo"te', String.raw`back\slash`, 'none', 'co,m{m}a', 'nul\0', 'x'.repeat(100), 'quo"te'];
    const found = await db.executor.catalogue.findAll(names.map((name) => ({ name })));
    assert.deepEqual(
      found.map((table) => table?.columns.map(({ name }) => name)),
      [['a'], ['b'], undefined, ['c'], undefined, undefined, ['a']],
    );
  });
});
