const WORDS = { beats: 0, withdrawn: 1 } as const;
const UNTIL_AT = 8;
const TIMES_AT = 16;
const TIMES = { beatAt: 0, delayMs: 1 } as const;
const BYTES = 32;

/** How often a thread counts its turns. */
export const BEAT_MS = 100;

/**
 * Words of shared memory between the main thread and one other, for what must not wait for a message: whether the thread still
 * turns its event loop, and whether it may write.
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

  /** Turns of the event loop that the thread has counted. */
  get beats(): number {
    return Atomics.load(this.#words, WORDS.beats);
  }

  /** The longest turn of the event loop in the last minute, the turn that goes on included. */
  get loopDelaySeconds(): number {
    const { [TIMES.beatAt]: beatAt = 0, [TIMES.delayMs]: delayMs = 0 } = this.#times;
    const sinceMs = beatAt === 0 ? 0 : clockMs() - beatAt - BEAT_MS;
    return Math.max(0, sinceMs, delayMs) / 1000;
  }

  /** Of the thread; `loopDelaySeconds`: the longest turn of its event loop in the last minute. */
  beat(loopDelaySeconds = 0): void {
    this.#times[TIMES.delayMs] = loopDelaySeconds * 1000;
    this.#times[TIMES.beatAt] = clockMs();
    Atomics.add(this.#words, WORDS.beats, 1);
  }

  /** Until when the thread may write, unless it is told anew: milliseconds since the epoch. Of the main thread. */
  set mayWorkUntil(untilMs: number) {
    this.#until[0] = untilMs;
  }

  /** The thread may never write again. Of the main thread. */
  withdraw(): void {
    Atomics.store(this.#words, WORDS.withdrawn, 1);
  }

  /** Asked by the thread right before it writes. */
  get mayWork(): boolean {
    return Atomics.load(this.#words, WORDS.withdrawn) === 0 && Date.now() <= (this.#until[0] ?? 0);
  }
}

/** Monotonic, and the same in all threads; that of `performance` begins anew in each. */
function clockMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
