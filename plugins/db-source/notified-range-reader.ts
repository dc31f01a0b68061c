import type { RowBlock } from '../database/index.ts';
import type { Row } from './feed-reader.ts';
import type { OpenCursor, Chunk } from './open-cursor.ts';
import type { NotifiedRanges, TimeRange } from './notified-ranges.ts';

/** Functions that return the relevant values of a row. */
export interface RowFacts {
  /** Time of the row in microseconds since the epoch. */
  readonly at: (row: Row) => bigint;
  readonly keyText: (row: Row) => string;
  /** Transaction that wrote the row, as stored in xmin. */
  readonly writer: (row: Row) => number;
}

interface Run {
  readonly cursor: OpenCursor;
  readonly range: TimeRange;
  readonly found: Set<number>;
  /** All rows of the range before this time were read. */
  low: bigint;
}

/** Reads, one at a time, the time ranges before a table's position into which rows were inserted. */
export class NotifiedRangeReader {
  readonly ranges: NotifiedRanges;
  readonly #facts: RowFacts;
  #run: Run | undefined;

  constructor(ranges: NotifiedRanges, facts: RowFacts) {
    this.ranges = ranges;
    this.#facts = facts;
  }

  /** True if a range is being read or waits to be read. */
  get hasUnreadRanges(): boolean {
    return this.#run !== undefined || this.ranges.hasRanges;
  }

  get hasOpenCursor(): boolean {
    return this.#run?.cursor.isClosed === false;
  }

  /** Opens the next range between two times, unless a range is already open. Returns false if there is no range to read. */
  async open(low: bigint, high: bigint, start: (range: TimeRange) => Promise<OpenCursor>): Promise<boolean> {
    // The cursor may have been closed because it was idle.
    if (this.#run?.cursor.isClosed === true) this.release();
    if (this.#run !== undefined) return true;
    const range = this.ranges.take(low, high);
    if (range === undefined) return false;
    try {
      this.#run = { cursor: await start(range), range, found: new Set(), low: range.low };
    } catch (error) {
      this.ranges.requeue(range, range.low);
      throw error;
    }
    return true;
  }

  /** Reads the next rows that were not sent. `check` verifies the columns of a chunk and returns its block. */
  async read(check: (chunk: Chunk | undefined) => RowBlock | undefined): Promise<Row[]> {
    const run = this.#run;
    if (run === undefined) return [];
    const { at, keyText, writer } = this.#facts;
    const block = check(await run.cursor.read());
    // The range was released in the meantime and will be read again.
    if (this.#run !== run) return [];
    const rows: Row[] = [];
    for (let index = 0; block !== undefined && index < block.count; index++) {
      const row = block.row(index);
      run.found.add(writer(row));
      run.low = at(row);
      if (!this.ranges.wasSent(writer(row), run.low, () => keyText(row))) rows.push(row);
    }
    if (run.cursor.isClosed) {
      run.low = run.range.high + 1n;
      this.release();
    }
    return rows;
  }

  /** Closes the cursor, if any; the rest of the range is read later. */
  release(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    run.cursor.close();
    const { range, low, found } = run;
    if (low > range.low) this.ranges.recordRange(found, range.low, low - 1n);
    if (low <= range.high) this.ranges.requeue(range, low);
  }
}
