import assert from 'node:assert/strict';
import { LyingServer, type Lies } from '../support/lying-server.ts';
import { TcpProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { IngestFixture } from '../integration/http-ingest-fixture.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';
import { RunningSource } from '../integration/source-fixture.ts';
import { sourceConfig } from '../support/connectors.ts';
import { database } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';

const ROWS = 4_000;
/** The lies of a server that does nothing right. */
const ALL: Lies = { commitsCopyEvery: 100, ignoresLocks: true, swapsBackends: true };
const RETRIES = { 'max.retries': '1000', 'retry.backoff.ms': '10', 'connection.backoff.ms': '10' };

describe('a sink on a server that does not do what PostgreSQL does', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('lies')));
  after(() => fixture.close());

  const line = (table: string, n: number) => ({ value: `${table} n=${String(n)}i ${String(1_700_000_000_000 + n)}` });
  const options = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', ...RETRIES };

  async function withServer<T>(lies: Lies, work: (server: LyingServer) => Promise<T>): Promise<T> {
    const server = await LyingServer.start(fixture.db, lies);
    try {
      return await work(server);
    } finally {
      await server.close();
    }
  }

  it('is not created with exactly-once delivery, and says why', async () => {
    const topic = await fixture.topicOf([]);
    await withServer(ALL, async ({ database }) => {
      const config = { ...options, delivery: 'exactly-once' };
      await assert.rejects(fixture.start(topic, config, { db: database }), /keeps rows of a COPY .*use at-least-once/);
    });
  });

  it('stores every row once with exactly-once delivery if only writes and commits fail with 40001', async () => {
    await fixture.sql.run('create table failing (ts timestamptz(3), n int8)');
    await withServer({ failing: { share: 0.2, seed: 1 } }, async (server) => {
      const topic = await fixture.topicOf(Array.from({ length: ROWS }, (_, n) => line('failing', n)));
      const config = { ...options, delivery: 'exactly-once', 'batch.size': '400', 'batch.size.auto': 'false' };
      const name = await fixture.start(topic, config, { db: server.database });
      await fixture.done(name, ROWS);
      // One row in a transaction of its own.
      await fixture.send(topic, [line('failing', ROWS)]);
      await fixture.done(name, ROWS + 1);
      assert.deepEqual(await fixture.sql.rows('select count(*), count(distinct n) from failing'), [
        [String(ROWS + 1), String(ROWS + 1)],
      ]);
      assert.ok(server.failures > 0);
      await fixture.sluice.rest.delete(`/connectors/${name}`);
    });
  });

  it('fails with exactly-once delivery, and writes nothing twice, when such a server takes the place of PostgreSQL', async () => {
    await fixture.sql.run('create table replaced (ts timestamptz(3), n int8)');
    const proxy = await TcpProxy.start(fixture.db);
    try {
      await withServer({ ...ALL, startedLater: true }, async ({ database: lying }) => {
        const topic = await fixture.topicOf(Array.from({ length: ROWS }, (_, n) => line('replaced', n)));
        const config = { ...options, delivery: 'exactly-once', 'connection.attempts': '100' };
        const address = { ...fixture.db, host: '127.0.0.1', port: proxy.port };
        const name = await fixture.start(topic, config, { db: address });
        await fixture.done(name, ROWS);
        proxy.moveTo(lying);
        await fixture.send(
          topic,
          Array.from({ length: ROWS }, (_, n) => line('replaced', ROWS + n)),
        );
        const reason = /keeps rows of a COPY whose transaction is rolled back, .*use at-least-once/;
        await until(async () => {
          const { body } = await fixture.sluice.rest.get(`/connectors/${name}/status`);
          return reason.test(JSON.stringify(body));
        }, 'the task fails');
        assert.deepEqual(await fixture.sql.rows('select count(*), count(distinct n) from replaced'), [
          [String(ROWS), String(ROWS)],
        ]);
        await fixture.sluice.rest.delete(`/connectors/${name}`);
      });
    } finally {
      await proxy.close();
    }
  });

  for (const seed of [1, 2]) {
    it(`loses nothing with at-least-once delivery (seed ${String(seed)})`, async () => {
      const table = `lies_${String(seed)}`;
      await fixture.sql.run(`create table ${table} (ts timestamptz(3), n int8)`);
      await withServer({ ...ALL, failing: { share: 0.2, seed } }, async (server) => {
        const topic = await fixture.topicOf(
          Array.from({ length: ROWS }, (_, n) => line(table, n)),
          3,
        );
        const name = await fixture.start(topic, { ...options, 'batch.size': '200' }, { db: server.database });
        await fixture.done(name, ROWS);
        assert.deepEqual(await fixture.sql.rows(`select count(distinct n), min(n), max(n) from ${table}`), [
          [String(ROWS), '0', String(ROWS - 1)],
        ]);
        assert.ok(server.failures > 0);
        const hint = 'keeps rows of a COPY that is rolled back; rows are written by INSERT.';
        await until(async () => {
          const { body } = await fixture.sluice.rest.get(`/connectors/${name}/health`);
          return JSON.stringify(body).includes(hint);
        }, 'the health of the connector says how rows are written');
        await fixture.sluice.rest.delete(`/connectors/${name}`);
      });
    });
  }
});

describe('the HTTP API on a server that rolls transactions back with 40001', function () {
  const REQUESTS = 200;
  let server: LyingServer | undefined;
  let api: IngestFixture;

  before(async () => {
    // The proxy logs in itself and asks for no password.
    api = await IngestFixture.start({ 'trust.authentication': 'warn' }, async (access) => {
      server = await LyingServer.start(access, { failing: { share: 0.2, seed: 3 } });
      return server.database;
    });
    await api.database.run('CREATE TABLE lines (k_timestamp timestamptz, n int8)', 'CREATE TABLE statements (n int8)');
  });
  after(async () => {
    await api.close();
    await server?.close();
  });

  async function repeatedly(send: (n: number) => Promise<number>): Promise<void> {
    const statuses = new Set<number>();
    for (let first = 0; first < REQUESTS; first += 8) {
      const sent = Array.from({ length: 8 }, (_, index) => send(first + index));
      for (const status of await Promise.all(sent)) statuses.add(status);
    }
    assert.deepEqual([...statuses], [200]);
    assert.ok((server?.failures ?? 0) > 0);
  }

  it('stores the lines of each request once', async () => {
    await repeatedly(async (n) => {
      const lines = [0, 1].map((k) => `lines n=${String(2 * n + k)}i ${String(1_700_000_000_000 + 2 * n + k)}`);
      return (await api.post('/restapi/linedb?precision=ms', lines.join('\n'))).status;
    });
    const counted = await api.rows('SELECT count(*), count(DISTINCT n) FROM lines');
    assert.deepEqual(counted, [[String(2 * REQUESTS), String(2 * REQUESTS)]]);
  });

  it('runs each statement once', async () => {
    await repeatedly(async (n) => {
      return (await api.post('/restapi/insert', `INSERT INTO statements VALUES (${String(n)})`)).status;
    });
    const counted = await api.rows('SELECT count(*), count(DISTINCT n) FROM statements');
    assert.deepEqual(counted, [[String(REQUESTS), String(REQUESTS)]]);
  });
});

describe('a source on a server that rolls transactions back with 40001', function () {
  it('sends each row once, in order', async () => {
    const db = await database('rolled');
    const sql = new SqlClient(db);
    const server = await LyingServer.start(db, { failing: { share: 0.1, seed: 4, reads: true } });
    let source: RunningSource | undefined;
    try {
      await sql.run('create table t (n int8 primary key)');
      const retries = { 'connection.attempts': '1000', 'connection.backoff.ms': '10', 'query.interval.ms': '10' };
      const reading = { mode: 'incrementing', 'table.include': 't', 'topic.prefix': 'p', 'fetch.max.rows': '100' };
      server.isFailing = false;
      source = await RunningSource.start(sourceConfig(server.database, { ...reading, ...retries }));
      server.isFailing = true;
      for (let first = 0; first < ROWS; first += 500) {
        await sql.run(`insert into t select generate_series(${String(first)}, ${String(first + 499)})`);
        await source.untilRows(first + 500);
      }
      assert.deepEqual(
        source.numbers(),
        Array.from({ length: ROWS }, (_, n) => n),
      );
      assert.ok(server.failures > 0);
    } finally {
      await source?.stop();
      await server.close();
      await sql.close();
    }
  });
});
