import { Backoff } from '../async/backoff.ts';
import { sleep } from '../async/sleep.ts';
import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { HangWatch } from './hang-watch.ts';
import type { ControlFunctions, ServiceAddresses, ServiceThreadFunctions } from './thread-protocol.ts';
import { WorkerThread, type ThreadContext } from './worker-thread.ts';

export interface ServiceThreadOptions {
  /** Names of the services in log lines. */
  readonly names: readonly string[];
  /** `task.hang.timeout.ms` */
  readonly hangTimeoutMs: number;
  readonly entry: URL;
}

type Thread = WorkerThread<ServiceThreadFunctions, ControlFunctions>;

const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 60_000;
/** If the services run for this time without a failure, the back-off is reset. */
const STABLE_MS = 60_000;
/**
 * A thread that hangs during shutdown is terminated after this time or after `task.hang.timeout.ms`, if that is
 * shorter.
 */
const STOP_HANG_MS = 5000;

/**
 * The thread in which the services of the worker run (property `services`). If it ends unexpectedly, the services are
 * restarted in a new thread, at the same addresses.
 *
 *   new --start--> running <--> waiting to restart
 *   any --stop--> stopped
 */
export class ServiceThread {
  readonly #options: ServiceThreadOptions;
  readonly #context: ThreadContext;
  readonly #logger: Logger;
  readonly #backoff = new Backoff(MIN_BACKOFF_MS, MAX_BACKOFF_MS);
  readonly #stopping = new AbortController();
  #hangs: HangWatch;
  #thread: Thread | undefined;
  #addresses: ServiceAddresses = {};
  /** Resolves when the services are no longer restarted. */
  #supervision: Promise<void> = Promise.resolve();

  constructor(options: ServiceThreadOptions, context: ThreadContext) {
    this.#options = options;
    this.#context = context;
    this.#logger = context.logger;
    this.#hangs = this.#watch(options.hangTimeoutMs);
  }

  /** Resolves with the addresses of the services; rejects with the error of a service that failed to start. */
  async start(): Promise<ServiceAddresses> {
    try {
      this.#supervision = this.#supervise(await this.#open());
      return this.#addresses;
    } catch (error) {
      this.#hangs.stop();
      throw error;
    }
  }

  /** Stops the services without a time limit, then ends the thread. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#hangs.stop();
    this.#hangs = this.#watch(Math.min(STOP_HANG_MS, this.#options.hangTimeoutMs));
    const thread = this.#thread;
    try {
      await thread?.calls.call('stop');
    } catch (error) {
      // If the thread has ended, the error was already logged.
      if (thread?.isUp === true) throw error;
    } finally {
      await thread?.end('the worker stops');
      this.#hangs.stop();
      await this.#supervision;
    }
  }

  #watch(timeoutMs: number): HangWatch {
    return new HangWatch(timeoutMs, () => (this.#thread === undefined ? [] : [this.#thread]), this.#logger);
  }

  async #open(): Promise<Thread> {
    this.#stopping.signal.throwIfAborted();
    const { entry } = this.#options;
    const thread: Thread = new WorkerThread({ purpose: 'services', entry }, this.#context, {});
    this.#thread = thread;
    try {
      this.#addresses = await thread.calls.call('start', this.#addresses);
      return thread;
    } catch (error) {
      await thread.end('its services could not be started');
      throw error;
    }
  }

  async #supervise(first: Thread): Promise<void> {
    const { signal } = this.#stopping;
    const names = this.#options.names.join(', ');
    const end = await first.ended;
    let why = `has ended with its thread (${end.reason})`;
    while (!signal.aborted) {
      const backoffMs = this.#backoff.nextMs();
      this.#logger.error(`${names} ${why}; restarting in ${(backoffMs / 1000).toFixed(1)} s`);
      try {
        await sleep(backoffMs, signal);
        const thread = await this.#open();
        const upAtMs = performance.now();
        this.#logger.info(`${names} is available again at ${Object.values(this.#addresses).join(', ')}`);
        why = `has ended with its thread (${(await thread.ended).reason})`;
        if (performance.now() - upAtMs >= STABLE_MS) this.#backoff.reset();
      } catch (error) {
        why = `could not be restarted: ${reasonOf(toError(error))}`;
      }
    }
  }
}

function reasonOf(error: Error): string {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return error.message;
  return `${error.message}. A thread that is blocked in a system call cannot be terminated and keeps its address`;
}
