import type { WrittenRows } from '../../src/index.ts';
import { partsOf, type Decoded } from '../database/index.ts';

/** Maximum number of tables that are counted individually; the rows of further tables are counted together. */
const MAX_TABLES = 200;
const OTHERS = '…';
/** Weight of a batch in the moving average. */
const WEIGHT = 0.1;

/** Counts the rows written by a task, by table. */
export class WrittenTables {
  readonly #rows = new Map<string, number>();
  #msPerRow: number | undefined;

  record(decoded: Decoded, ms: number): void {
    let all = 0;
    for (const part of partsOf(decoded)) {
      if (part.kind !== 'rows') continue;
      const { name } = part.rows.batch.table;
      const { rowCount } = part.rows.batch;
      const key = this.#rows.has(name) || this.#rows.size < MAX_TABLES ? name : OTHERS;
      this.#rows.set(key, (this.#rows.get(key) ?? 0) + rowCount);
      all += rowCount;
    }
    if (all === 0) return;
    const perRow = ms / all;
    this.#msPerRow = this.#msPerRow === undefined ? perRow : this.#msPerRow + (perRow - this.#msPerRow) * WEIGHT;
  }

  figures(): WrittenRows {
    const tables = [...this.#rows].map(([name, rows]) => ({ name, rows }));
    return { tables, microseconds: this.#msPerRow === undefined ? null : this.#msPerRow * 1000 };
  }
}
