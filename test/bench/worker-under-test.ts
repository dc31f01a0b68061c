import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/dev/ports.ts';
import { ConnectRest } from '../support/rest.ts';
import { until } from '../support/until.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** The built worker in a process of its own, whose CPU and memory are read from the system. */
export class WorkerUnderTest {
  readonly rest: ConnectRest;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(rest: ConnectRest, child: ChildProcess, folder: string) {
    this.rest = rest;
    this.#child = child;
    this.#folder = folder;
  }

  /** Needs `npm run build`, which `npm ci` does. */
  static async start(
    bootstrapServers: string,
    further: Readonly<Record<string, string>> = {},
  ): Promise<WorkerUnderTest> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const port = await freePort();
    const group = `bench-${String(port)}-${String(Date.now())}`;
    const properties = {
      'bootstrap.servers': bootstrapServers,
      'group.id': group,
      'config.storage.topic': `${group}-configs`,
      'offset.storage.topic': `${group}-offsets`,
      'status.storage.topic': `${group}-status`,
      'config.storage.replication.factor': 1,
      'offset.storage.replication.factor': 1,
      'status.storage.replication.factor': 1,
      'offset.storage.partitions': 1,
      'status.storage.partitions': 1,
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
      listeners: `http://127.0.0.1:${String(port)}`,
      'log.level': 'WARN',
      ...further,
    };
    const file = join(folder, 'worker.properties');
    await writeFile(file, JSON.stringify(properties));
    const child = spawn(process.execPath, ['dist/src/cli.js', 'start', file], {
      cwd: projectRoot,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const rest = new ConnectRest(`http://127.0.0.1:${String(port)}`);
    await until(async () => (await rest.get('/health')).status === 200, 'the worker is healthy');
    return new WorkerUnderTest(rest, child, folder);
  }

  async cpuSeconds(): Promise<number> {
    const stat = await readFile(`/proc/${String(this.#child.pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  /** The most it ever had, in MiB. */
  async peakRssMb(): Promise<number> {
    const status = await readFile(`/proc/${String(this.#child.pid)}/status`, 'utf8');
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
