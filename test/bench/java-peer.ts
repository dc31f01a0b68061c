import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { until } from '../support/until.ts';
import type { BenchServices } from './bench-services.ts';
import { projectRoot } from './worker-under-test.ts';

/** What the peers' scripts print of a run. */
export interface PeerRun {
  readonly rows: number;
  readonly rows_per_s: number;
  readonly cpu_s_per_million: number;
  readonly peak_rss_mb: number;
}

interface PeerStart {
  readonly start_ms: number;
  readonly idle_rss_mb: number;
}

/**
 * Kafka Connect in Java with the Debezium connectors, by the scripts in `BENCH_PEER_DIR` (default: ../shared/bench/peer beside the
 * project). They need Java 17, Maven, psql and curl, and fetch 123 MB of jars into `PEER_DIR` (default: ~/.cache/sluice-peer)
 * the first time.
 */
export class JavaPeer {
  readonly url: string;
  readonly pid: number;
  readonly started: PeerStart;
  readonly #services: BenchServices;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #port: number;
  /** It is in a session of its own, and would outlive this process. */
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

  /** The JDBC sink from this topic of envelopes into a table that exists and is empty. */
  async sink(topic: string, table: string, rows: number, mode: 'insert' | 'upsert', tasks = 2): Promise<PeerRun> {
    const args = [script('java-connect.sh'), 'sink', topic, table, String(rows), mode, String(tasks)];
    return complete(await run<PeerRun>('bash', args, this.#environment), rows);
  }

  /** The PostgreSQL source's snapshot of a table into a topic of one partition. */
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

  /** A slot would hold the server's log and keep its database from being dropped. */
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

/** The last line that a script prints is its figures. */
async function run<T>(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<T> {
  const { stdout } = await promisify(execFile)(command, args, { env, cwd: projectRoot });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
}

function complete(figures: PeerRun, rows: number): PeerRun {
  if (figures.rows >= rows) return figures;
  throw new Error(`the peer moved ${String(figures.rows)} of ${String(rows)} rows`);
}
