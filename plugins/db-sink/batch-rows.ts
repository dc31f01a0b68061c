/** More rows gain almost nothing, and cost memory. */
const MAX_ROWS = 10_000;
/** Target duration of a write, and the maximum time that rows wait for others. */
export const WRITE_MS = 100;
/** A single delay should not reduce the size of writes. */
const SLOW_WRITE_MS = 2 * WRITE_MS;

/**
 * Determines how many rows a lane writes at once: `size` unless `grows` is set. Otherwise it starts with `size`, grows
 * up to 10,000 rows with full batches that take less than about 100 ms, and shrinks after writes of more than 200 ms;
 * at most by a factor of two each time.
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
