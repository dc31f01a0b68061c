import type { RowBlock } from '../database/index.ts';
import type { Row } from './feed-reader.ts';
import type { LateRows } from './late-rows.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/** Rows found that wait for the end of the look back; more are given before it, and may come twice after a crash. */
const MAX_FOUND = 5_000;
/** Transactions met; rows of more may come twice. */
const MAX_SEEN = 100_000;

/** What a look back gives when it gives anything. */
export interface FoundRows {
  /** Behind the position. */
  readonly late: readonly Row[];
  /** Of the very time of a position without a key. */
  readonly ties: readonly Row[];
}

/**
 * The part of a query's rows that lies up to the position: which of them were not sent yet. They are given together at the end,
 * so that one offset tells of all of them.
 *
 * looking -> (the first row after the position, or the end of the query) done.
 */
export class LookBack {
  readonly snapshot: DatabaseSnapshot;
  readonly #late: LateRows;
  readonly #rowsAt: number;
  readonly #signAt: number;
  readonly #seen = new Set<number>();
  #lateRows: Row[] = [];
  #ties: Row[] = [];
  /** Ties that were sent before, and those found. */
  #tiesMet = 0;
  #tiesFound = 0;
  #isDone = false;

  /** `rowsAt`: rows sent of the time of the position; `signAt`: the column with sign and transaction. */
  constructor(snapshot: DatabaseSnapshot, late: LateRows, rowsAt: number, signAt: number) {
    this.snapshot = snapshot;
    this.#late = late;
    this.#rowsAt = rowsAt;
    this.#signAt = signAt;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Transactions whose rows were met. */
  get seen(): Iterable<number> {
    return this.#seen;
  }

  /** Rows of the time of the position that are there, and sent when it is done. */
  get rowsAt(): number {
    return this.#tiesMet + this.#tiesFound;
  }

  /** Takes the rows of one fetch; gives the index of the first after the position. */
  take(block: RowBlock): number {
    for (let index = 0; index < block.count; index++) {
      const sign = block.cell(index, this.#signAt) ?? '+';
      if (sign.startsWith('+')) return index;
      const transaction = Number(sign.slice(1));
      if (this.#seen.size < MAX_SEEN) this.#seen.add(transaction);
      const wasSent = this.#late.wasSent(transaction);
      if (sign.startsWith('-')) {
        if (!wasSent) this.#lateRows.push(block.row(index));
      } else if (wasSent && this.#tiesMet < this.#rowsAt) this.#tiesMet++;
      else {
        this.#ties.push(block.row(index));
        this.#tiesFound++;
      }
    }
    return block.count;
  }

  /** Ends the look back, what was sent is known from here on; or gives what would be too much to keep. */
  give(isEnd: boolean): FoundRows | undefined {
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
