import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { TableQuery } from '../../plugins/db-source/table-query.ts';
import { tableOrder } from '../../plugins/db-source/table-order.ts';
import type { TablePosition } from '../../plugins/db-source/position.ts';
import type { SourceSettings } from '../../plugins/db-source/source-settings.ts';
import { TableWatch } from '../../plugins/db-source/table-watch.ts';
import { describeQuery } from '../../plugins/db-source/query-table.ts';
import { builtInPlugins, builtInServices } from '../../src/worker/built-in-plugins.ts';
import type { Executor, WritePolicy } from '../../plugins/database/executor/api.ts';
import { DatabaseError } from '../../src/errors.ts';
import { declaredStatements, type DeclaredStatement } from '../../plugins/database/sql/own-statement.ts';
import { setTraps } from '../support/hostile-path.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { uniqueName } from '../support/services.ts';
import { HttpFixture } from './http-fixture.ts';
import { batch, DatabaseFixture, OVERRIDE, upTo } from './database-fixture.ts';

/** Arguments of a statement: names that are filled in, and parameters. */
type Call = readonly [names: readonly string[], parameters: readonly (string | null)[]];

const OFFSETS = 'public.offsets';
const MOVES = '[{"topic":"t","partition":0,"offset":1,"from":1,"to":2}]';
const FIELD = { name: 'v', role: 'data' as const, type: 'INT4', length: undefined, nullable: true };
const NONE: Call = [[], []];

/** Statements for a superuser alone, who runs them before the others here. */
const SUPERUSER = 'log source: create the event triggers';

/** How each statement of our own is called here. A new one needs a line. */
const CALLS: Readonly<Record<string, Call>> = {
  'connect: server, settings and start': NONE,
  'connect: server and settings': NONE,
  'probe: backend': NONE,
  'probe: lock': [[], ['1']],
  'probe: try the lock': [[], ['1']],
  'probe: notify': [[], ['c']],
  'probe: local setting': NONE,
  'probe: read the setting': NONE,
  'probe: create the table': [['TABLE', 'public.probed', 'PRIMARY KEY'], []],
  'probe: upsert': [['public.probed'], ['{1}', '{a}']],
  'probe: read the table': [['public.probed'], []],
  'probe: drop the table': [['public.probed'], []],
  'probe: unlisten': [['probed'], []],
  'probe: version': NONE,
  'own search path: enter': NONE,
  'own search path: leave': NONE,
  'read session: time zone': [[], ['UTC']],
  'session: 1 settings': [[], ['TimeZone', 'UTC', 'false']],
  'session: 2 settings': [[], ['TimeZone', 'UTC', 'statement_timeout', '9', 'false']],
  'session: 3 settings': [[], ['TimeZone', 'UTC', 'statement_timeout', '9', 'lock_timeout', '9', 'false']],
  'rehearsal: time limits': [[], ['9', '9']],
  'pool: clean a session': NONE,
  'pool: clean a read transaction': NONE,
  'engine: mark of the database': NONE,
  'dialect: version and extensions': NONE,
  'connections: end abandoned ones': [[], ['[{"pid":1,"ageMs":1}]']],
  'connections: those that wait for us': [[], ['{1}']],
  "catalogue: lock of tables' names": [[], ['{t}']],
  'catalogue: tables by name': [[], ['{t}', null]],
  'catalogue: all tables': NONE,
  'catalogue: what has the name of a new table': [[], ['t', null]],
  'catalogue: defaults of columns': [[], ['1']],
  'access: is the user an administrator': NONE,
  'settings: read': NONE,
  'access: look for a role': [[], ['r']],
  'influx: databases': NONE,
  'influx: look for a database': [[], ['postgres']],
  'doctor: server': NONE,
  'health: lock holders': [[], ['["t"]']],
  'doctor: rights on tables': NONE,
  'doctor: right to create in a schema': [[], [null]],
  'sink: name of the database': NONE,
  'cdc_db: schema of the message': [[], ['"s"', 'true']],
  'offsets: create the table': [[OFFSETS], []],
  'offsets: limit the wait for a lock': NONE,
  'offsets: extend the table': [[OFFSETS], []],
  'offsets: claim with logs': [[OFFSETS], ['g', 'me', MOVES]],
  'offsets: move with logs': [[OFFSETS], ['g', 'me', MOVES]],
  'offsets: claim': [[OFFSETS], ['g', 'me', MOVES]],
  'offsets: move': [[OFFSETS], ['g', 'me', MOVES]],
  'offsets: read': [[OFFSETS], ['g', MOVES]],
  'offsets: delete': [[OFFSETS], ['g', 'false', MOVES]],
  'offsets: set': [[OFFSETS], ['g', MOVES]],
  'offsets: own backend': NONE,
  'offsets: end what blocks a claim': [[], ['1']],
  'source: inserted rows': [[], ['{1}']],
  'source: snapshot with changes of tables and timeline': NONE,
  'source: snapshot and timeline': NONE,
  'source: snapshot with changes of tables': NONE,
  'source: snapshot': NONE,
  'source: clock': NONE,
  'source: facts of tables': NONE,
  'source: views': NONE,
  'source: estimated rows': NONE,
  'source: names of types': [['(0, 23, -1)'], []],
  'log source: tables': NONE,
  'log source: columns': [[], ['1']],
  'log source: key': [[], ['1']],
  'log source: types': [[], ['{23}']],
  'log source: names of types': [[], ['{23}', '{-1}']],
  'log source: event triggers': NONE,
  'log source: create the event triggers': NONE,
  'log source: is the user a superuser': NONE,
  'log source: structures of tables': [[], ['{1259}']],
  'log source: slot': [[], ['s']],
  'log source: server': NONE,
  'log source: content of a publication': [[], ['p']],
  'log source: requirements': NONE,
  'log source: reader of a slot': [[], ['s']],
  'log source: facts of tables': NONE,
  'log source: kept log': [[], ['s']],
  'notices: look for the trigger': [[], ['1']],
  'notices: lock': NONE,
  'notices: create the function': [['public.noticed'], []],
  'notices: create the trigger': [['public.noticed', 'public.t'], []],
  'notices: create the trigger that reports times': [['public.noticed', 'public.t', "'n'"], []],
  'notices: create the trigger of updates': [['public.noticed', 'public.t'], []],
};

describe('S2: statements of our own, where a user has filled the search path', () => {
  let db: DatabaseFixture;
  let admin: SqlClient;
  let user: string;
  let executor: Executor;
  /** As the user, to send texts as they are. */
  let client: pg.Client;

  before(async function () {
    await builtInPlugins({ strictJson: false });
    await builtInServices(['database-http']);
    db = await DatabaseFixture.create();
    admin = new SqlClient(db.access);
    user = uniqueName('trapped').replaceAll('-', '_');
    await admin.run(
      `CREATE ROLE ${user} LOGIN PASSWORD 'x'`,
      `GRANT ALL ON SCHEMA public TO ${user}`,
      `SET ROLE ${user}`,
      'CREATE TABLE public.t (n int8 PRIMARY KEY)',
      'RESET ROLE',
    );
    const forSuperuser = declaredStatements().find(({ name }) => name === SUPERUSER);
    await db.executor.ask({ name: SUPERUSER, text: forSuperuser?.textOn() ?? '' });
    const { functions, operators } = await setTraps(admin, user);
    assert.ok(functions > 1500 && operators > 700, `${String(functions)} functions, ${String(operators)} operators`);
    executor = db.as(user, 'x');
    const { host, port, database } = db.access;
    client = new pg.Client({ host, port, database, user, password: 'x' });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await db.close();
    await admin.run(`DROP OWNED BY ${user} CASCADE`, `DROP ROLE ${user}`);
    await admin.close();
  });

  it('are all known to this test', () => {
    assert.deepEqual(
      declaredStatements()
        .map(({ name }) => name)
        .filter((name) => CALLS[name] === undefined),
      [],
    );
  });

  it('meet traps as soon as they are run as they stand', async () => {
    const asked = declaredStatements().filter(({ kind }) => kind === 'asked');
    const met: string[] = [];
    for (const statement of asked) {
      const [names, parameters] = callOf(statement);
      await client
        .query(statement.textOn(...names), [...parameters])
        .catch((error: unknown) => /hijacked|hostile|violates check/.test(String(error)) && met.push(statement.name));
    }
    for (const name of [
      'access: is the user an administrator',
      'settings: read',
      'catalogue: all tables',
      'source: snapshot',
    ]) {
      assert.ok(met.includes(name), `${name}: ${met.join(', ')}`);
    }
  });

  it('meet none of the traps as they are run', async () => {
    await db.run('DROP TABLE IF EXISTS public.offsets');
    // The statement that creates a table comes before those on it.
    const isFirst = ({ name }: DeclaredStatement) => Number(name.includes('create the'));
    const inOrder = [...declaredStatements()].sort((left, right) => isFirst(right) - isFirst(left));
    for (const statement of inOrder) {
      const [names, parameters] = callOf(statement);
      const text = statement.textOn(...names);
      try {
        if (statement.kind === 'asked') await executor.ask({ name: statement.name, text }, parameters);
        else if (parameters.length === 0) await client.query(text);
        else await client.query(text, [...parameters]);
      } catch (error) {
        const isDenied = error instanceof DatabaseError && error.sqlstate === '42501';
        if (statement.name !== SUPERUSER || !isDenied) {
          assert.fail(`${statement.name}: ${(error as Error).message}`);
        }
      }
      await client.query('RESET ALL');
    }
  });

  it('leave the search path of the session as it was, in a transaction and outside of one', async () => {
    const path = async (query: Executor['query']) => (await query('SHOW search_path')).rows;
    const enter = { name: 'probe', text: "SELECT current_setting('search_path')" };
    await executor.session(async (session) => {
      assert.deepEqual((await session.ask(enter)).rows, [['pg_catalog, pg_temp']]);
      assert.deepEqual(await path((sql) => session.query(sql)), [['hostile, pg_catalog, public']]);
      await session.query('SET search_path = public, hostile');
      await session.transaction(async () => {
        await session.query('SET LOCAL search_path = hostile');
        assert.deepEqual((await session.ask(enter)).rows, [['pg_catalog, pg_temp']]);
        assert.deepEqual(await path((sql) => session.query(sql)), [['hostile']]);
      });
      assert.deepEqual(await path((sql) => session.query(sql)), [['public, hostile']]);
    });
    await executor.session(
      async (session) => {
        assert.deepEqual((await session.ask(enter)).rows, [['pg_catalog, pg_temp']]);
        assert.deepEqual(await path((sql) => session.query(sql)), [['hostile, pg_catalog, public']]);
      },
      { readTransaction: true, timeZone: 'Europe/Oslo' },
    );
  });

  it('find a table without a schema where the search path has it first', async () => {
    await db.run(
      'CREATE TABLE hostile.here (n int8)',
      'CREATE TABLE public.here (n int4)',
      'CREATE TABLE public.there (n int4)',
    );
    assert.deepEqual((await executor.catalogue.find({ name: 'here' }))?.name.schema, 'hostile');
    assert.deepEqual((await executor.catalogue.find({ name: 'there' }))?.name.schema, 'public');
    assert.equal(
      await executor.catalogue.find({ name: 'pg_class', schema: undefined }).then((t) => t?.name.schema),
      'hostile',
    );
  });

  it('store, change and remove rows without a trap', async () => {
    const table = 'public.rows';
    const shape = {
      exact: false,
      columns: [
        { name: 'ts', role: 'time' as const, type: 'TIMESTAMPTZ', length: undefined, nullable: false },
        FIELD,
        { name: 'host', role: 'primary-tag' as const, type: 'VARCHAR', length: 9, nullable: false },
      ],
    };
    const ts = upTo(100).map((n) => BigInt(n) * 1_000_000n);
    const rows = (count: number, v: number) =>
      batch(table, {
        'ts:time:time': ts.slice(0, count),
        'v:int': upTo(count).map(() => v),
        'host:text:primary-tag': upTo(count).map(() => 'a'),
      });
    // COPY, INSERT that meets stored rows, and each rule.
    assert.equal((await executor.write(rows(100, 1), { ...OVERRIDE, shape })).stored, 100);
    assert.equal((await executor.write(rows(100, 2), { ...OVERRIDE, shape })).stored, 100);
    for (const dedupRule of ['merge', 'discard'] as const) {
      assert.deepEqual((await executor.write(rows(3, 3), { ...OVERRIDE, dedupRule })).faults, []);
    }
    const policy: WritePolicy = { ...OVERRIDE, insertMode: 'update' };
    assert.equal((await executor.write({ ...rows(3, 4), key: ['ts', 'host'] }, policy)).stored, 3);
    const group = { operation: 'delete' as const, columns: new Set(['ts', 'host']) };
    const deleted = { ...rows(2, 0), key: ['ts', 'host'], groups: { list: [group], of: () => 0 } };
    assert.deepEqual((await executor.write(deleted, { ...OVERRIDE, insertMode: 'upsert' })).faults, []);
    const wider = { exact: false, columns: [...shape.columns, { ...FIELD, name: 'w', type: 'TEXT' }] };
    await executor.write(batch(table, { 'ts:time:time': [1n], 'host:text:primary-tag': ['b'], 'w:text': ['x'] }), {
      ...OVERRIDE,
      shape: wider,
    });
    assert.deepEqual(await admin.rows('SELECT count(*), sum(v), max(w) FROM public.rows'), [
      ['99', String(4 + 97 * 2), 'x'],
    ]);
    assert.deepEqual(
      await admin.rows(
        `SELECT DISTINCT n.nspname FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid
          JOIN pg_namespace n ON n.oid = typnamespace WHERE attrelid = 'public.rows'::regclass`,
      ),
      [['pg_catalog']],
    );
  });

  it('give missing cells the default that the column has', async () => {
    await db.run(
      `CREATE TABLE public.defaults (id int8 PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), s text NOT NULL DEFAULT 'a' || 'b')`,
      `GRANT ALL ON public.defaults TO ${user}`,
    );
    const report = await executor.write(
      batch('public.defaults', { 'id:int': [1, 2], 's:text': ['x', null], 'at:time': [0n, null] }),
      OVERRIDE,
    );
    assert.deepEqual(report.faults, []);
    assert.deepEqual(
      await admin.rows("SELECT id, s, at > now() - interval '1 minute' FROM public.defaults ORDER BY 1"),
      [
        ['1', 'x', 'f'],
        ['2', 'ab', 't'],
      ],
    );
  });

  it('read new rows of tables, late ones too, without a trap', async () => {
    await db.run(
      'CREATE TABLE public.keyed (ts timestamptz, host varchar(9), v int4, PRIMARY KEY (ts, host))',
      'CREATE TABLE public.unkeyed (ts timestamp, v numeric)',
      'CREATE TABLE public.grown (id int8 PRIMARY KEY, v json)',
      `INSERT INTO public.keyed VALUES ('2020-01-01Z', 'a', 1), ('2020-01-01Z', 'b', 2), ('2020-01-02Z', 'a', 3)`,
      `INSERT INTO public.unkeyed VALUES ('2020-01-01', 1), ('2020-01-01', 2), ('2020-01-02', 3)`,
      `INSERT INTO public.grown VALUES (1, '1'), (2, '2'), (3, '3')`,
      `GRANT ALL ON public.keyed, public.unkeyed, public.grown TO ${user}`,
    );
    const watch = new TableWatch(executor);
    // The rows count as complete when no older transaction is open, also in the databases of other tests.
    const written = BigInt((await admin.rows('SELECT pg_current_xact_id()'))[0]?.[0] ?? '0');
    const transaction = await until(async () => {
      const oldest = (await watch.refresh()).transactions?.oldest;
      return oldest !== undefined && oldest >= written && oldest;
    }, 'no older transaction is open');
    const first = BigInt(Date.UTC(2020, 0, 1)) * 1000n;
    const reach = { windowMs: 86_400_000, writersFrom: first - 1n, writtenBelow: transaction };
    const positions: Readonly<Record<string, TablePosition>> = {
      keyed: { kind: 'after', at: first, key: ['a'] },
      unkeyed: { kind: 'counted', at: first, rowsAt: 1 },
      grown: { kind: 'after', at: 1n, key: [] },
    };
    const tables = await watch.tables();
    for (const [name, position] of Object.entries(positions)) {
      const table = tables.find((each) => each.name.name === name && each.name.schema === 'public');
      const settings = { mode: name === 'grown' ? 'incrementing' : 'timestamp' } as unknown as SourceSettings;
      assert.ok(table !== undefined);
      const order = tableOrder(table, settings);
      assert.ok(typeof order !== 'string');
      const query = new TableQuery(table, order, 10);
      const rows = await executor.query(query.rows(position, reach));
      assert.equal(rows.rows.length, 2, name);
      const more = await executor.query(`SELECT 1 WHERE ${query.hasNewRows(position, reach)}`);
      assert.equal(more.rows.length, 1, name);
      const behindNone = await executor.query(query.count({ kind: 'from', at: undefined }, position));
      assert.equal(behindNone.rows.length, 1, name);
      if (order.kind === 'time') {
        const back = await executor.query(query.lookBack(position, first - 1n, 3n, reach));
        assert.equal(back.rows.length, 3, name);
        const stretch = { low: first - 1n, high: first, transaction: 3n };
        const behind = await executor.query(query.inRange(stretch, { ...position, at: first + 1n }));
        assert.equal(behind.rows.length, 2, name);
      }
    }
    const { columns } = await describeQuery(executor, { sql: 'SELECT ts, v FROM public.unkeyed', name: 'q' });
    assert.deepEqual(
      columns.map(({ type }) => type),
      ['timestamp without time zone', 'numeric'],
    );
  });
});

describe('S2: an ordinary user of the database HTTP API', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  it('does not become an administrator by an operator of his own, nor makes settings for others', async () => {
    const { name, authorization } = await api.role();
    await api.sql.run(
      `CREATE SCHEMA own AUTHORIZATION ${name}`,
      `SET ROLE ${name}`,
      `CREATE FUNCTION own.yes(name, name) RETURNS bool LANGUAGE sql AS 'SELECT true'`,
      'CREATE OPERATOR own.= (FUNCTION = own.yes, LEFTARG = name, RIGHTARG = name)',
      `CREATE FUNCTION own.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS $$ SELECT 'sluice.server_rest_timeout=1' $$`,
      `ALTER ROLE ${name} SET search_path = own, pg_catalog, public`,
      'RESET ROLE',
      'ALTER DATABASE current SET sluice.x = 1'.replace('current', pg.escapeIdentifier(api.access.database)),
    );
    const other = await api.login(api.admin);
    const refused = await api.post('/restapi/ddl', 'set cluster setting server.rest.timeout = 9', authorization);
    assert.match(JSON.stringify(refused.body), /only users with the admin role/);
    const token = await api.login(authorization);
    const sessions = await api.call('GET', '/restapi/session', token);
    assert.deepEqual(
      (sessions.body['tokens'] as { Username: string }[]).map(({ Username }) => Username),
      [name],
    );
    const shown = await api.query('show cluster setting server.rest.timeout', other);
    assert.match(shown.text, /"60"|60/);
    assert.doesNotMatch(shown.text, /\[\["?1"?\]\]/);
  });
});

describe('S2: the source', () => {
  it('runs only declared statements', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const files = await readdir(`${root}plugins`, { recursive: true });
    const names = files.map((file) => `plugins/${file}`);
    const found: string[] = [];
    for (const name of names.filter((each) => each.endsWith('.ts'))) {
      const text = await readFile(root + name, 'utf8');
      for (const [call] of text.matchAll(
        /(?:query|run|script)\((?:\{ text: )?\s*['"`](?!SELECT 1['"`]|(?:SET|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|LISTEN|RESET|ALTER DATABASE|(?:ALTER|CREATE) PUBLICATION|ALTER TABLE)\b)[A-Z][^\n]*/g,
      )) {
        found.push(`${name}: ${call}`);
      }
    }
    assert.deepEqual(found, []);
  });
});

function callOf({ name }: DeclaredStatement): Call {
  const call = CALLS[name];
  if (call === undefined) throw new DatabaseError(`no call for ${name}`, { scope: 'caller' });
  return call;
}
