/** What `batch.size` is by default, and the least that it comes to. */
const LEAST_ROWS = 1_000;
/** More rows gain next to nothing, and cost memory. */
const MOST_ROWS = 10_000;
/** How long a write is to take; also how long rows wait for others at most. */
export const WRITE_MS = 100;
/** A single delay is not to make writes smaller. */
const SLOW_WRITE_MS = 2 * WRITE_MS;

/**
 * How many rows a lane writes at once. A number that was set is kept. Without one it begins with 1,000, grows up to 10,000 with
 * full batches that are written in less than about 100 ms, and shrinks with writes that take more than 200 ms; twofold at most
 * each time.
 */
export class BatchRows {
  readonly #isSet: boolean;
  #rows: number;

  constructor(set?: number) {
    this.#isSet = set !== undefined;
    this.#rows = set ?? LEAST_ROWS;
  }

  get most(): number {
    return this.#rows;
  }

  /** To be told of each write: its rows, and the milliseconds that it took, repeats and bisections included. */
  wrote(rows: number, ms: number): void {
    const isFull = rows >= this.#rows;
    const mayStay = ms < WRITE_MS ? !isFull : ms <= SLOW_WRITE_MS;
    if (this.#isSet || mayStay) return;
    const rowsInTime = (rows * WRITE_MS) / Math.max(1, ms);
    const next = Math.min(this.#rows * 2, Math.max(this.#rows / 2, rowsInTime));
    this.#rows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.round(next)));
  }
}
