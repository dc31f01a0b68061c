import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { ConnectRest } from '../support/rest.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';
import { cpuSecondsOf, mainThreadSecondsOf, peakRssMbOf, rssMbOf } from './process-usage.ts';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Twice the time that tasks have for an orderly stop. */
const STOP_MS = 10_000;

export interface WorkerSettings {
  /** Properties in addition to the worker's own. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Command-line options of Node. */
  readonly nodeFlags?: readonly string[];
}

/** The built worker in its own process, whose CPU and memory are read from the system. */
export class WorkerUnderTest {
  readonly rest: ConnectRest;
  /** Milliseconds from the start of the process to the first 200 of `/health`. */
  readonly startMs: number;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #bootstrapServers: string;
  readonly #topics: readonly string[];

  private constructor(started: Started) {
    this.rest = started.rest;
    this.startMs = started.startMs;
    this.pid = started.child.pid ?? 0;
    this.#child = started.child;
    this.#folder = started.folder;
    this.#bootstrapServers = started.bootstrapServers;
    this.#topics = started.topics;
  }

  /** Starts the build that tests also use, or the one that `BENCH_CLI` names. */
  static async start(bootstrapServers: string, settings: WorkerSettings = {}): Promise<WorkerUnderTest> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const port = await freePort();
    const group = `bench-${String(port)}-${String(Date.now())}`;
    const properties = workerProperties(bootstrapServers, group, port);
    const file = join(folder, 'worker.json');
    await writeFile(file, JSON.stringify({ ...properties, ...settings.properties }));
    const cli = process.env['BENCH_CLI'] ?? (await builtCli());
    const began = performance.now();
    const child = spawn(process.execPath, [...(settings.nodeFlags ?? []), cli, 'start', file], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const end = (): void => void child.kill();
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const rest = new ConnectRest(`http://127.0.0.1:${String(port)}`);
    const healthy = async (): Promise<boolean> => {
      if (child.exitCode !== null) return true;
      return (await rest.get('/health')).status === 200;
    };
    await until(healthy, 'the worker is healthy', { everyMs: 10 });
    if (child.exitCode !== null) throw new Error('the worker did not start');
    const topics = ['configs', 'offsets', 'status'].map((kind) => `${group}-${kind}`);
    return new WorkerUnderTest({ rest, startMs: performance.now() - began, child, folder, bootstrapServers, topics });
  }

  async cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.pid);
  }

  /** CPU time of the main thread, which does the shared work of the task threads. */
  async mainThreadSeconds(): Promise<number> {
    return mainThreadSecondsOf(this.pid);
  }

  /** Current resident memory in MiB. */
  async rssMb(): Promise<number> {
    return rssMbOf(this.pid);
  }

  /** Peak resident memory in MiB. */
  async peakRssMb(): Promise<number> {
    return peakRssMbOf(this.pid);
  }

  /** Ends the worker, even if it hangs, and deletes its topics and groups from the broker. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.kill('SIGTERM')) {
      const killing = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
      await once(this.#child, 'exit');
      clearTimeout(killing);
    }
    await rm(this.#folder, { recursive: true, force: true });
    const admin = createKafkaClient({ 'bootstrap.servers': this.#bootstrapServers }, silentLogger).admin();
    await admin.deleteTopics(this.#topics);
    await admin.close();
  }
}

interface Started {
  readonly rest: ConnectRest;
  readonly startMs: number;
  readonly child: ChildProcess;
  readonly folder: string;
  readonly bootstrapServers: string;
  readonly topics: readonly string[];
}

function workerProperties(bootstrapServers: string, group: string, port: number): Record<string, string> {
  return {
    'bootstrap.servers': bootstrapServers,
    'group.id': group,
    'config.storage.topic': `${group}-configs`,
    'offset.storage.topic': `${group}-offsets`,
    'status.storage.topic': `${group}-status`,
    'config.storage.replication.factor': '1',
    'offset.storage.replication.factor': '1',
    'status.storage.replication.factor': '1',
    'offset.storage.partitions': '1',
    'status.storage.partitions': '1',
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
    listeners: `http://127.0.0.1:${String(port)}`,
    'log.level': 'WARN',
  };
}
