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

/** What all threads of a worker are started with. */
export interface ThreadSurroundings {
  readonly properties: Readonly<Record<string, string>>;
  readonly mode: ThreadData['mode'];
  readonly exactlyOnceGroup: ThreadData['exactlyOnceGroup'];
  readonly logLevels: LogLevels;
  readonly secrets: SecretMask;
  readonly logger: Logger;
  /** The thread is in it until it has ended. */
  readonly threads: ThreadList;
}

export interface ThreadOptions {
  /** What it is for, as log lines say it. */
  readonly purpose: string;
  /** The module that runs in it. */
  readonly entry: URL;
  /** Limit of its heap; absent: that of Node. */
  readonly memoryMaxMb?: number | undefined;
}

/**
 * Node's default is 48 MB. With 8 MB a worker has 60 to 130 MB less; sinks use as much CPU, the database source a third more
 * (test/bench/RESULTS.md).
 */
const YOUNG_GENERATION_MB = 8;
/** A thread that cannot be ended, because it waits in a system call, is left behind after this time. */
const TERMINATE_MS = 5000;

/**
 * One thread of this worker, seen from the main thread: starting -> up (`ready`) -> ended. What runs in it logs through the
 * main thread's logger. `Functions`: what it answers; `Control`: what the main thread answers to it.
 */
export class WorkerThread<
  Functions extends ThreadFunctions,
  Control extends ControlFunctions,
> implements RunningThread {
  readonly thread: number;
  readonly purpose: string;
  readonly board = new ThreadBoard();
  readonly calls: ThreadCalls<Control, Functions>;
  /** For the debugger. */
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

  constructor(
    options: ThreadOptions,
    surroundings: ThreadSurroundings,
    control: Omit<Control, keyof ControlFunctions>,
  ) {
    const { logLevels, secrets, logger, threads } = surroundings;
    this.thread = threads.takeNumber();
    this.purpose = options.purpose;
    this.#logger = logger;
    this.#threads = threads;
    const data: ThreadData = {
      thread: this.thread,
      properties: surroundings.properties,
      mode: surroundings.mode,
      exactlyOnceGroup: surroundings.exactlyOnceGroup,
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
        void this.end({ kind: 'error', reason: `it could not start: ${error.message}`, error });
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

  /** As log lines name it: `2 (tasks)`. */
  get #title(): string {
    return `${String(this.thread)} (${this.purpose})`;
  }

  /** What was written last of a task of the thread, or of whichever was last. */
  place(task?: string): Place | undefined {
    return readPlace(this.#places, task);
  }

  figures(): Promise<ThreadFigures> {
    return (this.calls as unknown as ThreadCalls<Control, ThreadFunctions>).call('figures');
  }

  /** Ends the thread with all that it has open. From the call on, nothing in it may write. */
  async end(why: ThreadEnd | string): Promise<ThreadEnd> {
    this.#asked ??= typeof why === 'string' ? { kind: 'asked', reason: why, error: undefined } : why;
    this.board.withdraw();
    // What it has counted is not lost with it; of a thread that hangs nothing comes.
    if (isOrderly(this.#asked)) await this.#threads.ask(this);
    if (!(await within(this.worker.terminate(), TERMINATE_MS))) {
      this.#logger.error(
        `Thread ${this.#title} cannot be ended while it waits in a system call; it may not write any more`,
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

/** The stack of a thread that hangs is in a line of its own, and Node gives none for a full heap. */
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

/** From its sources the worker runs by a loader, which threads do not inherit. */
function openWorker(entry: URL, options: OpenOptions): Worker {
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, options);
  // Tests load this module by `require`, where there is no `import.meta.resolve`.
  const folder = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const loader = JSON.stringify(new URL('./dist/esm/api/index.mjs', folder).href);
  const start = `import(${loader}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
  return new Worker(start, { ...options, eval: true });
}
