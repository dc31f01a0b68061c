import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { diagnoseDatabase } from '../../plugins/database/executor/diagnosis.ts';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { dbSink } from '../../plugins/db-sink/plugin.ts';
import { DatabaseError } from '../../src/errors.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { everyRole, PgBouncer, pgBouncerPath } from '../support/pgbouncer.ts';
import { database, onServer, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { basic, HttpFixture, send } from '../integration/http-fixture.ts';

describe('pgbouncer, which has one SQLSTATE for all refusals', function () {
  let program: string;
  let db: TestDatabase;
  let bouncer: PgBouncer | undefined;

  before(async function () {
    const path = pgBouncerPath();
    if (path === undefined) {
      process.stdout.write('    (skipped: there is no pgbouncer)\n');
      this.skip();
    }
    program = path;
    db = await database('refused');
  });
  afterEach(async () => {
    await bouncer?.discard();
    bouncer = undefined;
  });

  async function started(settings: Record<string, string> = {}, only?: string): Promise<TestDatabase> {
    bouncer = await PgBouncer.start(program, db, { mode: 'transaction', settings, ...(only && { only }) });
    return bouncer.database;
  }

  /** The error of a connection with these parts. */
  async function refusal(server: TestDatabase, parts: Partial<TestDatabase>): Promise<DatabaseError> {
    const { url } = onServer({ ...server, ...parts }, parts.database ?? server.database);
    const executor = openExecutor(parseConnectionUrl(`${url}?connect_timeout=1`), { logger: silentLogger });
    try {
      await executor.query('SELECT 1');
    } catch (error) {
      assert.ok(error instanceof DatabaseError);
      return error;
    } finally {
      await executor.close();
    }
    throw new Error('the connection was accepted');
  }

  async function accepted(server: TestDatabase): Promise<void> {
    const sql = new SqlClient(server);
    assert.deepEqual(await sql.rows('select 1'), [['1']]);
    await sql.close();
  }

  const missing = (): string => uniqueName('missing').replaceAll('-', '_');
  const setUps: readonly (readonly [what: string, settings: () => Record<string, string>, only?: () => string])[] = [
    ['all databases of the server', () => ({})],
    ['the users of the server (auth_query)', () => everyRole(db)],
    ['one database', () => ({}), () => db.database],
  ];
  for (const [what, settings, only] of setUps) {
    it(`refuses a missing database as the server does, each time, where it offers ${what}`, async () => {
      const server = await started(settings(), only?.());
      const name = missing();
      for (let round = 0; round < 3; round++) {
        const error = await refusal(server, { database: name });
        assert.deepEqual([error.sqlstate, error.scope], ['3D000', 'caller'], error.message);
      }
      await accepted(server);
    });

    it(`refuses a wrong password and an unknown user as the server does, where it offers ${what}`, async () => {
      const server = await started(settings(), only?.());
      for (const parts of [{ password: 'wrong' }, { user: 'nobody' }]) {
        const error = await refusal(server, parts);
        assert.deepEqual([error.sqlstate, error.scope], ['28P01', 'caller'], error.message);
      }
    });
  }

  it('refuses a role without rights on a database as the server does', async () => {
    const sql = new SqlClient(db);
    const user = missing();
    await sql.run(
      `create role ${user} login password 'secret'`,
      `revoke connect on database ${db.database} from public`,
    );
    try {
      const server = await started(everyRole(db));
      assert.equal((await refusal(server, { user, password: 'secret' })).sqlstate, '42501');
    } finally {
      await sql.run(`grant connect on database ${db.database} to public`, `drop role ${user}`);
      await sql.close();
    }
  });

  it('is unavailable, which passes, while its operator has disabled or paused the database', async () => {
    const server = await started({ admin_users: db.user });
    const admin = new pg.Client({ ...server, database: 'pgbouncer' });
    await admin.connect();
    try {
      for (const [begin, end, message] of [
        ['DISABLE', 'ENABLE', /is disabled$/],
        ['PAUSE', 'RESUME', /no response within 1000 ms$/],
      ] as const) {
        await accepted(server);
        await admin.query(`${begin} ${db.database}`);
        const error = await refusal(server, {});
        assert.equal(error.scope, 'infrastructure');
        assert.match(error.message, message);
        await admin.query(`${end} ${db.database}`);
      }
      await accepted(server);
    } finally {
      await admin.end();
    }
  });

  it('lets /validate and the doctor report a missing database', async () => {
    const server = await started();
    const name = missing();
    const config = sinkConfig({ ...server, database: name }, { topics: 't', 'protocol.type': 'json_db' });
    const problems = (await dbSink.validate?.(config)) ?? [];
    assert.deepEqual(
      problems.map((problem) => problem.name),
      ['connection.database'],
    );
    assert.match(problems[0]?.errors[0] ?? '', new RegExp(`database "${name}" does not exist$`));
    const settings = parseConnectionUrl(onServer(server, name).url);
    const context = { logger: silentLogger, signal: new AbortController().signal };
    const [finding] = await diagnoseDatabase(settings, { connections: 1, writes: true }, context);
    assert.deepEqual([finding?.level, finding?.remedy], ['fail', `CREATE DATABASE "${name}" OWNER "${db.user}";`]);
  });

  it('lets the HTTP API answer 400 to a missing database, 401 to a wrong password, and 503 without a server', async () => {
    const api = await HttpFixture.start();
    try {
      bouncer = await PgBouncer.start(program, api.access, { mode: 'transaction', settings: everyRole(db) });
      const { host, port } = bouncer.database;
      const service = await api.another({ 'connection.url': `postgresql://${host}:${String(port)}` });
      const ask = async (authorization: string, parameters = '') =>
        (
          await send(`${service.address ?? ''}/restapi/query${parameters}`, 'POST', {
            authorization,
            body: 'select 1',
            ca: await readFile(join(api.directory, 'ca.pem')),
          })
        ).status;
      assert.equal(await ask(api.admin), 200);
      assert.equal(await ask(api.admin, `?db=${missing()}`), 400);
      assert.equal(await ask(basic(db.user, 'wrong')), 401);
      await bouncer.kill();
      assert.equal(await ask(api.admin), 503);
    } finally {
      await api.close();
    }
  });
});
