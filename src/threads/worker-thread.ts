import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker, type ResourceLimits } from 'node:worker_threads';
import { within } from '../async/within.ts';
import { toError } from '../errors.ts';
import type { LogLevels } from '../observe/log-levels.ts';
import { logRelay } from '../observe/log-relay.ts';
import type { Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { ThreadFigures } from '../observe/thread-figures.ts';
import { readPlace, WORK_PLACES_BYTES, type Place } from '../observe/work-place.ts';
import { ThreadBoard } from './thread-board.ts';
import { ThreadCalls, unpackError } from './thread-calls.ts';
import { isOrderly, type RunningThread, type ThreadEnd } from './running-thread.ts';
import type { ThreadList } from './thread-list.ts';
import type { ControlFunctions, ThreadData, ThreadFunctions } from './thread-protocol.ts';

/** Settings that all threads of a worker share. */
export interface ThreadContext {
  readonly properties: Readonly<Record<string, string>>;
  readonly mode: ThreadData['mode'];
  readonly exactlyOnceGroup: ThreadData['exactlyOnceGroup'];
  readonly logLevels: LogLevels;
  readonly secrets: SecretMask;
  readonly logger: Logger;
  /** Contains the thread until it has ended. */
  readonly threads: ThreadList;
}

export interface ThreadOptions {
  /** Purpose of the thread, as shown in log lines. */
  readonly purpose: string;
  /** The module that the thread runs. */
  readonly entry: URL;
  /** Heap limit in MB; absent for Node's default. */
  readonly memoryMaxMb?: number | undefined;
}

/**
 * Size of the young generation of the heap. Node's default is 48 MB. With 8 MB a worker uses 60 to 130 MB less, and tasks use
 * about the same CPU time (test/bench/RESULTS.md).
 */
const YOUNG_GENERATION_MB = 8;
/** If a thread cannot be terminated because it is blocked in a system call, it is abandoned after this time. */
const TERMINATE_MS = 5000;

/**
 * A worker thread, as seen from the main thread. States: starting -> up (`ready`) -> ended. Its log lines are passed to the
 * main thread's logger. `Functions` contains the functions of the thread, and `Control` those of the main thread.
 */
export class WorkerThread<
  Functions extends ThreadFunctions,
  Control extends ControlFunctions,
> implements RunningThread {
  readonly thread: number;
  readonly purpose: string;
  readonly board = new ThreadBoard();
  readonly calls: ThreadCalls<Control, Functions>;
  /** Used by the inspector. */
  readonly worker: Worker;
  readonly startedAtMs = Date.now();
  readonly ended: Promise<ThreadEnd>;
  #onEnded: (end: ThreadEnd) => void = () => undefined;
  readonly #places = new SharedArrayBuffer(WORK_PLACES_BYTES);
  readonly #logger: Logger;
  readonly #threads: ThreadList;
  #asked: ThreadEnd | undefined;
  #isUp = false;
  #hasEnded = false;

  constructor(options: ThreadOptions, context: ThreadContext, control: Omit<Control, keyof ControlFunctions>) {
    const { logLevels, secrets, logger, threads } = context;
    this.thread = threads.takeNumber();
    this.purpose = options.purpose;
    this.#logger = logger;
    this.#threads = threads;
    const data: ThreadData = {
      thread: this.thread,
      properties: context.properties,
      mode: context.mode,
      exactlyOnceGroup: context.exactlyOnceGroup,
      board: this.board.buffer,
      places: this.#places,
      logLevels: logLevels.explicit(),
      connectorLogLevels: logLevels.ofConnectors(),
      secrets: secrets.values(),
    };
    const resourceLimits: ResourceLimits = {
      maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      ...(options.memoryMaxMb === undefined ? {} : { maxOldGenerationSizeMb: options.memoryMaxMb }),
    };
    this.worker = openWorker(options.entry, { workerData: data, resourceLimits, name: options.purpose });
    const relay = logRelay(logger.child({ thread: this.thread }));
    const common: ControlFunctions = {
      ready: () => {
        this.#isUp = true;
        logger.info(`Thread ${this.#title} started in ${String(Date.now() - this.startedAtMs)} ms`);
      },
      failed: (packed) => {
        const error = unpackError(packed);
        void this.end({ kind: 'error', reason: `it failed to start: ${error.message}`, error });
      },
      log: relay,
      loggerKnown: (name) => {
        logLevels.know(name);
      },
    };
    this.calls = new ThreadCalls<Control, Functions>(this.worker, { ...control, ...common } as unknown as Control);
    const stopSharing = [
      logLevels.onSet((name, level) => {
        this.calls.tell('setLogLevel' as never, ...([name, level] as never));
      }),
      logLevels.onConnectorSet((connector, level) => {
        this.calls.tell('setConnectorLogLevel' as never, ...([connector, level] as never));
      }),
      secrets.onAdd((value) => {
        this.calls.tell('addSecret' as never, ...([value] as never));
      }),
    ];
    this.ended = new Promise<ThreadEnd>((resolve) => (this.#onEnded = resolve)).then((end) => {
      this.#hasEnded = true;
      this.board.withdraw();
      threads.remove(this, end);
      for (const stop of stopSharing) stop();
      const text = `Thread ${this.#title} ended: ${end.reason}`;
      this.calls.close(new Error(text));
      logEnd(logger, end, text);
      return end;
    });
    threads.add(this);
    void this.#untilExit(options).then((end) => {
      threads.freeNumber(this.thread);
      this.#onEnded(end);
    });
  }

  get isUp(): boolean {
    return this.#isUp && !this.#hasEnded;
  }

  get isEnding(): boolean {
    return this.#asked !== undefined || this.#hasEnded;
  }

  /** Title in log lines, such as `2 (tasks)`. */
  get #title(): string {
    return `${String(this.thread)} (${this.purpose})`;
  }

  /** The last recorded activity of the given task, or, without `task`, of the most recently active one. */
  place(task?: string): Place | undefined {
    return readPlace(this.#places, task);
  }

  figures(): Promise<ThreadFigures> {
    return (this.calls as unknown as ThreadCalls<Control, ThreadFunctions>).call('figures');
  }

  /** Terminates the thread and all its resources. From this call on, the thread must not write. */
  async end(why: ThreadEnd | string): Promise<ThreadEnd> {
    this.#asked ??= typeof why === 'string' ? { kind: 'asked', reason: why, error: undefined } : why;
    this.board.withdraw();
    // Requests the final counts of the thread. A hanging thread would not respond, so it is not asked.
    if (isOrderly(this.#asked)) await this.#threads.ask(this);
    if (!(await within(this.worker.terminate(), TERMINATE_MS))) {
      this.#logger.error(
        `Thread ${this.#title} cannot be terminated while it is blocked in a system call; it can no longer write`,
      );
      this.#onEnded(this.#asked);
    }
    return this.ended;
  }

  async #untilExit({ memoryMaxMb }: ThreadOptions): Promise<ThreadEnd> {
    let failure: Error | undefined;
    this.worker.on('error', (thrown) => {
      failure ??= toError(thrown);
    });
    const code = await new Promise<number>((resolve) => this.worker.once('exit', resolve));
    if (this.#asked !== undefined) return this.#asked;
    if (failure === undefined) return { kind: 'exit', reason: `it exited with code ${String(code)}`, error: undefined };
    if ((failure as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') {
      return { kind: 'error', reason: failure.message, error: failure };
    }
    const limit = memoryMaxMb === undefined ? 'its limit' : `its limit of ${String(memoryMaxMb)} MB`;
    return { kind: 'memory', reason: `its heap reached ${limit}`, error: failure };
  }
}

/**
 * Logs the end of a thread. The stack of a hanging thread was logged separately, and Node provides no stack for a full heap.
 */
function logEnd(logger: Logger, end: ThreadEnd, text: string): void {
  if (end.kind === 'error') logger.error({ err: end.error }, text);
  else if (end.kind === 'overdue') logger.warn(text);
  else logger[isOrderly(end) ? 'info' : 'error'](text);
}

interface OpenOptions {
  readonly workerData: ThreadData;
  readonly resourceLimits: ResourceLimits;
  readonly name: string;
}

/**
 * Starts a thread. If the worker runs from sources, each thread needs a loader, because threads do not inherit that of the main
 * thread.
 */
function openWorker(entry: URL, options: OpenOptions): Worker {
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, options);
  // Tests load this module with `require`, where `import.meta.resolve` is unavailable.
  const folder = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = JSON.stringify(new URL('./dist/esm/api/index.mjs', folder).href);
  const start = `import(${loader}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
  return new Worker(start, { ...options, eval: true });
}
