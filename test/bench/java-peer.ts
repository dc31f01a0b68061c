import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { ConnectRest } from '../support/rest.ts';
import { until } from '../support/until.ts';
import type { BenchServices } from './bench-services.ts';
import { rounded } from './rounded.ts';
import { cpuSecondsOf, peakRssMbOf } from './process-usage.ts';
import { rowsPerSecond, untilAll, untilLastCommit } from './stretch.ts';
import { projectRoot } from './worker-under-test.ts';

/** Output of a peer's script for one run. */
export interface PeerRun {
  readonly rows: number;
  readonly rows_per_s: number;
  readonly cpu_s_per_million: number;
  readonly peak_rss_mb: number;
}

interface PeerJob {
  readonly topic: string;
  readonly table: string;
  /** Same as in SinkJob. */
  readonly arrived?: string | undefined;
  readonly mode: 'insert' | 'upsert';
  readonly rows: number;
}

interface PeerStart {
  readonly start_ms: number;
  readonly idle_rss_mb: number;
}

/**
 * Kafka Connect in Java with the Debezium connectors, run by the scripts in `BENCH_PEER_DIR` (default:
 * ../shared/bench/peer beside the project). They need Java 17, Maven, psql and curl, and download 123 MB of jars into
 * `PEER_DIR` (default: ~/.cache/sluice-peer) the first time.
 */
export class JavaPeer {
  readonly url: string;
  readonly pid: number;
  readonly started: PeerStart;
  readonly #services: BenchServices;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #port: number;
  /** The worker has its own session, so it would outlive this process. */
  readonly #end = (): void => {
    process.kill(this.pid);
  };

  private constructor(
    services: BenchServices,
    environment: NodeJS.ProcessEnv,
    port: number,
    pid: number,
    started: PeerStart,
  ) {
    this.url = `http://127.0.0.1:${String(port)}`;
    this.pid = pid;
    this.started = started;
    this.#services = services;
    this.#environment = environment;
    this.#port = port;
    process.once('exit', this.#end);
  }

  static async start(services: BenchServices): Promise<JavaPeer> {
    const port = await freePort();
    const folder = process.env['PEER_DIR'] ?? join(homedir(), '.cache/sluice-peer');
    const environment = {
      ...process.env,
      ...services.environment(),
      PEER_DIR: folder,
      PEER_PORT: String(port),
    };
    const started = await run<PeerStart>('bash', [script('java-connect.sh'), 'start'], environment);
    const pid = Number(await readFile(join(folder, 'run/pid'), 'utf8'));
    return new JavaPeer(services, environment, port, pid, started);
  }

  /** Runs the JDBC sink with 2 tasks from a topic of envelopes into an existing table, with its optimal batch sizes. */
  async sink({ topic, table, arrived = table, mode, rows }: PeerJob): Promise<PeerRun> {
    const services = this.#services;
    const { host, port, user, password, database } = services.database;
    const rest = new ConnectRest(this.url);
    const name = `${topic}-${String(Date.now())}`;
    const cpuBefore = await cpuSecondsOf(this.pid);
    await rest.create(name, {
      'connector.class': 'io.debezium.connector.jdbc.JdbcSinkConnector',
      'tasks.max': '2',
      topics: topic,
      'connection.url': `jdbc:postgresql://${host}:${String(port)}/${database}?reWriteBatchedInserts=true`,
      'connection.username': user,
      'connection.password': password,
      'insert.mode': mode,
      'primary.key.mode': 'record_value',
      'primary.key.fields': 'id',
      'schema.evolution': 'none',
      'collection.name.format': table,
      'batch.size': '3000',
      'consumer.override.max.poll.records': '3000',
    });
    try {
      const counted = await untilAll(
        rows,
        () => services.number(`select count(*) from ${arrived}`),
        () => rest.status(name),
      );
      const stretch = (await untilLastCommit(services, arrived)) ?? counted;
      return {
        rows,
        rows_per_s: Math.round(rowsPerSecond(stretch)),
        cpu_s_per_million: rounded((((await cpuSecondsOf(this.pid)) - cpuBefore) * 1e6) / rows),
        peak_rss_mb: await peakRssMbOf(this.pid),
      };
    } finally {
      await rest.delete(`/connectors/${name}`);
    }
  }

  /** Runs the snapshot of the PostgreSQL source, from a table into a topic with one partition. */
  async snapshot(table: string, rows: number): Promise<PeerRun> {
    const args = [script('debezium-snapshot.mjs'), table, String(rows)];
    const figures = await run<PeerRun>(process.execPath, args, this.#environment);
    await this.#dropSlots();
    return complete(figures, rows);
  }

  async stop(): Promise<void> {
    await promisify(execFile)('bash', [script('java-connect.sh'), 'stop'], { env: this.#environment });
    process.off('exit', this.#end);
    await until(() => !existsSync(`/proc/${String(this.pid)}`), 'the Java worker has ended');
    await this.#dropSlots();
    const admin = createKafkaClient({ 'bootstrap.servers': this.#services.bootstrapServers }, silentLogger).admin();
    await admin.deleteTopics(['configs', 'offsets', 'status'].map((kind) => `peer-${String(this.#port)}-${kind}`));
    await admin.close();
  }

  /** Drops replication slots: they would retain the server's log and prevent the database from being dropped. */
  async #dropSlots(): Promise<void> {
    await this.#services.query(
      `select pg_drop_replication_slot(slot_name) from pg_replication_slots
        where database = current_database() and slot_name ~ '^peer[0-9]+$' and not active`,
    );
  }
}

function script(name: string): string {
  const folder = resolve(projectRoot, process.env['BENCH_PEER_DIR'] ?? '../shared/bench/peer');
  const file = join(folder, name);
  if (!existsSync(file))
    throw new Error(`--peers needs ${file}; BENCH_PEER_DIR names the folder of the peers' scripts`);
  return file;
}

/** Runs a script and returns its figures, which are in the last line that it prints. */
async function run<T>(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<T> {
  const { stdout } = await promisify(execFile)(command, args, { env, cwd: projectRoot });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
}

function complete(figures: PeerRun, rows: number): PeerRun {
  if (figures.rows >= rows) return figures;
  throw new Error(`the peer moved ${String(figures.rows)} of ${String(rows)} rows`);
}
