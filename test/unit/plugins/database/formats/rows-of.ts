import type { Cell, RowBatch } from '../../../../../src/data/row-batch.ts';

/** A batch's rows as objects, for comparing in tests. */
export function rowsOf(batch: RowBatch | undefined): Record<string, Cell>[] {
  if (batch === undefined) return [];
  return Array.from({ length: batch.rowCount }, (_, row) =>
    Object.fromEntries(batch.columns.map(({ name, cells }) => [name, cells[row] as Cell])),
  );
}

/** `name kind role` of each column. */
export function columnsOf(batch: RowBatch | undefined): string[] {
  return batch?.columns.map(({ name, kind, role }) => `${name} ${kind} ${role}`) ?? [];
}
