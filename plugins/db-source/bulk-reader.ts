import type { Executor } from '../database/index.ts';
import { checkColumns, type FeedReader, type NextStep, type Page, type ReadRequest } from './feed-reader.ts';
import { OpenCursor } from './open-cursor.ts';
import type { SourceTable } from './tables.ts';

/** Reads the whole table repeatedly. Each pass runs in one snapshot. After a restart, a pass starts from the first row. */
export class BulkReader implements FeedReader {
  readonly table: SourceTable;
  /** A pass needs its cursor: if the cursor is closed, the pass starts over. */
  readonly needsCursor = true;
  readonly #executor: Executor;
  #cursor: OpenCursor | undefined;

  constructor(executor: Executor, table: SourceTable) {
    this.#executor = executor;
    this.table = table;
  }

  get hasOpenCursor(): boolean {
    return this.#cursor?.isClosed === false;
  }

  release(): void {
    this.#cursor?.close();
    this.#cursor = undefined;
  }

  nextStep(): NextStep {
    return { kind: 'read' };
  }

  async read({ size, signal }: ReadRequest): Promise<Page> {
    // An idle cursor was closed before the end of the table, so the pass starts over.
    if (this.#cursor?.isClosed === true) this.#cursor = undefined;
    const sql = `SELECT t.* FROM ${this.table.source}`;
    try {
      const cursor = (this.#cursor ??= await OpenCursor.open(this.#executor, sql, size, signal));
      const chunk = await cursor.read();
      if (cursor.isClosed) this.#cursor = undefined;
      if (chunk !== undefined) checkColumns(this.table, chunk.block.fields, 0);
      const range = chunk && { block: chunk.block, from: 0 };
      return { rows: [], range, offsetBefore: {}, offsetAfter: {}, lateRows: 0, isLast: chunk?.isFull !== true };
    } catch (error) {
      this.release();
      throw error;
    }
  }
}
