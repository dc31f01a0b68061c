import assert from 'node:assert/strict';
import type { Executor } from '../../plugins/database/executor/api.ts';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { exactlyOnceProblem, probeFindings, probeHints } from '../../plugins/database/executor/server-probe.ts';
import { DeliveryOffsets } from '../../plugins/db-sink/delivery-offsets.ts';
import { dbSink } from '../../plugins/db-sink/plugin.ts';
import type { SinkTaskContext } from '../../src/connect/api.ts';
import { ConfigError } from '../../src/errors.ts';
import { silentLogger, type Logger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { LyingServer, type Lies } from '../support/lying-server.ts';
import { TcpProxy } from '../support/proxy.ts';
import { uniqueName } from '../support/services.ts';
import { batch, DatabaseFixture, offsets, OVERRIDE, upTo } from './database-fixture.ts';

const WRITES = { writes: true };

describe('the probe of a server', () => {
  let fixture: DatabaseFixture;
  let lines: string[] = [];
  const closers: (() => Promise<void>)[] = [];

  before(async () => {
    fixture = await DatabaseFixture.create();
    await fixture.run('CREATE TABLE t (n int8 CONSTRAINT lucky CHECK (n <> 13))');
  });
  beforeEach(() => (lines = []));
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    // Whatever a check has created is gone.
    assert.deepEqual(await fixture.rows(`SELECT relname FROM pg_class WHERE relname LIKE 'sluice_probe%'`), []);
  });
  after(() => fixture.close());

  /** An executor whose log is kept. The port of a proxy is a server that was not probed before. */
  function open(url: string): Executor {
    const executor = openExecutor(parseConnectionUrl(url), {
      logger: { info: note, debug: () => undefined } as unknown as Logger,
    });
    closers.push(() => executor.close());
    return executor;
  }

  function note(text: string): void {
    lines.push(text);
  }

  async function startProxy(): Promise<TcpProxy> {
    const { host, port } = fixture.access;
    const proxy = await TcpProxy.start({ host, port });
    closers.push(() => proxy.close());
    return proxy;
  }

  async function proxied(given?: TcpProxy): Promise<URL> {
    const { port } = given ?? (await startProxy());
    const url = new URL(fixture.access.url);
    url.host = `127.0.0.1:${String(port)}`;
    return url;
  }

  async function lying(lies: Lies): Promise<LyingServer> {
    const server = await LyingServer.start(fixture.access, lies);
    closers.push(() => server.close());
    return server;
  }

  it('finds that PostgreSQL does what it promises, and says so in one line of the log', async () => {
    const url = await proxied();
    const probe = await open(url.href).probe(WRITES);
    const { server, version, ...answers } = probe;
    assert.equal(server, url.host);
    assert.match(version, /^PostgreSQL \d+\S*$/);
    assert.deepEqual(answers, {
      sharesBackends: false,
      rollsBackCopies: 'yes',
      locksExclude: 'yes',
      keepsSettingsLocal: 'yes',
      delivers: 'yes',
      upsertsArrays: 'yes',
    });
    assert.deepEqual(lines, [
      `Probed the database server ${server}: ${version}; rollback of COPY: yes, advisory locks: yes, local settings: yes, notifications: yes, upsert of arrays: yes`,
    ]);
    assert.equal(exactlyOnceProblem(probe), undefined);
    assert.deepEqual(probeHints(probe), []);
    assert.deepEqual(
      probeFindings(probe).map(({ level, about }) => [level, about]),
      [['ok', 'behaviour of the server']],
    );
  });

  it('runs once for executors of the same server, also at the same time', async () => {
    const url = await proxied();
    const [one, other] = [open(url.href), open(`${url.href}?application_name=other`)];
    const [first, second] = await Promise.all([one.probe(WRITES), other.probe(WRITES)]);
    assert.equal(first, second);
    assert.equal(await one.probe(WRITES), first);
    assert.equal(lines.length, 1);
  });

  it('does not know what it may not try, which prevents nothing', async () => {
    const role = uniqueName('poor').replaceAll('-', '_');
    const { database } = fixture.access;
    await fixture.run(
      `CREATE ROLE ${role} LOGIN PASSWORD 'x'`,
      `REVOKE TEMPORARY ON DATABASE ${database} FROM public`,
      'REVOKE CREATE ON SCHEMA public FROM public',
    );
    try {
      const url = await proxied();
      url.username = role;
      url.password = 'x';
      const probe = await open(url.href).probe(WRITES);
      assert.deepEqual([probe.rollsBackCopies, probe.upsertsArrays], ['unknown', 'unknown']);
      assert.deepEqual([probe.locksExclude, probe.keepsSettingsLocal, probe.delivers], ['yes', 'yes', 'yes']);
      assert.equal(exactlyOnceProblem(probe), undefined);
    } finally {
      await fixture.run(`GRANT TEMPORARY ON DATABASE ${database} TO public`, `DROP ROLE ${role}`);
    }
  });

  it('fails if a connection is lost meanwhile, and is repeated by the next call', async () => {
    const proxy = await startProxy();
    const executor = open((await proxied(proxy)).href);
    const lost = proxy.refuseAt('pg_try_advisory_xact_lock');
    await assert.rejects(executor.probe(WRITES), { scope: 'infrastructure' });
    await lost;
    proxy.pass();
    assert.equal((await executor.probe(WRITES)).locksExclude, 'yes');
  });

  it('creates nothing where nothing is written', async () => {
    const probe = await open((await proxied()).href).probe({ writes: false });
    assert.deepEqual([probe.rollsBackCopies, probe.upsertsArrays, probe.locksExclude], ['unknown', 'unknown', 'yes']);
  });

  it('finds a server that keeps rows of a COPY, to which rows are then written by INSERT', async () => {
    const server = await lying({ commitsCopyEvery: 10 });
    const executor = open(server.database.url);
    const rows = batch('t', { 'n:int': upTo(3000) });
    const probe = await executor.probe(WRITES);
    assert.equal(probe.rollsBackCopies, 'no');
    assert.match(exactlyOnceProblem(probe) ?? '', /keeps rows of a COPY whose transaction is rolled back/);
    assert.match(probeHints(probe)[0] ?? '', /rows are written by INSERT/);
    const report = await executor.write(rows, OVERRIDE);
    assert.deepEqual(offsets(report.faults), [13]);
    assert.deepEqual(await fixture.rows('SELECT count(*), count(DISTINCT n) FROM t'), [['2999', '2999']]);
    // Without the probe, rows of the failed COPY are left.
    await fixture.run('TRUNCATE t');
    await open(`${server.database.url}?application_name=unprobed`).write(rows, OVERRIDE);
    const [[stored]] = (await fixture.rows('SELECT count(*) FROM t')) as [[string]];
    assert.ok(Number(stored) > 2999, stored);
    await fixture.run('TRUNCATE t');
  });

  it('finds advisory locks that keep nobody out', async () => {
    const server = await lying({ ignoresLocks: true });
    const probe = await open(server.database.url).probe(WRITES);
    assert.deepEqual([probe.locksExclude, probe.rollsBackCopies], ['no', 'yes']);
    assert.match(exactlyOnceProblem(probe) ?? '', /^advisory locks of the database server .* keep nobody out/);
  });

  it('finds transactions of one connection in several backends, and then prepares nothing', async () => {
    const server = await lying({ swapsBackends: true });
    const executor = open(server.database.url);
    const probe = await executor.probe(WRITES);
    assert.deepEqual([probe.sharesBackends, probe.delivers, probe.rollsBackCopies], [true, 'no', 'yes']);
    await fixture.run('CREATE TABLE keyed (n int8 PRIMARY KEY, v text)');
    for (const value of ['a', 'b', 'c', 'd']) {
      await executor.write(batch('keyed', { 'n:int': [1], v: [value] }), OVERRIDE);
    }
    assert.deepEqual(await fixture.rows('SELECT n, v FROM keyed'), [['1', 'd']]);
    await executor.session(
      async (session) => {
        for (let round = 0; round < 3; round++) {
          const { rows } = await session.query(`SELECT current_setting('TimeZone')`);
          assert.deepEqual(rows, [['Asia/Tokyo']]);
        }
        const chunks = [];
        for await (const chunk of session.stream('SELECT $1::text, now()::text', ['x'], { chunkRows: 1 }))
          chunks.push(chunk);
        assert.match(chunks[0]?.rows[0]?.[1] ?? '', /\+09$/);
        // No transaction can have a setting of its own around this one.
        await session.query('VACUUM keyed');
      },
      { timeZone: 'Asia/Tokyo' },
    );
    assert.deepEqual((await executor.query(`SELECT current_setting('TimeZone')`)).rows, [['UTC']]);
  });

  it('is repeated when another server answers at the same address, which is then used as it requires', async () => {
    const proxy = await startProxy();
    const executor = open((await proxied(proxy)).href);
    const rows = batch('t', { 'n:int': upTo(3000) });
    assert.equal((await executor.probe(WRITES)).rollsBackCopies, 'yes');
    proxy.cut();
    await fixture.run('TRUNCATE t');
    assert.deepEqual(offsets((await executor.write(rows, OVERRIDE)).faults), [13]);
    assert.equal(lines.length, 1, 'the same server is not probed again');

    proxy.moveTo((await lying({ commitsCopyEvery: 10, startedLater: true })).database);
    await fixture.run('TRUNCATE t');
    await executor.query('SELECT 1').catch(() => undefined);
    assert.deepEqual(offsets((await executor.write(rows, OVERRIDE)).faults), [13]);
    assert.deepEqual(await fixture.rows('SELECT count(*), count(DISTINCT n) FROM t'), [['2999', '2999']]);
    assert.equal(executor.behaviour?.rollsBackCopies, 'no');
    assert.equal(lines.length, 2);

    proxy.moveTo(fixture.access);
    await executor.query('SELECT 1').catch(() => undefined);
    await executor.query('SELECT 1');
    assert.equal(executor.behaviour.rollsBackCopies, 'yes');
    assert.equal(lines.length, 2, 'a server that was probed before is known');
  });

  it('is repeated when the next server of the URL answers, before anything runs there', async () => {
    const proxy = await startProxy();
    const url = await proxied(proxy);
    const { host } = new URL((await lying({ ignoresLocks: true })).database.url);
    const executor = open(url.href.replace(url.host, `${url.host},${host}`));
    assert.equal((await executor.probe(WRITES)).locksExclude, 'yes');
    proxy.refuse();
    await executor.query('SELECT 1').catch(() => undefined);
    const seen = await executor.atomically((_transaction, server) => Promise.resolve(server));
    assert.deepEqual([seen?.server, seen?.locksExclude], [host, 'no']);
    assert.equal(await executor.probe(WRITES), seen);
  });

  it('keeps exactly-once delivery from going on where it would be a lie', async () => {
    const proxy = await startProxy();
    const executor = open((await proxied(proxy)).href);
    await executor.probe(WRITES);
    const store = new DeliveryOffsets(executor, { name: 'offsets_moved' }, 'g');
    await store.ensureTable();
    await store.atomically((transaction) => transaction.query('INSERT INTO t VALUES (1)'));
    proxy.moveTo((await lying({ commitsCopyEvery: 10, startedLater: true })).database);
    await executor.query('SELECT 1').catch(() => undefined);
    const before = await fixture.rows('SELECT count(*) FROM t');
    await assert.rejects(
      store.atomically((transaction) => transaction.query('INSERT INTO t VALUES (2)')),
      (error) => error instanceof ConfigError && /keeps rows of a COPY .*use at-least-once$/.test(error.message),
    );
    assert.deepEqual(await fixture.rows('SELECT count(*) FROM t'), before);
    await fixture.run('TRUNCATE t');
  });

  it('finds a server without an upsert of arrays, where only tables without a key are written', async () => {
    const server = await lying({ refusesUpserts: true });
    const executor = open(server.database.url);
    const probe = await executor.probe(WRITES);
    assert.equal(probe.upsertsArrays, 'no');
    assert.match(
      probeHints(probe)[0] ?? '',
      /rows are only written to tables without a key, or with insert.mode=insert/,
    );
    await fixture.run('CREATE TABLE free (n int8)', 'CREATE TABLE bound (n int8 PRIMARY KEY)');
    const rows = (table: string) => batch(table, { 'n:int': [1, 2] });
    assert.equal((await executor.write(rows('free'), OVERRIDE)).stored, 2);
    await assert.rejects(executor.write(rows('bound'), OVERRIDE), {
      scope: 'caller',
      message: `the database server ${probe.server} does not support INSERT … ON CONFLICT with rows from arrays, which table "public"."bound" requires because it has a key`,
    });
    assert.equal((await executor.write(rows('bound'), { ...OVERRIDE, insertMode: 'insert' })).stored, 2);
    assert.deepEqual(await fixture.rows('SELECT count(*) FROM free NATURAL JOIN bound'), [['2']]);
  });

  it('makes /validate, the start of a task and the doctor refuse insert.mode=upsert there, and only this mode', async () => {
    const server = await lying({ refusesUpserts: true });
    const config = (mode: string) =>
      sinkConfig(server.database, {
        topics: 'a',
        'protocol.type': 'struct',
        'insert.mode': mode,
        'pk.mode': 'record_key',
        'pk.fields': 'id',
        'auto.create': 'true',
      });
    const { host } = new URL(server.database.url);
    const reason = `the database server ${host} does not support INSERT … ON CONFLICT with rows from arrays, which upsert needs; use insert`;
    const refused = (await dbSink.validate?.(config('upsert'))) ?? [];
    assert.deepEqual(
      refused.map(({ name, errors }) => [name, errors]),
      [['insert.mode', [`Invalid value for configuration insert.mode: ${reason}`]]],
    );
    await assert.rejects(started(config('upsert')), {
      message: `Invalid value for configuration insert.mode: ${reason}`,
    });
    const diagnosed = async (mode: string) =>
      (await dbSink.diagnose?.(config(mode), {
        logger: silentLogger,
        signal: new AbortController().signal,
        writesTo: () => undefined,
      })) ?? [];
    const failed = (await diagnosed('upsert')).filter(({ level }) => level === 'fail');
    assert.deepEqual(
      failed.map(({ about, message, remedy }) => [about, message, remedy]),
      [['insert.mode', reason, 'set insert.mode=insert']],
    );
    assert.deepEqual(await dbSink.validate?.(config('insert')), []);
    assert.deepEqual(
      (await diagnosed('insert')).filter(({ level }) => level === 'fail'),
      [],
    );
    await started(config('insert'));
  });

  /** Starts a task of the sink and stops it. */
  async function started(config: Record<string, string>): Promise<void> {
    const task = dbSink.createTask();
    const context = {
      config,
      connectorName: 'c',
      taskIndex: 0,
      logger: silentLogger,
      signal: new AbortController().signal,
      errantRecords: { tolerant: false },
      retryAfterMs: () => undefined,
    } as unknown as SinkTaskContext;
    try {
      await task.start(context);
    } finally {
      await task.stop();
    }
  }

  it('makes /validate refuse exactly-once delivery, with the reason', async () => {
    for (const [lies, reason] of [
      [{ commitsCopyEvery: 20_000 }, /keeps rows of a COPY whose transaction is rolled back, .*use at-least-once$/],
      [{ ignoresLocks: true }, /^Invalid value for configuration delivery: advisory locks .* keep nobody out/],
    ] as const) {
      const server = await lying(lies);
      const config = (delivery: string) =>
        sinkConfig(server.database, { topics: 'a', 'protocol.type': 'json_db', delivery });
      const refused = (await dbSink.validate?.(config('exactly-once'))) ?? [];
      assert.deepEqual(
        refused.map(({ name }) => name),
        ['delivery'],
        JSON.stringify([lies, await open(server.database.url).probe(WRITES)]),
      );
      assert.match(refused[0]?.errors[0] ?? '', reason);
      assert.deepEqual(await dbSink.validate?.(config('at-least-once')), []);
    }
  });

  it('makes the start of a task with exactly-once delivery fail with the same sentence', async () => {
    const server = await lying({ commitsCopyEvery: 20_000 });
    const config = sinkConfig(server.database, { topics: 'a', 'protocol.type': 'json_db', delivery: 'exactly-once' });
    await assert.rejects(started(config), (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      const address = new URL(server.database.url).host;
      assert.equal(
        error.message,
        `Invalid value for configuration delivery: the database server ${address} keeps rows of a COPY whose transaction is rolled back, so that exactly-once would be a lie; use at-least-once`,
      );
      return true;
    });
    assert.deepEqual(await fixture.rows(`SELECT to_regclass('sluice_offsets')`), [[null]]);
  });
});
