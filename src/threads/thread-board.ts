const WORDS = { beats: 0, withdrawn: 1 } as const;
const UNTIL_AT = 8;
const BYTES = 16;

/**
 * Words of shared memory between the main thread and one other, for what must not wait for a message: whether the thread still
 * turns its event loop, and whether it may write.
 */
export class ThreadBoard {
  readonly buffer: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #until: Float64Array;

  constructor(buffer = new SharedArrayBuffer(BYTES)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, 2);
    this.#until = new Float64Array(buffer, UNTIL_AT, 1);
  }

  /** Turns of the event loop that the thread has counted. */
  get beats(): number {
    return Atomics.load(this.#words, WORDS.beats);
  }

  /** Of the thread. */
  beat(): void {
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
