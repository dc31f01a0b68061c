const WORDS = { beats: 0, withdrawn: 1 } as const;
const UNTIL_AT = 8;
const TIMES_AT = 16;
const TIMES = { beatAt: 0, delayMs: 1 } as const;
const BYTES = 32;

/** Interval at which a thread reports that its event loop is running. */
export const BEAT_MS = 100;

/**
 * Memory that the main thread shares with one worker thread. It contains state that must not wait for a message: whether the
 * event loop of the thread is responsive, and whether the thread may write.
 */
export class ThreadBoard {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #until: Float64Array;
  readonly #times: Float64Array;

  constructor(buffer = new SharedArrayBuffer(BYTES)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, 2);
    this.#until = new Float64Array(buffer, UNTIL_AT, 1);
    this.#times = new Float64Array(buffer, TIMES_AT, 2);
  }

  get beats(): number {
    return Atomics.load(this.#words, WORDS.beats);
  }

  /** The longest turn of the thread's event loop in the last minute, including the current turn. */
  get loopDelaySeconds(): number {
    const { [TIMES.beatAt]: beatAt = 0, [TIMES.delayMs]: delayMs = 0 } = this.#times;
    const sinceMs = beatAt === 0 ? 0 : clockMs() - beatAt - BEAT_MS;
    return Math.max(0, sinceMs, delayMs) / 1000;
  }

  /** Called by the worker thread. `loopDelaySeconds` is the longest turn of its event loop in the last minute. */
  beat(loopDelaySeconds = 0): void {
    this.#times[TIMES.delayMs] = loopDelaySeconds * 1000;
    this.#times[TIMES.beatAt] = clockMs();
    Atomics.add(this.#words, WORDS.beats, 1);
  }

  /** Set by the main thread: the time until which the worker thread may write, in milliseconds since the epoch. */
  set mayWorkUntil(untilMs: number) {
    this.#until[0] = untilMs;
  }

  /** Called by the main thread to permanently forbid the worker thread to write. */
  withdraw(): void {
    Atomics.store(this.#words, WORDS.withdrawn, 1);
  }

  /** Checked by the worker thread immediately before it writes. */
  get mayWork(): boolean {
    return Atomics.load(this.#words, WORDS.withdrawn) === 0 && Date.now() <= (this.#until[0] ?? 0);
  }
}

/** A monotonic clock that is equal in all threads. `performance.now()` starts at zero in each thread. */
function clockMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
