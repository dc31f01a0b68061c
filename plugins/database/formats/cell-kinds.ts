import type { Cell, CellKind } from '../../../src/data/row-batch.ts';
import type { OpenColumn } from '../../../src/data/row-batch-builder.ts';

/** Returns true if cells of both kinds can share a column without changing any value: the same kind, or numbers. */
export function fits(column: OpenColumn, kind: CellKind): boolean {
  return column.kind === kind || (isNumber(column.kind) && isNumber(kind));
}

/**
 * Converts a cell that `fits` the column. If the kinds differ, the column becomes `float`, or `numeric` (decimal text)
 * if one of its cells is a bigint or a `numeric`, because a double could lose digits.
 */
export function admit(column: OpenColumn, kind: CellKind, cell: Exclude<Cell, null>): Exclude<Cell, null> {
  if (column.kind === kind || (column.kind === 'float' && typeof cell === 'number')) return cell;
  if (column.kind !== 'numeric') widen(column, kind, typeof cell === 'bigint');
  return column.kind === 'numeric' ? decimalText(cell) : cell;
}

function isNumber(kind: CellKind): boolean {
  return kind === 'int' || kind === 'float' || kind === 'numeric';
}

function widen(column: OpenColumn, kind: CellKind, wide: boolean): void {
  if (kind !== 'numeric' && !wide && !column.cells.some((cell) => typeof cell === 'bigint')) {
    column.kind = 'float';
    return;
  }
  column.kind = 'numeric';
  for (const [row, cell] of column.cells.entries()) {
    if (cell !== null) column.cells[row] = decimalText(cell);
  }
}

/** Returns the shortest decimal that parses to the same number, including negative zero. */
function decimalText(cell: Exclude<Cell, null>): string {
  return Object.is(cell, -0) ? '-0' : String(cell);
}
