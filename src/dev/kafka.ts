import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ConnectError } from '../errors.ts';
import { chooseLauncher } from './kafka/choose.ts';
import type { Launcher } from './kafka/launcher.ts';
import { answersMetadata } from './kafka/probe.ts';
import type { BrokerExtras, BrokerPlace } from './kafka/properties.ts';
import { freePort, isFree } from './ports.ts';
import type { OnProgress } from './progress.ts';
import { logTail, ServiceProcess } from './service-process.ts';

export interface KafkaOptions {
  /**
   * The data folder, which is created if it is missing. Absent: a folder in a new temporary folder, which `discard`
   * deletes.
   */
  readonly dataDir?: string;
  /** Absent: a free port. */
  readonly port?: number;
  readonly extras?: BrokerExtras;
  /** Default: `<dataDir>.log`. */
  readonly logFile?: string;
  /**
   * Default: `process.env`. KAFKA_HOME, JAVA_HOME and its variants, PATH, XDG_CACHE_HOME and Docker's variables are
   * used.
   */
  readonly environment?: NodeJS.ProcessEnv;
  /** Called for steps that take longer than an ordinary start. */
  readonly onProgress?: OnProgress;
  /** Aborts a pending start. */
  readonly signal?: AbortSignal;
}

const startTimeoutMs = 60_000;
const lingerMs = 10_000;

/**
 * A local Kafka 4 broker (one node, KRaft) at 127.0.0.1. Its port and data stay the same from start to start.
 *
 * stopped --start--> running --stop, kill, parent dies--> stopped;  any --discard--> gone
 */
export class LocalKafka {
  readonly title = 'Kafka';
  readonly port: number;
  readonly dataDir: string;
  readonly logFile: string;
  /** Where the broker's program comes from. */
  readonly origin: Launcher['origin'];
  readonly #throwAway: boolean;
  readonly #launcher: Launcher;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #extras: BrokerExtras | undefined;
  #process: ServiceProcess | undefined;

  private constructor(options: KafkaOptions, dataDir: string, port: number, launcher: Launcher) {
    this.port = port;
    this.dataDir = dataDir;
    this.logFile = options.logFile ?? `${dataDir}.log`;
    this.origin = launcher.origin;
    this.#throwAway = options.dataDir === undefined;
    this.#launcher = launcher;
    this.#environment = options.environment ?? process.env;
    this.#extras = options.extras;
  }

  /** Downloads Kafka if it is missing, prepares the data folder and starts the broker. */
  static async start(options: KafkaOptions = {}): Promise<LocalKafka> {
    const { onProgress, signal } = options;
    const launcher = await chooseLauncher({ environment: options.environment ?? process.env, onProgress, signal });
    const throwAway = options.dataDir === undefined;
    const dataDir = resolve(options.dataDir ?? join(await mkdtemp(join(tmpdir(), 'sluice-kafka-')), 'data'));
    await mkdir(dirname(dataDir), { recursive: true });
    const kafka = new LocalKafka(options, dataDir, options.port ?? (await freePort()), launcher);
    try {
      await kafka.start(signal);
      return kafka;
    } catch (error) {
      if (throwAway) await kafka.discard();
      throw error;
    }
  }

  get bootstrapServers(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  /** Id of the broker's process, or of the Docker client if the broker runs in a container. */
  get pid(): number | undefined {
    return this.running ? this.#process?.pid : undefined;
  }

  get running(): boolean {
    return this.#process?.running === true;
  }

  /** Resolves when the broker serves requests. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.running) return;
    const place = await this.#place();
    await this.#clear();
    await this.#launcher.prepare(place, signal);
    // A broker that was left running by an earlier process gets time to shut down.
    const lingerUntil = Date.now() + lingerMs;
    await this.#untilPortIsFree(lingerUntil, signal);
    for (;;) {
      try {
        await this.#startOnce(place, signal);
        return;
      } catch (error) {
        const lingering = (await logTail(this.logFile)).includes('Failed to acquire lock');
        if (!lingering || Date.now() > lingerUntil) throw error;
        await pause(signal);
      }
    }
  }

  /** Shuts the broker down, and kills it if this takes longer than 2 s. The data stays. */
  async stop(): Promise<void> {
    await this.#process?.stop();
    await this.#clear();
  }

  /** Kills the broker, as `kill -9` does. The data stays. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    await this.#clear();
  }

  /** Kills the broker and deletes its data. */
  async discard(): Promise<void> {
    await this.kill();
    await this.#launcher.deleteData(await this.#place());
    if (this.#throwAway) await rm(dirname(this.dataDir), { recursive: true, force: true, maxRetries: 5 });
  }

  /** Waits until the port is free, because another broker on it would answer the readiness probe. */
  async #untilPortIsFree(deadline: number, signal: AbortSignal | undefined): Promise<void> {
    while (!(await isFree(this.port))) {
      if (Date.now() > deadline) throw new ConnectError(`Kafka cannot be started: port ${String(this.port)} is taken`);
      await pause(signal);
    }
  }

  async #startOnce(place: BrokerPlace, signal: AbortSignal | undefined): Promise<void> {
    const clearance = this.#launcher.clearance?.(place);
    const folder = this.#throwAway ? ['rm', '-rf', '--', dirname(this.dataDir)] : undefined;
    this.#process = await ServiceProcess.spawn({
      title: this.title,
      ...(await this.#launcher.command(place)),
      cwd: dirname(this.dataDir),
      logFile: this.logFile,
      stopSignals: ['SIGTERM', 'SIGKILL'],
      whenOrphaned: clearance ?? folder,
    });
    await this.#process.untilReady(() => answersMetadata(this.port), startTimeoutMs, signal);
  }

  async #clear(): Promise<void> {
    const [command, ...args] = this.#launcher.clearance?.(await this.#place()) ?? [];
    if (command !== undefined) await promisify(execFile)(command, args, { env: this.#environment });
  }

  async #place(): Promise<BrokerPlace> {
    const { listenHost } = this.#launcher;
    return {
      dataDir: this.dataDir,
      port: this.port,
      controllerPort: await freePort(),
      listenHost,
      extras: this.#extras,
    };
  }
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  await delay(100, undefined, signal === undefined ? {} : { signal });
}
