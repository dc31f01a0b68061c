import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { Admin } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { ConnectRest } from '../support/rest.ts';
import { until } from '../support/until.ts';
import type { BenchContext } from './bench-context.ts';
import { compare, median, rounded, summarise, type Comparison, type Figures } from './figures.ts';
import type { JavaPeer } from './java-peer.ts';
import { measureRuns } from './measured-run.ts';
import { cpuSecondsOf, peakRssMbOf } from './process-usage.ts';
import { rowsPerSecond, untilAll, type Stretch } from './stretch.ts';
import { keyedTable } from './tables.ts';

const TABLE = 'bench_log';
const PUBLICATION = 'bench_log';
const ROWS_PER_TRANSACTION = 100;
const COUNTING_MS = 50;
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';

interface LogFigures extends Figures, Comparison {
  readonly debezium_rows_per_s?: number;
  readonly ratio_to_debezium?: number;
  readonly debezium_cpu_s_per_million?: number;
  readonly cpu_ratio_to_debezium?: number;
  readonly debezium_peak_rss_mb?: number;
}

/**
 * `log-source`: copies inserts from the log into a topic with one partition. They are in transactions of 100 rows,
 * which were committed while the connector was stopped. Compared with `pg_recvlogical` into /dev/null and, with peers,
 * with Debezium after a warm-up.
 */
export async function logSource(context: BenchContext): Promise<LogFigures> {
  const { services } = context;
  const peer = await context.peer();
  const worker = await context.startWorker();
  const readers: LogReader[] = [];
  try {
    await openLog(context);
    const own = await LogReader.start(context, worker.rest, 'sluice', context.overrides);
    readers.push(own);
    const debezium =
      peer === undefined ? undefined : await LogReader.start(context, new ConnectRest(peer.url), 'debezium');
    if (debezium !== undefined) readers.push(debezium);
    await services.query(`select pg_create_logical_replication_slot('${TABLE}_limit', 'pgoutput')`);
    const limits: number[] = [];
    const java: { rowsPerS: number; cpu: number }[] = [];
    let firstId = 0;
    const runs = await measureRuns(
      context,
      worker,
      async () => {
        await fill(context, firstId);
        firstId += context.rows;
        limits.push(await receiveAll(context));
        if (peer !== undefined && debezium !== undefined) java.push(await javaRun(context, peer, debezium));
      },
      () => own.catchUp(context.rows),
    );
    // The first run warms up the JVM.
    limits.shift();
    java.shift();
    const figures = await summarise(runs, worker);
    const compared = { ...figures, ...compare(runs, 'pg_recvlogical, pgoutput, to /dev/null', limits) };
    if (peer === undefined) return compared;
    const rate = median(java.map(({ rowsPerS }) => rowsPerS));
    const cpu = median(java.map((run) => run.cpu));
    return {
      ...compared,
      debezium_rows_per_s: Math.round(rate),
      ratio_to_debezium: rounded(figures.rows_per_s / rate),
      debezium_cpu_s_per_million: rounded(cpu),
      cpu_ratio_to_debezium: rounded(cpu / figures.cpu_s_per_million),
      debezium_peak_rss_mb: await peakRssMbOf(peer.pid),
    };
  } finally {
    for (const reader of readers) await reader.end();
    await worker.stop();
    await closeLog(context);
  }
}

/** `log-source-memory`: one transaction with twenty times the rows. The server sends it after its commit. */
export async function logSourceMemory(context: BenchContext): Promise<Readonly<Record<string, number>>> {
  const rows = 20 * context.rows;
  const worker = await context.startWorker();
  await openLog(context);
  const own = await LogReader.start(context, worker.rest, 'sluice', context.overrides);
  try {
    await context.services.query(`insert into ${TABLE} ${rowsFrom(0, rows)}`);
    const stretch = await own.catchUp(rows);
    return { rows, rows_per_s: Math.round(rowsPerSecond(stretch)), peak_rss_mb: await worker.peakRssMb() };
  } finally {
    await own.end();
    await worker.stop();
    await closeLog(context);
  }
}

/** A connector that reads the log of the table into a topic of its own. It is stopped except while it catches up. */
export class LogReader {
  readonly topic: string;
  readonly #services: BenchContext['services'];
  readonly #rest: ConnectRest;
  readonly #name: string;
  readonly #admin: Admin;
  #sent = 0;

  private constructor({ services }: BenchContext, rest: ConnectRest, name: string) {
    this.#services = services;
    this.#rest = rest;
    this.#name = name;
    this.topic = `${name}.public.${TABLE}`;
    this.#admin = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger).admin();
  }

  /** Creates the connector. Resolves when its slot exists and the connector is stopped. */
  static async start(
    context: BenchContext,
    rest: ConnectRest,
    kind: string,
    overrides: Readonly<Record<string, string>> = {},
  ): Promise<LogReader> {
    const reader = await LogReader.running(context, rest, kind, overrides);
    await reader.#stop();
    return reader;
  }

  static async running(
    context: BenchContext,
    rest: ConnectRest,
    kind: string,
    overrides: Readonly<Record<string, string>>,
  ): Promise<LogReader> {
    const reader = new LogReader(context, rest, `bench-log-${kind}-${String(Date.now())}`);
    await reader.#create(overrides);
    return reader;
  }

  async #create(overrides: Readonly<Record<string, string>>): Promise<void> {
    const { host, port, user, password, database } = this.#services.database;
    await this.#admin.createTopic({ name: this.topic, partitions: 1, replicationFactor: 1, settings: {} });
    await this.#rest.create(this.#name, {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'tasks.max': '1',
      'topic.prefix': this.#name,
      'plugin.name': 'pgoutput',
      'database.hostname': host,
      'database.port': String(port),
      'database.user': user,
      'database.password': password,
      'database.dbname': database,
      'table.include.list': `public.${TABLE}`,
      'snapshot.mode': 'no_data',
      'slot.name': this.#slot,
      'publication.name': PUBLICATION,
      'publication.autocreate.mode': 'disabled',
      'key.converter': JSON_CONVERTER,
      'key.converter.schemas.enable': 'false',
      'value.converter': JSON_CONVERTER,
      'value.converter.schemas.enable': 'false',
      ...overrides,
    });
    await this.#rest.untilState(this.#name, 'RUNNING', 1);
    await this.#untilActive(true);
  }

  /** Reads the backlog. The measured period is from its first record to its last. */
  async catchUp(rows: number): Promise<Stretch> {
    await this.#rest.put(`/connectors/${this.#name}/resume`);
    const before = this.#sent;
    const count = async (): Promise<number> =>
      (await this.#admin.endOffsets(this.topic)).reduce((sum, { offset }) => sum + offset, 0) - before;
    const stretch = await untilAll(rows, count, () => this.#rest.status(this.#name), COUNTING_MS);
    this.#sent = before + (await count());
    await this.#stop();
    return stretch;
  }

  async end(): Promise<void> {
    await this.#rest.delete(`/connectors/${this.#name}`);
    await this.#untilActive(false);
    await this.#services.query(`select pg_drop_replication_slot('${this.#slot}')`);
    await this.#admin.deleteTopics([this.topic]);
    await this.#admin.close();
  }

  get #slot(): string {
    return this.#name.replaceAll('-', '_');
  }

  async #stop(): Promise<void> {
    await this.#rest.put(`/connectors/${this.#name}/stop`);
    await this.#untilActive(false);
  }

  async #untilActive(isActive: boolean): Promise<void> {
    const sql = `select count(*) from pg_replication_slots where slot_name = '${this.#slot}' and active = ${String(isActive)}`;
    const what = `the slot ${this.#slot} is ${isActive ? 'read' : 'released'}`;
    await until(async () => (await this.#services.number(sql)) === 1, what, { everyMs: 50 });
  }
}

export async function openLog({ services }: BenchContext): Promise<void> {
  await services.createTable(TABLE, keyedTable);
  await services.query(`create publication ${PUBLICATION} for table ${TABLE}`);
}

export async function closeLog({ services }: BenchContext): Promise<void> {
  await services.query(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '${TABLE}_limit'`,
  );
  await services.query(`drop publication if exists ${PUBLICATION}`);
  await services.dropTable(TABLE);
}

/** Returns a SELECT for `count` of the rows that all workloads use. */
export function rowsFrom(firstId: number, count: number): string {
  return `select id, 'category-' || id % 100, id::int8 * 7919 % 1000003 / 100.0, to_timestamp(1700000000 + id / 1000.0)
    from generate_series(${String(firstId)}, ${String(firstId + count - 1)}) id`;
}

async function fill({ services, rows }: BenchContext, firstId: number): Promise<void> {
  await services.query('set synchronous_commit = off');
  await services.query(`do $$ begin
    for start_id in ${String(firstId)}..${String(firstId + rows - 1)} by ${String(ROWS_PER_TRANSACTION)} loop
      insert into ${TABLE} select id, 'category-' || id % 100, id::int8 * 7919 % 1000003 / 100.0, to_timestamp(1700000000 + id / 1000.0)
        from generate_series(start_id, start_id + ${String(ROWS_PER_TRANSACTION - 1)}) id;
      commit;
    end loop; end $$`);
  await services.query('reset synchronous_commit');
  await services.query('checkpoint');
}

/** Returns the rows per second of pg_recvlogical, including its start. */
async function receiveAll({ services, rows }: BenchContext): Promise<number> {
  const [end = ''] = (await services.query('select pg_current_wal_flush_lsn()')).rows[0] as string[];
  const args = ['-S', `${TABLE}_limit`, '--start', '--no-loop', '-f', '/dev/null', `--endpos=${end}`];
  const options = ['-o', 'proto_version=1', '-o', `publication_names=${PUBLICATION}`, '-o', 'messages=true'];
  const { PGDATABASE = '', ...environment } = services.environment();
  const began = performance.now();
  const receiver = spawn('pg_recvlogical', ['-d', PGDATABASE, ...args, ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const [code] = (await once(receiver, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`pg_recvlogical ended with ${String(code)}`);
  return (rows * 1000) / (performance.now() - began);
}

async function javaRun(
  { rows }: BenchContext,
  { pid }: JavaPeer,
  reader: LogReader,
): Promise<{ rowsPerS: number; cpu: number }> {
  const before = await cpuSecondsOf(pid);
  const stretch = await reader.catchUp(rows);
  return { rowsPerS: rowsPerSecond(stretch), cpu: (((await cpuSecondsOf(pid)) - before) * 1e6) / rows };
}
