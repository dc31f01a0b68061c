import { Backoff } from '../async/backoff.ts';
import { sleep } from '../async/sleep.ts';
import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { HangWatch } from './hang-watch.ts';
import type { ControlFunctions, ServiceAddresses, ServiceThreadFunctions } from './thread-protocol.ts';
import { WorkerThread, type ThreadSurroundings } from './worker-thread.ts';

export interface ServiceThreadOptions {
  /** The services that run in the thread, for log lines. */
  readonly names: readonly string[];
  /** `task.hang.timeout.ms` */
  readonly hangTimeoutMs: number;
  readonly entry: URL;
}

type Thread = WorkerThread<ServiceThreadFunctions, ControlFunctions>;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;
/** After services have answered for so long, the next pause is the first one again. */
const WELL_MS = 60_000;
/** A thread that hangs while the worker stops is ended after this time. */
const STOP_HANG_MS = 5000;

/**
 * The thread in which the services run. When it ends without being asked to, they start again in a new one, at the same addresses.
 *
 * new --start--> running <--> pausing --stop--> stopped
 */
export class ServiceThread {
  readonly #options: ServiceThreadOptions;
  readonly #surroundings: ThreadSurroundings;
  readonly #logger: Logger;
  readonly #pauses = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  readonly #stopping = new AbortController();
  #hangs: HangWatch;
  #thread: Thread | undefined;
  #addresses: ServiceAddresses = {};
  /** Resolves when they are not started again. */
  #kept: Promise<void> = Promise.resolve();

  constructor(options: ServiceThreadOptions, surroundings: ThreadSurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    this.#logger = surroundings.logger;
    this.#hangs = this.#watch(options.hangTimeoutMs);
  }

  /** Resolves with the addresses of the services; rejects with the error of the one that could not start. */
  async start(): Promise<ServiceAddresses> {
    try {
      this.#kept = this.#keep(await this.#open());
      return this.#addresses;
    } catch (error) {
      this.#hangs.stop();
      throw error;
    }
  }

  /** The services take the time that they need to stop; then the thread ends. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#hangs.stop();
    this.#hangs = this.#watch(Math.min(STOP_HANG_MS, this.#options.hangTimeoutMs));
    const thread = this.#thread;
    try {
      await thread?.calls.call('stop');
    } catch (error) {
      // If the thread has ended, that was logged.
      if (thread?.isUp === true) throw error;
    } finally {
      await thread?.end('the worker stops');
      this.#hangs.stop();
      await this.#kept;
    }
  }

  #watch(timeoutMs: number): HangWatch {
    return new HangWatch(timeoutMs, () => (this.#thread === undefined ? [] : [this.#thread]), this.#logger);
  }

  async #open(): Promise<Thread> {
    this.#stopping.signal.throwIfAborted();
    const { entry } = this.#options;
    const thread: Thread = new WorkerThread({ purpose: 'services', entry }, this.#surroundings, {});
    this.#thread = thread;
    try {
      this.#addresses = await thread.calls.call('start', this.#addresses);
      return thread;
    } catch (error) {
      await thread.end('its services could not be started');
      throw error;
    }
  }

  async #keep(first: Thread): Promise<void> {
    const { signal } = this.#stopping;
    const names = this.#options.names.join(', ');
    const end = await first.ended;
    let why = `has ended with its thread (${end.reason})`;
    while (!signal.aborted) {
      const pauseMs = this.#pauses.nextMs();
      this.#logger.error(`${names} ${why}; it is started again in ${(pauseMs / 1000).toFixed(1)} s`);
      try {
        await sleep(pauseMs, signal);
        const thread = await this.#open();
        const upAtMs = performance.now();
        this.#logger.info(`${names} answers again at ${Object.values(this.#addresses).join(', ')}`);
        why = `has ended with its thread (${(await thread.ended).reason})`;
        if (performance.now() - upAtMs >= WELL_MS) this.#pauses.reset();
      } catch (error) {
        why = `could not be started again: ${reasonOf(toError(error))}`;
      }
    }
  }
}

function reasonOf(error: Error): string {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return error.message;
  return `${error.message}. A thread that waits in a system call cannot be ended and keeps its address`;
}
