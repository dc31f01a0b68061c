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

/** Operation and columns of each row. */
export function groupsOf({ rowCount, groups }: RowBatch): string[] {
  return Array.from({ length: rowCount }, (_, row) => {
    const group = groups?.list[groups.of(row)];
    return group === undefined ? 'all' : `${group.operation} ${[...group.columns].join(',')}`;
  });
}
