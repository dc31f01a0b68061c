import { hash } from 'node:crypto';
import type { Cell, ColumnCells, RowBatch } from '../data/row-batch.ts';

/** Name of the primary tag of tables that the line formats create (reference/original-system.md 9.5). */
export const PRIMARY_TAG = 'primary_tag';

/** Distinct tag sets remembered; 65 bytes of hash and the tags' own text each. */
const MAX_REMEMBERED = 10_000;

/**
 * The primary tag of a tag set: lower-case hexadecimal SHA-256 of the tags' texts, sorted bytewise and put together
 * without a separator (reference/original-system.md 9.7). The texts are `key=value` for line protocol,
 * `key='value'` for the time-series formats, `key=15` for their JSON numbers.
 */
export function primaryTag(tagTexts: readonly string[]): string {
  const bytes = tagTexts.map((text) => Buffer.from(text, 'utf8')).sort((a, b) => Buffer.compare(a, b));
  return hash('sha256', Buffer.concat(bytes), 'hex');
}

/** Primary tags with memory: a tag set that was seen lately is not hashed again. */
export class PrimaryTags {
  readonly #known = new Map<string, string>();

  /** `values[i]` belongs to `keys[i]`; null values are tags that the row does not have. */
  of(keys: readonly string[], values: readonly Cell[]): string {
    const texts: string[] = [];
    for (const [index, key] of keys.entries()) {
      const value = values[index] ?? null;
      if (value !== null) texts.push(`${key}=${String(value)}`);
    }
    const set = texts.join('\0');
    const known = this.#known.get(set);
    if (known !== undefined) return known;
    const derived = primaryTag(texts);
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(set, derived);
    return derived;
  }

  /** The batch with a column `primary_tag`, derived from its tags; the same batch when it has one already. */
  addTo(batch: RowBatch): RowBatch {
    if (batch.columns.some((column) => column.name === PRIMARY_TAG)) return batch;
    const tags = batch.columns.filter((column) => column.role === 'tag');
    const keys = tags.map((tag) => tag.name);
    const cells: Cell[] = [];
    for (let row = 0; row < batch.rowCount; row++) {
      const values = tags.map((tag) => tag.cells[row] ?? null);
      cells.push(this.of(keys, values));
    }
    const column: ColumnCells = { name: PRIMARY_TAG, role: 'primary-tag', kind: 'text', cells };
    return {
      table: batch.table,
      columns: [...batch.columns, column],
      rowCount: batch.rowCount,
      origins: batch.origins,
    };
  }
}
