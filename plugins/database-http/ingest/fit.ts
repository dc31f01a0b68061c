import type { Cell, ColumnCells, RowBatch, Table } from '../../../src/index.ts';

/** The tag that stands for a row's tags (reference/original-system.md 9.7). */
export const PRIMARY_TAG = 'primary_tag';
const DERIVED_TAG = /^[0-9a-f]{64}$/;

/** `timestamp(3) with time zone`: its digits of a second, if it says so. */
const TIMESTAMP_TYPE = /^timestamp(?:\((\d)\))? with/;

/**
 * The batch as an existing table takes it: without the derived primary tag where the table has none, and with integers in
 * timestamp columns read in the unit of the column's precision (design/decisions.md, "Integer timestamps in SQL").
 */
export function fitToTable(batch: RowBatch, table: Table): RowBatch {
  const hasPrimaryTag = table.columns.some(({ name }) => name === PRIMARY_TAG);
  let changed = false;
  const columns: ColumnCells[] = [];
  for (const column of batch.columns) {
    if (!hasPrimaryTag && isDerivedTag(column)) {
      changed = true;
      continue;
    }
    const digits = column.kind === 'int' || column.kind === 'float' ? timestampDigits(table, column) : undefined;
    if (digits === undefined) {
      columns.push(column);
      continue;
    }
    changed = true;
    columns.push({ ...column, kind: 'time', cells: column.cells.map((cell) => toMicros(cell, 10 ** (6 - digits))) });
  }
  return changed ? { ...batch, columns } : batch;
}

function isDerivedTag({ name, role, cells }: ColumnCells): boolean {
  if (name !== PRIMARY_TAG || role !== 'primary-tag') return false;
  return cells.every((cell) => cell === null || DERIVED_TAG.test(String(cell)));
}

function timestampDigits(table: Table, { name }: ColumnCells): number | undefined {
  const type = table.columns.find((column) => column.name === name)?.type;
  const match = type === undefined ? null : TIMESTAMP_TYPE.exec(type);
  return match === null ? undefined : Math.min(Number(match[1] ?? '6'), 6);
}

function toMicros(cell: Cell, unit: number): Cell {
  if (typeof cell === 'bigint') return cell * BigInt(unit);
  if (typeof cell !== 'number') return cell;
  const micros = Math.floor(cell * unit);
  return Number.isSafeInteger(micros) || !Number.isInteger(cell) ? micros : BigInt(cell) * BigInt(unit);
}
