import type { RowBatch, RowGroup } from '../../../src/data/row-batch.ts';
import type { WritePolicy } from './api.ts';
import type { CatalogueTable } from './catalogue-query.ts';

/**
 * For the rule `merge`: groups rows by the NOT NULL columns with a default for which they have no value. In a new row,
 * such a column gets its default; in a stored row, it does not change. Only a statement without the column has both
 * effects, so each group gets its own statement. Returns the batch unchanged if no such value is missing.
 */
export function groupedByDefaults(batch: RowBatch, table: CatalogueTable, policy: WritePolicy): RowBatch {
  if (policy.dedupRule !== 'merge' || policy.insertMode !== undefined || batch.groups !== undefined) return batch;
  const gaps = batch.columns.filter(({ name, cells }) => {
    const column = table.columns.find((existing) => existing.name === name);
    if (column === undefined || column.nullable || !column.hasDefault || column.generated) return false;
    return !table.key.includes(name) && cells.includes(null);
  });
  if (gaps.length === 0) return batch;
  const list: RowGroup[] = [];
  const indexes = new Map<string, number>();
  const groupOf = new Int32Array(batch.rowCount);
  for (let row = 0; row < batch.rowCount; row++) {
    const missing = gaps.filter(({ cells }) => cells[row] === null).map(({ name }) => name);
    const signature = JSON.stringify(missing);
    let index = indexes.get(signature);
    if (index === undefined) {
      indexes.set(signature, (index = list.length));
      const present = batch.columns.map(({ name }) => name).filter((name) => !missing.includes(name));
      list.push({ operation: 'store', columns: new Set(present) });
    }
    groupOf[row] = index;
  }
  return { ...batch, groups: { list, of: (row) => groupOf[row] ?? 0 } };
}
