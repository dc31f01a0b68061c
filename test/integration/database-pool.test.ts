import assert from 'node:assert/strict';
import {
  beginWithAttempts,
  connectWithAttempts,
  openExecutor,
  parseConnectionUrl,
  unavailableReason,
} from '../../plugins/database/executor/open-executor.ts';
import { freePort } from '../../src/dev/ports.ts';
import { DatabaseError } from '../../src/errors.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { TcpProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { batch, DatabaseFixture, OVERRIDE, upTo } from './database-fixture.ts';

function hasScope(scope: string, message = /./): (error: unknown) => boolean {
  return (error) => error instanceof DatabaseError && error.scope === scope && message.test(error.message);
}

describe('database connections', () => {
  let db: DatabaseFixture;

  before(async () => {
    db = await DatabaseFixture.create();
  });
  after(() => db.close());

  const backends = async (name: string): Promise<number> => {
    const sql = 'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1';
    return Number((await db.rows(sql, [name]))[0]?.[0]);
  };
  const terminate = (name: string): Promise<unknown> =>
    db.rows('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [name]);

  it('are shared by executors of one server, database and user, and closed with the last of them', async () => {
    const first = db.open({ poolSize: 1 }, '?ApplicationName=shared');
    const second = db.open({ poolSize: 1 }, '?ApplicationName=shared');
    await first.query('SELECT 1');
    await second.query('SELECT 1');
    assert.equal(await backends('shared'), 1);
    await first.close();
    await second.query('SELECT 1');
    assert.throws(() => first.catalogue, /the executor was closed/);
    await assert.rejects(first.query('SELECT 1'), hasScope('caller', /closed/));
    await second.close();
    await until(async () => (await backends('shared')) === 0, 'the connections are closed');
  });

  it('are not shared with a wrong password', async () => {
    const right = db.open({}, '?ApplicationName=secret');
    await right.query('SELECT 1');
    const settings = parseConnectionUrl(`${db.access.url}?ApplicationName=secret&password=wrong`);
    const wrong = openExecutor(settings, { logger: silentLogger });
    await assert.rejects(wrong.query('SELECT 1'), hasScope('caller', /password authentication failed/));
    await Promise.all([right.close(), wrong.close()]);
  });

  it('stay within the size of the pool, callers waiting for their turn', async () => {
    const executor = db.open({ poolSize: 3 }, '?ApplicationName=bounded');
    let most = 0;
    await Promise.all(
      upTo(20).map(async () => {
        const { rows } = await executor.query(
          `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bounded'`,
        );
        most = Math.max(most, Number(rows[0]?.[0]));
      }),
    );
    assert.ok(most <= 3, `${String(most)} connections`);
    await executor.close();
  });

  it('of sessions with different names share one limit for their user and database (U18)', async () => {
    const executors = upTo(20).map((n) => db.open({ poolSize: 3 }, `?ApplicationName=task-${String(n)}`));
    const open = `SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'task-%'`;
    const held = executors.flatMap((executor) => upTo(3).map(() => executor.query('SELECT pg_sleep(0.5)')));
    await Promise.all(held);
    const count = Number((await db.rows(open))[0]?.[0]);
    assert.equal(count, 40, 'two of the three connections of each');
    await Promise.all(executors.slice(8).map((executor) => executor.close()));
    await Promise.all(
      executors.slice(0, 8).flatMap((executor) => upTo(3).map(() => executor.query('SELECT pg_sleep(0.5)'))),
    );
    await until(async () => Number((await db.rows(open))[0]?.[0]) === 24, 'the others may have all of theirs');
    await Promise.all(executors.slice(0, 8).map((executor) => executor.close()));
  });

  it('let a caller leave the queue without losing its place for others', async () => {
    const executor = db.open({ poolSize: 1 }, '?ApplicationName=queue');
    const abort = new AbortController();
    await executor.session(async (session) => {
      const leaving = executor.query('SELECT 1', [], { signal: abort.signal });
      const staying = executor.query('SELECT 2');
      abort.abort();
      await assert.rejects(leaving, hasScope('caller', /cancelled/));
      await session.query('SELECT 3');
      void staying.then(({ rows }) => assert.deepEqual(rows, [['2']]));
    });
    assert.deepEqual((await executor.query('SELECT 4')).rows, [['4']]);
    await executor.close();
  });

  it('are closed when they are idle for a while', async () => {
    const executor = db.open({ poolSize: 2, idleTimeoutMs: 100 }, '?ApplicationName=idle');
    await executor.query('SELECT 1');
    await until(async () => (await backends('idle')) === 0, 'the idle connection is closed');
    await executor.query('SELECT 1');
    await executor.close();
  });

  it('may break while idle without an effect', async () => {
    const executor = db.open({}, '?ApplicationName=broken');
    await executor.query('SELECT 1');
    await terminate('broken');
    await until(async () => (await backends('broken')) === 0, 'the connection is gone');
    await until(() => executor.query('SELECT 1').then(({ rowCount }) => rowCount === 1), 'a new connection is made');
    await executor.close();
  });

  it('that break in the middle of work make it fail as infrastructure, and the next work succeed', async () => {
    const executor = db.open({}, '?ApplicationName=killed');
    await executor.query('CREATE TABLE killed (id int4 PRIMARY KEY)');
    const work = executor.session(async (session) => {
      await session.query('BEGIN');
      await session.query('INSERT INTO killed VALUES (1)');
      await session.query('SELECT pg_sleep(60)');
    });
    const broken = assert.rejects(work, (error: unknown) => hasScope('infrastructure')(error));
    await until(
      async () =>
        (await db.rows(`SELECT 1 FROM pg_stat_activity WHERE application_name = 'killed' AND query LIKE '%pg_sleep%'`))
          .length > 0,
      'the statement runs',
    );
    await terminate('killed');
    await broken;
    const report = await until(
      () => executor.write(batch('killed', { 'id:int': [1, 2] }), OVERRIDE),
      'a write goes through again',
    );
    assert.equal(report.stored, 2);
    await executor.close();
  });

  it('make a write fail as infrastructure when the network breaks, and writing again stores every row once', async () => {
    const proxy = await TcpProxy.start(db.access);
    const { user, password, database } = db.access;
    const url = `postgresql://${user}:${password}@127.0.0.1:${String(proxy.port)}/${database}`;
    const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
    await db.run('CREATE TABLE cut (id int4 PRIMARY KEY)');
    const rows = batch('cut', { 'id:int': upTo(5000) });
    await executor.write(rows, OVERRIDE);
    proxy.stall();
    const hanging = executor.write(rows, { ...OVERRIDE, timeoutMs: 100 });
    proxy.cut();
    await assert.rejects(hanging, hasScope('infrastructure'));
    proxy.refuse();
    await assert.rejects(executor.write(rows, OVERRIDE), hasScope('infrastructure', /cannot connect to database/));
    proxy.pass();
    const report = await until(() => executor.write(rows, OVERRIDE), 'a write goes through again');
    assert.equal(report.stored, 5000);
    assert.deepEqual(await db.rows('SELECT count(*) FROM cut'), [['5000']]);
    await executor.close();
    await proxy.close();
  });

  it('go to the first server of a list that answers', async () => {
    const proxy = await TcpProxy.start(db.access);
    proxy.refuse();
    const { user, password, database, host, port } = db.access;
    const url = `jdbc:db://127.0.0.1:${String(proxy.port)},${host}:${String(port)}/${database}?user=${user}&password=${password}`;
    const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
    assert.equal((await executor.query('SELECT 1')).rowCount, 1);
    await executor.close();
    await proxy.close();
  });

  it('pass over servers that only read when the primary is wanted', async () => {
    await db.run(`ALTER DATABASE ${db.access.database} SET default_transaction_read_only = on`);
    const executor = db.open({}, '?targetServerType=primary');
    await assert.rejects(executor.query('SELECT 1'), hasScope('infrastructure', /the server is read-only/));
    await executor.close();
    await db.executor.query(`ALTER DATABASE ${db.access.database} RESET default_transaction_read_only`);
  });

  describe('that cannot be made', () => {
    const failure = async (parameters: string): Promise<DatabaseError> => {
      const executor = openExecutor(parseConnectionUrl(`${db.access.url}${parameters}`), { logger: silentLogger });
      try {
        await executor.query('SELECT 1');
      } catch (error) {
        assert.ok(error instanceof DatabaseError);
        assert.ok(!error.message.includes('wr0ng'));
        return error;
      } finally {
        await executor.close();
      }
      return assert.fail('connected');
    };

    it('say which server refused which user, and never the password', async () => {
      const error = await failure('?password=wr0ng');
      assert.equal(error.scope, 'caller');
      assert.equal(error.sqlstate, '28P01');
      const { database, host, port, user } = db.access;
      assert.equal(
        error.message,
        `cannot connect to database "${database}" as user "${user}" at ${host}:${String(port)}: ` +
          `password authentication failed for user "${user}"`,
      );
    });

    it('report an unreachable address at once, and omit it for a caller that has named it', async () => {
      const port = await freePort();
      const settings = parseConnectionUrl(`postgresql://u@127.0.0.1:${String(port)}/d`);
      const executor = openExecutor(settings, { logger: silentLogger });
      const policy = { attempts: 2, backoffMs: 1 };
      const error: unknown = await connectWithAttempts(executor, policy).catch((thrown: unknown) => thrown);
      await executor.close();
      assert.ok(error instanceof DatabaseError);
      const why = 'connection refused (ECONNREFUSED) (2 attempts, 1 ms apart)';
      assert.equal(error.message, `cannot connect to database "d" as user "u" at 127.0.0.1:${String(port)}: ${why}`);
      assert.equal(unavailableReason(error), why);
      assert.equal(unavailableReason(new DatabaseError('written', { scope: 'infrastructure', cause: error })), why);
      assert.equal(unavailableReason(new Error('other')), 'other');
    });

    it('say that a password is missing', async () => {
      const { host, port, database } = db.access;
      const settings = parseConnectionUrl(`jdbc:db://${host}:${String(port)}/${database}?user=postgres`);
      const executor = openExecutor(settings, { logger: silentLogger });
      await assert.rejects(
        executor.query('SELECT 1'),
        hasScope('caller', /the server requires a password: set connection\.password/),
      );
      await executor.close();
    });

    it('say that the database does not exist', async () => {
      const url = db.access.url.replace(/\/[^/]*$/, '/nowhere');
      const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
      await assert.rejects(executor.query('SELECT 1'), hasScope('caller', /database "nowhere" does not exist/));
      await executor.close();
    });

    it('say that the server has no TLS when it is required', async () => {
      const error = await failure('?sslmode=require');
      assert.equal(error.scope, 'caller');
      assert.match(error.message, /does not support SSL/);
    });

    it('say which certificate file cannot be read', async () => {
      const executor = openExecutor(parseConnectionUrl(`${db.access.url}?sslmode=verify-full&sslrootcert=/no/ca.pem`), {
        logger: silentLogger,
      });
      await assert.rejects(executor.query('SELECT 1'), /sslrootcert "\/no\/ca.pem" cannot be read/);
      await executor.close();
    });

    it('fail after the time limit when the server does not answer', async () => {
      const proxy = await TcpProxy.start(db.access);
      proxy.stall();
      const url = `postgresql://u@127.0.0.1:${String(proxy.port)}/d?connectTimeout=1&sslmode=disable`;
      const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
      await assert.rejects(executor.query('SELECT 1'), hasScope('infrastructure', /no response within 1000 ms/));
      await executor.close();
      await proxy.close();
    });

    it('are attempted as often as configured, and only where waiting can help', async () => {
      const proxy = await TcpProxy.start(db.access);
      proxy.refuse();
      const url = `postgresql://u@127.0.0.1:${String(proxy.port)}/d?sslmode=disable`;
      const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
      const attempts: number[] = [];
      const onFailure = (_: Error, attempt: number): unknown => attempts.push(attempt);
      await assert.rejects(
        connectWithAttempts(executor, { attempts: 3, backoffMs: 10, onFailure }),
        hasScope('infrastructure', /\(3 attempts, 10 ms apart\)/),
      );
      assert.deepEqual(attempts, [1, 2]);
      const abort = new AbortController();
      const waiting = connectWithAttempts(executor, { attempts: 3, backoffMs: 60_000, signal: abort.signal });
      setTimeout(() => abort.abort(), 20);
      await assert.rejects(waiting, hasScope('caller', /cancelled/));
      await executor.close();
      await proxy.close();
      const wrong = db.open({}, '?password=wr0ng');
      const once: number[] = [];
      await assert.rejects(
        connectWithAttempts(wrong, { attempts: 3, backoffMs: 60_000, onFailure: (_, n) => once.push(n) }),
        hasScope('caller'),
      );
      assert.deepEqual(once, []);
      await wrong.close();
    });

    it('are retried when the database becomes unreachable in the midst of the first work', async () => {
      const proxy = await TcpProxy.start(db.access);
      const { user, password, database } = db.access;
      const url = `postgresql://${user}:${password}@127.0.0.1:${String(proxy.port)}/${database}?sslmode=disable`;
      const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
      const gone = proxy.refuseAt('select 42');
      const failures: string[] = [];
      const onFailure = (error: Error): void => {
        failures.push(error.message);
        if (failures.length === 2) proxy.pass();
      };
      const begin = () => executor.query('select 42');
      const { rows } = await beginWithAttempts(executor, { attempts: 3, backoffMs: 10, onFailure }, begin);
      await gone;
      assert.deepEqual(rows, [['42']]);
      assert.equal(failures.length, 2);
      const mistake = new Error('no fault of the database');
      const attempt = beginWithAttempts(executor, { attempts: 3, backoffMs: 60_000 }, () => Promise.reject(mistake));
      await assert.rejects(attempt, mistake);
      await executor.close();
      await proxy.close();
    });
  });
});
