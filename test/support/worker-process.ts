import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toError } from '../../src/errors.ts';
import { propertiesText } from '../../src/dev/kafka/properties.ts';
import { freePort } from '../../src/dev/ports.ts';
import { ConnectRest } from './rest.ts';
import { broker, uniqueName } from './services.ts';
import { until } from './until.ts';
import { builtCli } from './worker-build.ts';

export interface WorkerOptions {
  /** Properties that are added to `defaultProperties` or override them. */
  readonly properties?: Readonly<Record<string, string>>;
  /**
   * Connectors of a standalone worker, each as a configuration with its `name`, or as `{name, config, …}`. If absent,
   * the worker is distributed.
   */
  readonly standalone?: readonly Readonly<Record<string, unknown>>[];
  readonly environment?: Readonly<Record<string, string>>;
  /** `user:password` for basic authentication. */
  readonly login?: string | undefined;
  /** Maximum time until `/health` returns 200. */
  readonly readyTimeoutMs?: number;
}

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
/** Usually, a start takes a second. It takes many seconds if other things run at the same time. */
const READY_MS = 60_000;
/** The first lines of a connector that hangs may be far from the end of the log. */
const PRINTED_LINES = 200;
const ANSWER_MS = 2000;
const running = new Set<WorkerProcess>();

/**
 * A Sluice worker as users run it: `sluice start` (or `standalone`) in a process of its own, with a properties file.
 * Group, topics, port and properties stay the same from start to start.
 *
 * stopped --start--> running --terminate, kill--> stopped --discard--> gone
 */
export class WorkerProcess {
  readonly url: string;
  readonly rest: ConnectRest;
  readonly properties: Readonly<Record<string, string>>;
  readonly #options: WorkerOptions;
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #log = '';

  private constructor(options: WorkerOptions, folder: string, port: number, properties: Record<string, string>) {
    this.url = `http://127.0.0.1:${String(port)}`;
    this.rest = new ConnectRest(this.url, options.login);
    this.properties = properties;
    this.#options = options;
    this.#folder = folder;
  }

  /** Starts a worker and waits until its `/health` returns 200. */
  static async start(options: WorkerOptions = {}): Promise<WorkerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-worker-'));
    const port = await freePort();
    const { 'bootstrap.servers': servers } = options.properties ?? {};
    const properties = { ...(await defaultProperties(port, folder, servers)), ...options.properties };
    const worker = new WorkerProcess(options, folder, port, properties);
    try {
      await worker.start();
      return worker;
    } catch (error) {
      await worker.discard();
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Everything that the worker has printed in all its runs. */
  get log(): string {
    return this.#log;
  }

  /** Starts the worker again. During this run, the given properties override those of the worker. */
  async start(properties: Readonly<Record<string, string>> = {}): Promise<void> {
    const child = spawn(process.execPath, [await builtCli(), ...(await this.#arguments(properties))], {
      cwd: projectRoot,
      env: { ...withoutConnect(process.env), ...this.#options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    running.add(this);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log += text;
      });
    }
    const healthy = async (): Promise<boolean> => {
      if (hasEnded(child)) return true;
      return (await this.rest.get('/health')).status === 200;
    };
    const timeoutMs = this.#options.readyTimeoutMs ?? READY_MS;
    try {
      await until(healthy, `GET ${this.url}/health answers 200`, { timeoutMs });
    } catch (error) {
      const health = await said(this, '/health');
      throw new Error(`The worker did not become healthy; ${health}; its log ends:\n${this.logTail()}`, {
        cause: error,
      });
    }
    if (hasEnded(child)) throw new Error(`The worker ended while starting; its log ends:\n${this.logTail()}`);
  }

  /** Sends SIGTERM. When the process has ended, resolves with its exit code or the name of the signal. */
  async terminate(): Promise<number | string> {
    return this.#end('SIGTERM');
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends the worker in any state and removes its files. */
  async discard(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  logTail(lines = 40): string {
    return this.#log.trimEnd().split('\n').slice(-lines).join('\n');
  }

  /** Returns the last lines of the log that contain a name. */
  logOf(name: string, lines: number): readonly string[] {
    const named = this.#log.split('\n').filter((line) => line.includes(name));
    return named.slice(-lines);
  }

  async #end(signal: NodeJS.Signals): Promise<number | string> {
    const child = this.#child;
    if (child === undefined) return 0;
    if (!hasEnded(child)) {
      child.kill(signal);
      await once(child, 'exit');
    }
    running.delete(this);
    return child.exitCode ?? child.signalCode ?? 'unknown';
  }

  async #arguments(properties: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const file = join(this.#folder, 'worker.properties');
    await writeFile(file, propertiesText({ ...this.properties, ...properties }));
    const { standalone } = this.#options;
    if (standalone === undefined) return ['start', file];
    const connectors = standalone.map(async (config, index) => {
      const isFlat = config['config'] === undefined;
      const connectorFile = join(this.#folder, `connector-${String(index)}.${isFlat ? 'properties' : 'json'}`);
      await writeFile(
        connectorFile,
        isFlat ? propertiesText(config as Record<string, string>) : JSON.stringify(config),
      );
      return connectorFile;
    });
    return ['standalone', file, ...(await Promise.all(connectors))];
  }
}

/**
 * Called if a test has failed. Prints the health, the group, the connectors and the end of the log of every running
 * worker.
 */
export async function printWorkers(title: string): Promise<void> {
  for (const worker of running) {
    const answers = await Promise.all(
      ['/health', '/cluster', '/connectors', '/connectors?expand=status'].map((path) => said(worker, path)),
    );
    const lines = [...answers, 'its log ends:', worker.logTail(PRINTED_LINES)];
    process.stdout.write(`\n--- worker ${worker.url} in "${title}"\n${lines.join('\n')}\n---\n`);
  }
}

/**
 * Returns the response to `GET path` without stack traces, which are in the log. Does not wait for a worker that hangs.
 */
async function said({ url }: WorkerProcess, path: string): Promise<string> {
  try {
    const response = await fetch(url + path, { signal: AbortSignal.timeout(ANSWER_MS) });
    const text = (await response.text()).replaceAll(/"trace":"(?:[^"\\]|\\.)*"/g, '"trace":"…"');
    return `${path}: ${String(response.status)} ${text}`;
  } catch (error) {
    return `${path}: ${toError(error).message}`;
  }
}

/** Returns the group of a worker and its internal topics, on one broker. */
export function groupProperties(group: string): Record<string, string> {
  return {
    'group.id': group,
    'config.storage.topic': `${group}-configs`,
    'offset.storage.topic': `${group}-offsets`,
    'offset.storage.partitions': '1',
    'status.storage.topic': `${group}-status`,
    'status.storage.partitions': '1',
    'config.storage.replication.factor': '1',
    'offset.storage.replication.factor': '1',
    'status.storage.replication.factor': '1',
  };
}

/**
 * Returns properties of a worker in its own group. It commits offsets every second and uses the shared broker unless
 * `servers` is given.
 */
async function defaultProperties(port: number, folder: string, servers?: string): Promise<Record<string, string>> {
  return {
    'bootstrap.servers': servers ?? (await broker()).bootstrapServers,
    ...groupProperties(uniqueName('worker')),
    'offset.storage.file.filename': join(folder, 'offsets'),
    'offset.flush.interval.ms': '1000',
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    listeners: `http://127.0.0.1:${String(port)}`,
  };
}

function withoutConnect(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('CONNECT_')));
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
