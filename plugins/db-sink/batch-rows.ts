/** More rows gain next to nothing, and cost memory. */
const MOST_ROWS = 10_000;
/** How long a write is to take; also how long rows wait for others at most. */
export const WRITE_MS = 100;
/** A single delay is not to make writes smaller. */
const SLOW_WRITE_MS = 2 * WRITE_MS;

/**
 * How many rows a lane writes at once: `size` without `grows`. Otherwise it begins with `size`, grows up to 10,000 with full batches
 * that are written in less than about 100 ms, and shrinks with writes that take more than 200 ms; twofold at most each time.
 */
export class BatchRows {
  readonly #least: number;
  readonly #most: number;
  #rows: number;

  constructor(size: number, grows: boolean) {
    this.#least = size;
    this.#most = grows ? Math.max(size, MOST_ROWS) : size;
    this.#rows = size;
  }

  get most(): number {
    return this.#rows;
  }

  /** To be told of each write: its rows, and the milliseconds that it took, repeats and bisections included. */
  wrote(rows: number, ms: number): void {
    const isFull = rows >= this.#rows;
    const mayStay = ms < WRITE_MS ? !isFull : ms <= SLOW_WRITE_MS;
    if (mayStay) return;
    const rowsInTime = (rows * WRITE_MS) / Math.max(1, ms);
    const next = Math.min(this.#rows * 2, Math.max(this.#rows / 2, rowsInTime));
    this.#rows = Math.min(this.#most, Math.max(this.#least, Math.round(next)));
  }
}
