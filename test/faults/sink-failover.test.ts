import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { freePort } from '../../src/dev/ports.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { TcpProxy } from '../support/proxy.ts';
import { onServer, ownPostgres, uniqueName } from '../support/services.ts';
import { assertEachOnce, createTable, line, SHORT_SESSION } from '../support/sink-kills.ts';
import { SqlClient } from '../support/sql-client.ts';
import { startStandby } from '../support/standby.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const DATABASE = 'postgres';
const SETTINGS = {
  shared_buffers: '16MB',
  max_wal_size: '128MB',
  max_connections: '50',
  fsync: 'off',
  wal_log_hints: 'on',
};
const FOR_REWINDING = { wal_log_hints: 'on', wal_keep_size: '128MB', max_connections: '50' };
const PARTITIONS = 4;
const ROWS_A_STEP = 200;
/** Commits of this role do not wait for the standby. */
const ASYNCHRONOUS = 'asynchronous';
const LOST_ROWS = 400;
const PATIENCE_MS = 60_000;

/** `replicated` waits for the standby at each commit, `local` does not; both deliver exactly once. `keyed` delivers at least once. */
const TABLES = ['replicated', 'local', 'keyed'] as const;
type Table = (typeof TABLES)[number];

describe('sinks under load whose database fails over, and back', function () {
  this.timeout(240_000);
  let folder: string;
  let kafka: KafkaTraffic;
  let worker: WorkerProcess;
  let first: LocalPostgres;
  let second: LocalPostgres;
  /** The address that always leads to the primary. */
  let address: TcpProxy;
  let replication: TcpProxy;
  const topics = new Map(TABLES.map((table) => [table, uniqueName(`failover-${table}`)]));
  const closing: { close(): Promise<void> }[] = [];
  const stopProducing = new AbortController();
  let producing: Promise<number>;
  let sql: SqlClient;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-failover-'));
    [first, kafka, worker] = await Promise.all([
      ownPostgres({ settings: SETTINGS }),
      KafkaTraffic.shared(),
      WorkerProcess.start(),
    ]);
    for (const topic of topics.values()) await kafka.createTopic(topic, PARTITIONS);
    address = await proxyTo(first);
    replication = await proxyTo(first);
    sql = clientOf(first);
    // For pg_rewind, which starts the server without the settings of its command line.
    for (const [name, value] of Object.entries(FOR_REWINDING)) await sql.run(`alter system set ${name} = '${value}'`);
    await sql.close();
    await first.stop();
    await first.start();
    await sql.run(
      `create role ${ASYNCHRONOUS} superuser login password '${ASYNCHRONOUS}'`,
      `alter role ${ASYNCHRONOUS} set synchronous_commit = local`,
    );
    for (const table of TABLES) await createTable(sql, table, table === 'keyed');
    const port = await freePort();
    second = await standbyOf(first, join(folder, 'second'), port, replication);
    const hosts = `127.0.0.1:${String(first.port)},127.0.0.1:${String(port)}`;
    const urls = `jdbc:db://${hosts}/${DATABASE}?target_session_attrs=read-write`;
    const proxied = `jdbc:db://127.0.0.1:${String(address.port)}/${DATABASE}`;
    const asynchronous = { 'connection.user': ASYNCHRONOUS, 'connection.password': ASYNCHRONOUS };
    await create('replicated', { delivery: 'exactly-once', 'connection.url': urls });
    await create('local', { delivery: 'exactly-once', 'connection.url': proxied, ...asynchronous });
    await create('keyed', { 'connection.url': proxied });
    producing = produce();
    producing.catch(() => undefined);
  });

  after(async () => {
    stopProducing.abort();
    await producing.catch(() => undefined);
    await worker.discard();
    await Promise.all(closing.map((each) => each.close()));
    await Promise.all([first.discard(), second.discard()]);
    await rm(folder, { recursive: true, force: true });
  });

  function clientOf(server: LocalPostgres): SqlClient {
    const client = new SqlClient(onServer(server, DATABASE));
    closing.push(client);
    return client;
  }

  async function proxyTo(server: LocalPostgres): Promise<TcpProxy> {
    const proxy = await TcpProxy.start(server);
    closing.push(proxy);
    return proxy;
  }

  /** Starts a standby, for which commits wait from then on. */
  async function standbyOf(
    primary: LocalPostgres,
    dataDir: string,
    port: number,
    upstream: TcpProxy,
  ): Promise<LocalPostgres> {
    const standby = await startStandby({ primary, sql, dataDir, port, upstream, settings: SETTINGS });
    const state = `select count(*) from pg_stat_replication where state = 'streaming'`;
    await until(async () => (await sql.number(state)) === 1, 'the standby follows');
    await sql.run(`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()');
    return standby;
  }

  async function create(table: Table, more: Readonly<Record<string, string>>): Promise<void> {
    const options = {
      topics: topics.get(table) ?? '',
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      'offsets.table': `offsets_of_${table}`,
      'connection.attempts': '400',
      'connection.backoff.ms': '100',
      'tasks.max': '2',
      ...SHORT_SESSION,
      ...more,
    };
    await worker.rest.create(table, sinkConfig(onServer(first, DATABASE), options));
  }

  async function produce(): Promise<number> {
    const { signal } = stopProducing;
    let id = 0;
    for (; !signal.aborted; id += ROWS_A_STEP) {
      const ids = Array.from({ length: ROWS_A_STEP }, (_, index) => id + index);
      const send = ([table, topic]: [Table, string]) =>
        kafka.produce(
          topic,
          ids.map((each) => line(table, each, PARTITIONS)),
        );
      await Promise.all([...topics].map(send));
      await delay(100, undefined, { signal }).catch(() => undefined);
    }
    return id;
  }

  const rowsOf = (table: Table): Promise<number> => sql.number(`select count(*) from ${table}`);

  async function grow(tables: readonly Table[], rows: number): Promise<void> {
    for (const table of tables) {
      const before = await rowsOf(table);
      await until(async () => (await rowsOf(table)) >= before + rows, `${String(rows)} more rows in ${table}`, {
        timeoutMs: PATIENCE_MS,
      });
    }
  }

  async function failOver(from: LocalPostgres, to: LocalPostgres): Promise<void> {
    await from.kill();
    sql = clientOf(to);
    assert.deepEqual(await sql.rows('select pg_promote()'), [['t']]);
    address.moveTo(to);
  }

  it('lose and double no row that a standby has to confirm, and write again what an asynchronous standby lacked', async () => {
    await grow(TABLES, ROWS_A_STEP);
    replication.stall();
    await grow(['local'], LOST_ROWS);
    const written = await rowsOf('local');
    await failOver(first, second);
    const kept = await rowsOf('local');
    assert.ok(kept <= written - LOST_ROWS / 2, `${String(kept)} of ${String(written)} rows are on the standby`);
    await grow(TABLES, ROWS_A_STEP);
  });

  it('do so when the first server is primary again', async () => {
    first = await standbyOf(second, first.dataDir, first.port, await proxyTo(second));
    await grow(TABLES, ROWS_A_STEP);
    await failOver(second, first);
    await grow(TABLES, ROWS_A_STEP);
    stopProducing.abort();
    const rows = await producing;
    for (const table of TABLES) {
      await until(async () => (await rowsOf(table)) >= rows, `${String(rows)} rows are in ${table}`, {
        timeoutMs: PATIENCE_MS,
      });
      await assertEachOnce(sql, table, rows);
    }
  });
});
