import type { Logger } from './logger.ts';
import { threadCpu } from './thread-cpu.ts';

/** Interval of the watch. The measured time of a turn can be too short by this much. */
const TICK_MS = 20;
/** A turn that takes longer than this is logged as a warning. */
const LONG_TURN_MS = 1000;
const MINUTE_MS = 60_000;
/** The last minute is kept in slots of this length. */
const SLOT_MS = 5000;
/** Maximum number of activities in progress that a warning names. */
const MAX_NAMED = 3;

/** The clocks that the watch reads; tests replace them. */
export interface ThreadClock {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** CPU time so far, in milliseconds. */
  readonly cpuMs: () => number;
  /** Whether the CPU time is that of the thread or of the process. */
  readonly cpuOf: 'thread' | 'process';
}

const THREAD_CLOCK: ThreadClock = {
  nowMs: () => performance.now(),
  cpuMs: () => threadCpu.ms(),
  cpuOf: threadCpu.of,
};

interface Activity {
  readonly name: string;
}

/**
 * Measures how long one turn of the event loop blocks everything else, by how late a timer is called. Remembers which
 * activities were entered during the turn. An activity costs two readings of the clock and no asynchronous hooks; it is
 * a batch or a request, not a record.
 *
 * stopped --start--> watching (for one worker or several) --stop of the last--> stopped
 * @internal
 */
export class EventLoopWatch {
  readonly #clock: ThreadClock;
  readonly #loggers = new Set<Logger>();
  readonly #underWay = new Set<Activity>();
  #slots: { readonly startedAt: number; longestMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #thread = '';
  #tickedAt = 0;
  #cpuMs = 0;

  /** The activity that was entered last, unless it has ended. */
  #entered: Activity | undefined;
  #markedAt = 0;
  /** The longest time without an activity being entered or left, since the last tick. */
  #stretchMs = 0;
  /** The activity whose entry began this interval, if any. */
  #stretchOf: Activity | undefined;

  /** When each warning was last logged, by the activities that it names. */
  readonly #warnedAt = new Map<string, number>();

  constructor(clock: ThreadClock = THREAD_CLOCK) {
    this.#clock = clock;
  }

  /** Watches `thread` until the returned function is called. Long turns are logged as warnings of `logger`. */
  start(logger: Logger, thread = 'the main thread'): () => void {
    this.#thread = thread;
    // A logger for each start, so that two starts with the same logger can be stopped separately.
    const own = logger.child({});
    this.#loggers.add(own);
    if (this.#timer === undefined) {
      this.#tickedAt = this.#clock.nowMs();
      this.#cpuMs = this.#clock.cpuMs();
      this.#restart(this.#tickedAt);
      this.#timer = setInterval(() => this.tick(), TICK_MS).unref();
    }
    return () => {
      this.#loggers.delete(own);
      if (this.#loggers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#slots = [];
      this.#warnedAt.clear();
    };
  }

  /**
   * Runs `work`, which is a batch or a request. The warning about a long turn contains `name` in two cases: the longest
   * uninterrupted part of the turn began with the start of `work`, or `work` is one of the newest activities that are
   * in progress.
   */
  async during<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const activity: Activity = { name };
    this.#mark(activity);
    this.#underWay.add(activity);
    try {
      return await work();
    } finally {
      this.#underWay.delete(activity);
      this.#mark(undefined);
    }
  }

  /** The longest turn of the event loop in the last minute, including the current one; in seconds. */
  longestSeconds(): number {
    if (this.#timer === undefined) return 0;
    const now = this.#clock.nowMs();
    const kept = this.#slots.filter(({ startedAt }) => isKept(startedAt, now));
    return Math.max(this.#delayMs(now), ...kept.map(({ longestMs }) => longestMs)) / 1000;
  }

  /** Called by the timer. */
  tick(): void {
    const now = this.#clock.nowMs();
    const cpuMs = this.#clock.cpuMs();
    const delayMs = this.#delayMs(now);
    this.#keep(now, delayMs);
    this.#mark(undefined);
    if (delayMs > LONG_TURN_MS) this.#warn(now, delayMs, cpuMs - this.#cpuMs);
    this.#tickedAt = now;
    this.#cpuMs = cpuMs;
    this.#restart(now);
  }

  #delayMs(now: number): number {
    return Math.max(0, now - this.#tickedAt - TICK_MS);
  }

  #mark(next: Activity | undefined): void {
    const now = this.#clock.nowMs();
    const stretchMs = now - this.#markedAt;
    if (stretchMs > this.#stretchMs) {
      this.#stretchMs = stretchMs;
      this.#stretchOf = this.#entered;
    }
    this.#markedAt = now;
    this.#entered = next;
  }

  #restart(now: number): void {
    this.#entered = undefined;
    this.#markedAt = now;
    this.#stretchMs = 0;
    this.#stretchOf = undefined;
  }

  #keep(now: number, delayMs: number): void {
    const current = this.#slots.at(-1);
    if (current !== undefined && now - current.startedAt < SLOT_MS) {
      current.longestMs = Math.max(current.longestMs, delayMs);
      return;
    }
    this.#slots = this.#slots.filter(({ startedAt }) => isKept(startedAt, now));
    this.#slots.push({ startedAt: now, longestMs: delayMs });
  }

  #warn(now: number, delayMs: number, cpuMs: number): void {
    const what = this.#whatRan();
    for (const [each, at] of this.#warnedAt) if (now - at >= MINUTE_MS) this.#warnedAt.delete(each);
    if (this.#warnedAt.has(what)) return;
    this.#warnedAt.set(what, now);
    const isComputing = cpuMs >= delayMs / 2;
    const text =
      `The event loop of ${this.#thread} stood still for ${seconds(delayMs)}, in which no other task, request or heartbeat of this thread could run. ` +
      `${what}. The ${this.#clock.cpuOf} used ${seconds(cpuMs)} of CPU time during it${isComputing ? '' : ', so it waited in a synchronous call, or the machine had no time for it'}. ` +
      `If this happens again: ${isComputing ? ADVICE_COMPUTING : ADVICE_WAITING}`;
    for (const logger of this.#loggers) logger.warn(text);
  }

  #whatRan(): string {
    const others = [...this.#underWay].filter((activity) => activity !== this.#stretchOf).reverse();
    const names = [...new Set(others.map(({ name }) => name))];
    const more = names.length > MAX_NAMED ? ` and ${String(names.length - MAX_NAMED)} more` : '';
    const underWay = `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
    if (this.#stretchOf !== undefined) {
      return `Last entered: ${this.#stretchOf.name}${names.length > 0 ? `; also under way: ${underWay}` : ''}`;
    }
    if (names.length > 0) return `Nothing was entered just before; under way: ${underWay}`;
    return 'No task and no request was under way';
  }
}

const ADVICE_COMPUTING =
  'make its batches, messages or requests smaller; a plugin should do long work in parts or in a worker thread.';
const ADVICE_WAITING =
  'give the worker more CPU; a plugin should use asynchronous calls for files, processes and the network.';

/** A slot is kept until all of it is older than a minute. */
function isKept(startedAt: number, now: number): boolean {
  return now - startedAt < MINUTE_MS + SLOT_MS;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

/** The watch of this thread. */
export const eventLoopWatch = new EventLoopWatch();

/**
 * Runs `work` under a name, such as `POST /restapi/insert`. If it blocks the event loop for more than a second, the
 * warning in the log contains this name. Call it once for each batch or request, not for each record.
 * @returns the result of `work`; errors are passed on
 */
export function asActivity<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  return eventLoopWatch.during(name, work);
}
