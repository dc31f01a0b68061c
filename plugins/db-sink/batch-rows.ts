/** Larger writes are hardly faster, and take more memory. */
const MAX_ROWS = 10_000;
/** Target duration of a write, and the maximum time for which pending rows wait until a batch is full. */
export const WRITE_MS = 100;
/** Writes shrink only above this duration, so that a single delay does not reduce their size. */
const SLOW_WRITE_MS = 2 * WRITE_MS;

/**
 * Determines how many rows a lane writes at once. Without `grows`, this is always `size`. With `grows`, it starts with
 * `size`, grows up to 10,000 rows after full batches that take less than about 100 ms, and shrinks after writes of more
 * than 200 ms (but not below `size`), each time by a factor of at most two.
 */
export class BatchRows {
  readonly #min: number;
  readonly #max: number;
  #rows: number;

  constructor(size: number, grows: boolean) {
    this.#min = size;
    this.#max = grows ? Math.max(size, MAX_ROWS) : size;
    this.#rows = size;
  }

  get limit(): number {
    return this.#rows;
  }

  /** Records a write: its rows, and its duration in milliseconds, including retries and bisections. */
  recordWrite(rows: number, ms: number): void {
    const isFull = rows >= this.#rows;
    const isAdequate = ms < WRITE_MS ? !isFull : ms <= SLOW_WRITE_MS;
    if (isAdequate) return;
    const rowsInTime = (rows * WRITE_MS) / Math.max(1, ms);
    const next = Math.min(this.#rows * 2, Math.max(this.#rows / 2, rowsInTime));
    this.#rows = Math.min(this.#max, Math.max(this.#min, Math.round(next)));
  }
}
