import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ColumnRole } from '../../src/data/row-batch.ts';
import type { TableShape } from '../../src/data/table-shape.ts';
import { DatabaseError } from '../../src/errors.ts';
import { withEngineMark } from '../../plugins/database/sql/mark.ts';
import { quoteLiteral } from '../../plugins/database/sql/quote.ts';
import { DatabaseFixture, upTo } from './database-fixture.ts';

function shape(...columns: [string, ColumnRole, string][]): TableShape {
  return {
    exact: true,
    columns: columns.map(([name, role, type]) => ({ name, role, type, length: undefined, nullable: role === 'data' })),
  };
}

const CPU = shape(
  ['ts', 'time', 'TIMESTAMPTZ'],
  ['v', 'data', 'FLOAT8'],
  ['host', 'primary-tag', 'VARCHAR'],
  ['rack', 'tag', 'VARCHAR'],
);

describe('the table catalogue', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
  });
  after(() => db.close());

  const rejectsWith = (promise: Promise<unknown>, message: RegExp): Promise<void> =>
    assert.rejects(
      promise,
      (error: unknown) => error instanceof DatabaseError && error.scope === 'table' && message.test(error.message),
    );

  it('creates a time-series table with its key, and reads its roles back from the database', async () => {
    const table = await db.executor.catalogue.ensure({ name: 'cpu' }, CPU, { create: true });
    assert.deepEqual(table.name, { schema: 'public', name: 'cpu' });
    assert.deepEqual(table.key, ['ts', 'host']);
    assert.deepEqual(
      table.columns.map(({ name, type, role, nullable }) => [name, type, role, nullable]),
      [
        ['ts', 'timestamp with time zone', 'time', false],
        ['v', 'double precision', 'data', true],
        ['host', 'character varying', 'primary-tag', false],
        ['rack', 'character varying', 'tag', false],
      ],
    );
    assert.deepEqual(await db.rows(`SELECT col_description('cpu'::regclass, 3), col_description('cpu'::regclass, 4)`), [
      ['sluice:primary-tag', 'sluice:tag'],
    ]);
  });

  it('creates one table for 20 concurrent callers', async () => {
    const wanted = shape(['ts', 'time', 'TIMESTAMPTZ'], ['host', 'primary-tag', 'VARCHAR']);
    const tables = await Promise.all(
      upTo(20).map(() => db.executor.catalogue.ensure({ name: 'crowded' }, wanted, { create: true })),
    );
    assert.equal(tables.length, 20);
    assert.ok(tables.every((table) => table.key.length === 2));
  });

  it('creates one table for concurrent processes and pools', async () => {
    const names = upTo(10).map((n) => `raced_${String(n)}`);
    const other = db.open({}, '?ApplicationName=other');
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', ensureScript(db.access.url, names)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const exited = once(child, 'exit');
    // The child says when it is connected, so that all three start together.
    await once(child.stdout, 'data');
    await Promise.all(
      names.flatMap((name) =>
        [db.executor, other].map((executor) => executor.catalogue.ensure({ name }, CPU, { create: true })),
      ),
    );
    const [code] = (await exited) as [number];
    assert.equal(code, 0);
    await other.close();
    assert.deepEqual(await db.rows(`SELECT count(*) FROM pg_class WHERE relname ~ '^raced_[0-9]$' AND relkind = 'r'`), [
      ['10'],
    ]);
  });

  it('uses a table that others create without the lock', async () => {
    const creating = db.executor.session((session) =>
      session.transaction(async () => {
        await session.query('CREATE TABLE foreign_made (ts timestamptz PRIMARY KEY, v float8)');
        const waiting = db.executor.catalogue.ensure(
          { name: 'foreign_made' },
          shape(['ts', 'time', 'TIMESTAMPTZ'], ['v', 'data', 'FLOAT8']),
          { create: true },
        );
        return { waiting };
      }),
    );
    const { waiting } = await creating;
    assert.deepEqual((await waiting).key, ['ts']);
  });

  it('creates nothing without the privilege', async () => {
    await rejectsWith(
      db.executor.catalogue.ensure({ name: 'absent' }, CPU, { create: false }),
      /table "absent" does not exist and may not be created/,
    );
  });

  it('reports the differences between a table and a message', async () => {
    await db.executor.catalogue.ensure({ name: 'known' }, CPU, { create: true });
    const check = (wanted: TableShape): Promise<unknown> =>
      db.executor.catalogue.ensure({ name: 'known' }, wanted, { create: true });
    await check(CPU);
    await check({ ...shape(['other', 'data', 'INT8']), exact: false });
    await rejectsWith(
      check(shape(['ts', 'time', 'TIMESTAMPTZ'], ['w', 'data', 'INT8'], ['host', 'primary-tag', 'VARCHAR'])),
      /table "known" does not match the message: the table has no column "w", and the message does not list column "v", "rack"/,
    );
    await rejectsWith(
      check(
        shape(
          ['ts', 'time', 'TIMESTAMPTZ'],
          ['v', 'data', 'FLOAT8'],
          ['rack', 'tag', 'VARCHAR'],
          ['host', 'primary-tag', 'VARCHAR'],
        ),
      ),
      /column 3 is "host" in the table and "rack" in the message/,
    );
  });

  it('notices at once that a table matches after a change', async () => {
    const wider = shape(['ts', 'time', 'TIMESTAMPTZ'], ['v', 'data', 'FLOAT8'], ['extra', 'data', 'INT8']);
    await db.run('CREATE TABLE widened (ts timestamptz PRIMARY KEY, v float8)');
    const check = (): Promise<unknown> => db.executor.catalogue.ensure({ name: 'widened' }, wider, { create: true });
    await rejectsWith(check(), /has no column "extra"/);
    await db.run('ALTER TABLE widened ADD COLUMN extra int8');
    await check();
  });

  it('refuses names that are too long, unknown types and missing schemas, and continues', async () => {
    const create = (schema: string | undefined, name: string, wanted: TableShape): Promise<unknown> =>
      db.executor.catalogue.ensure({ schema, name }, wanted, { create: true });
    await rejectsWith(create(undefined, 'x'.repeat(64), CPU), /64 bytes/);
    await rejectsWith(create(undefined, 'odd', shape(['a', 'data', 'GEOMETRY'])), /unknown type "GEOMETRY"/);
    await rejectsWith(create('nowhere', 'cpu', CPU), /schema "nowhere" does not exist/);
  });

  it('finds a table by the search path, or in the schema that is named', async () => {
    await db.run('CREATE SCHEMA "Plant A"', 'CREATE TABLE "Plant A"."T 1" (id int8)', 'CREATE TABLE "T 1" (name text)');
    const find = async (schema?: string) =>
      (await db.executor.catalogue.find({ schema, name: 'T 1' }))?.columns[0]?.name;
    assert.equal(await find(), 'name');
    assert.equal(await find('Plant A'), 'id');
    const there = db.open({}, `?currentSchema=${encodeURIComponent('"Plant A"')}`);
    assert.equal((await there.catalogue.find({ name: 'T 1' }))?.columns[0]?.name, 'id');
    await there.close();
    assert.equal(await db.executor.catalogue.find({ name: 't 1' }), undefined);
  });

  it('lists all user tables with their columns by one query, and none of the server’s own', async () => {
    const listing = await DatabaseFixture.create();
    await listing.run(
      'CREATE TABLE b (id int8 PRIMARY KEY, t timestamp(3))',
      'CREATE TABLE a (ts timestamptz) PARTITION BY RANGE (ts)',
      'CREATE TABLE a_1 PARTITION OF a DEFAULT',
      'CREATE TABLE empty ()',
      'CREATE VIEW v AS SELECT 1',
      'CREATE TEMP TABLE gone (x int)',
    );
    const tables = await listing.executor.catalogue.list();
    assert.deepEqual(
      tables.map(({ name, columns, key }) => [
        name.name,
        columns.map(({ name: column, type }) => `${column} ${type}`),
        key,
      ]),
      [
        ['a', ['ts timestamp with time zone'], []],
        ['b', ['id bigint', 't timestamp(3) without time zone'], ['id']],
        ['empty', [], []],
      ],
    );
    await listing.close();
  });

  it('reads the engine from the mark in the database', async () => {
    assert.equal(await db.executor.engine(), 'unmarked');
    for (const engine of ['time-series', 'relational'] as const) {
      const comment = quoteLiteral(withEngineMark('our plant', engine));
      await db.run(`COMMENT ON DATABASE ${db.access.database} IS ${comment}`);
      assert.equal(await db.executor.engine(), engine);
    }
  });
});

/** A program that wants the tables as soon as it is connected. */
function ensureScript(url: string, names: readonly string[]): string {
  const module = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  return `
    import { openExecutor, parseConnectionUrl } from ${module('../../plugins/database/executor/open-executor.ts')};
    import { silentLogger } from ${module('../../src/observe/logger.ts')};
    const executor = openExecutor(parseConnectionUrl(${JSON.stringify(url)}), { logger: silentLogger });
    await executor.query('SELECT 1');
    console.log('ready');
    const shape = ${JSON.stringify(CPU)};
    await Promise.all(${JSON.stringify(names)}.map((name) => executor.catalogue.ensure({ name }, shape, { create: true })));
    await executor.close();
  `;
}
