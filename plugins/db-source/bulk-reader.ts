import type { Executor } from '../database/index.ts';
import { checkColumns, type FeedReader, type NextStep, type Page, type ReadRequest } from './feed-reader.ts';
import { HeldRead } from './held-read.ts';
import type { SourceTable } from './tables.ts';

/** Reads all rows of a table again and again, each time from one snapshot. Offsets say nothing: a restart begins anew. */
export class BulkReader implements FeedReader {
  readonly table: SourceTable;
  /** A pass whose cursor is closed begins anew. */
  readonly needsCursor = true;
  readonly #executor: Executor;
  #held: HeldRead | undefined;

  constructor(executor: Executor, table: SourceTable) {
    this.#executor = executor;
    this.table = table;
  }

  get isHolding(): boolean {
    return this.#held?.isClosed === false;
  }

  release(): void {
    this.#held?.close();
    this.#held = undefined;
  }

  nextStep(): NextStep {
    return { kind: 'read' };
  }

  async read({ size, signal }: ReadRequest): Promise<Page> {
    // A cursor that was closed for its idleness has rows left: the pass begins anew.
    if (this.#held?.isClosed === true) this.#held = undefined;
    const sql = `SELECT t.* FROM ${this.table.source}`;
    try {
      const held = (this.#held ??= await HeldRead.open(this.#executor, sql, size, signal));
      const piece = await held.read();
      if (held.isClosed) this.#held = undefined;
      if (piece !== undefined) checkColumns(this.table, piece.block.fields, 0);
      const range = piece && { block: piece.block, from: 0 };
      return { rows: [], range, offsetBefore: {}, offsetAfter: {}, lateRows: 0, isLast: piece?.isFull !== true };
    } catch (error) {
      this.release();
      throw error;
    }
  }
}
