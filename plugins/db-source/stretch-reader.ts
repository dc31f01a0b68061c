import type { RowBlock } from '../database/index.ts';
import type { Row } from './feed-reader.ts';
import type { HeldRead, Piece } from './held-read.ts';
import type { RowsBehind, Stretch } from './rows-behind.ts';

/** What rows of a table say. */
export interface RowFacts {
  /** Microseconds since the epoch. */
  readonly at: (row: Row) => bigint;
  readonly keyText: (row: Row) => string;
  readonly writer: (row: Row) => number;
}

interface Run {
  readonly held: HeldRead;
  readonly stretch: Stretch;
  readonly met: Set<number>;
  /** Rows before this time were taken. */
  low: bigint;
}

/**
 * Reads the stretches of time behind the position of a table into which rows were inserted.
 *
 * idle -> (`open`) reading -> (the end, or `release`) idle.
 */
export class StretchReader {
  readonly behind: RowsBehind;
  readonly #facts: RowFacts;
  #run: Run | undefined;

  constructor(behind: RowsBehind, facts: RowFacts) {
    this.behind = behind;
    this.#facts = facts;
  }

  /** There are rows still to be read. */
  get isBehind(): boolean {
    return this.#run !== undefined || this.behind.isWaiting;
  }

  get isHolding(): boolean {
    return this.#run?.held.isClosed === false;
  }

  /** Whether there is something to read between these two times; it is opened unless it is open already. */
  async open(low: bigint, high: bigint, start: (stretch: Stretch) => Promise<HeldRead>): Promise<boolean> {
    // A cursor that was left alone for too long is gone.
    if (this.#run?.held.isClosed === true) this.release();
    if (this.#run !== undefined) return true;
    const stretch = this.behind.take(low, high);
    if (stretch === undefined) return false;
    try {
      this.#run = { held: await start(stretch), stretch, met: new Set(), low: stretch.low };
    } catch (error) {
      this.behind.putBack(stretch, stretch.low);
      throw error;
    }
    return true;
  }

  /** The next rows that were not sent; `check` gives the block of a piece. */
  async read(check: (piece: Piece | undefined) => RowBlock | undefined): Promise<Row[]> {
    const run = this.#run;
    if (run === undefined) return [];
    const { at, keyText, writer } = this.#facts;
    const block = check(await run.held.read());
    // It was released meanwhile, and is read again.
    if (this.#run !== run) return [];
    const rows: Row[] = [];
    for (let index = 0; block !== undefined && index < block.count; index++) {
      const row = block.row(index);
      run.met.add(writer(row));
      run.low = at(row);
      if (!this.behind.wasSent(writer(row), run.low, () => keyText(row))) rows.push(row);
    }
    if (run.held.isClosed) {
      run.low = run.stretch.high + 1n;
      this.release();
    }
    return rows;
  }

  /** Closes the cursor, if any; what is left is read later. */
  release(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    run.held.close();
    const { stretch, low, met } = run;
    if (low > stretch.low) this.behind.readBehind(met, stretch.low, low - 1n);
    if (low <= stretch.high) this.behind.putBack(stretch, low);
  }
}
