import type { RowBlock } from '../database/index.ts';
import type { Row } from './feed-reader.ts';
import type { LateRows } from './late-rows.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/** Maximum number of rows that are kept until the look back ends. Excess rows are returned earlier and may repeat after a crash. */
const MAX_FOUND = 5_000;
/** Maximum number of recorded transactions. Rows of further transactions may be sent twice. */
const MAX_SEEN = 100_000;

/** The unsent rows found by a look back. */
export interface FoundRows {
  /** Rows before the position. */
  readonly late: readonly Row[];
  /** Rows with the time of the position, if the table has no key. */
  readonly ties: readonly Row[];
}

/**
 * Processes the rows of a query up to the position, and finds those that were not sent. Unless there are too many, they
 * are returned together at the end of the look back, so that a single offset covers all of them. The look back ends
 * with the first row after the position, or at the end of the query.
 */
export class LookBack {
  readonly snapshot: DatabaseSnapshot;
  readonly #late: LateRows;
  readonly #rowsAt: number;
  readonly #signAt: number;
  readonly #seen = new Set<number>();
  #lateRows: Row[] = [];
  #ties: Row[] = [];
  /** Number of rows with the time of the position that were already sent, and number of those that were not. */
  #tiesSent = 0;
  #tiesFound = 0;
  #isDone = false;

  /** `rowsAt` is the number of sent rows with the position's time; `signAt` is the index of the column with sign and transaction (table-query.ts). */
  constructor(snapshot: DatabaseSnapshot, late: LateRows, rowsAt: number, signAt: number) {
    this.snapshot = snapshot;
    this.#late = late;
    this.#rowsAt = rowsAt;
    this.#signAt = signAt;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** The transactions of the rows that were processed, including those of rows that were already sent. */
  get seen(): Iterable<number> {
    return this.#seen;
  }

  /** Number of rows with the time of the position. All of them are sent when the look back is done. */
  get rowsAt(): number {
    return this.#tiesSent + this.#tiesFound;
  }

  /** Processes the rows of a fetch, and returns the index of the first row after the position. */
  take(block: RowBlock): number {
    for (let index = 0; index < block.count; index++) {
      const sign = block.cell(index, this.#signAt) ?? '+';
      if (sign.startsWith('+')) return index;
      const transaction = Number(sign.slice(1));
      if (this.#seen.size < MAX_SEEN) this.#seen.add(transaction);
      const wasSent = this.#late.wasSent(transaction);
      if (sign.startsWith('-')) {
        if (!wasSent) this.#lateRows.push(block.row(index));
      } else if (wasSent && this.#tiesSent < this.#rowsAt) this.#tiesSent++;
      else {
        this.#ties.push(block.row(index));
        this.#tiesFound++;
      }
    }
    return block.count;
  }

  /** Before the end, returns the found rows only if there are too many to keep. At the end, records all rows as sent. */
  takeFound(isEnd: boolean): FoundRows | undefined {
    if (!isEnd && this.#lateRows.length + this.#ties.length < MAX_FOUND) return undefined;
    const found = { late: this.#lateRows, ties: this.#ties };
    this.#lateRows = [];
    this.#ties = [];
    if (isEnd) {
      this.#isDone = true;
      this.#late.settle(this.snapshot, this.#seen);
    }
    return found;
  }
}
