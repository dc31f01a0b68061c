import type { TableColumn } from '../database/index.ts';
import type { OrderKind } from './position.ts';
import type { SourceSettings } from './source-settings.ts';
import type { SourceTable } from './tables.ts';

/** The order in which the rows of a table are read. */
export interface TableOrder {
  readonly kind: OrderKind;
  readonly column: TableColumn;
  /** Columns that distinguish rows with the same value; `undefined` if the table has no suitable key. */
  readonly key: readonly TableColumn[] | undefined;
  /** Whether an index starts with the column. Without an index, each query scans the whole table. */
  readonly isIndexed: boolean;
}

/** Determines the order of a table in modes other than `bulk`. Returns a string with the reason if the table has no order. */
export function tableOrder(table: SourceTable, settings: SourceSettings): TableOrder | string {
  const column = settings.mode === 'incrementing' ? growingColumn(table, settings) : timeColumn(table, settings);
  if (typeof column === 'string') return column;
  return {
    kind: settings.mode === 'incrementing' ? 'number' : 'time',
    column,
    key: keyBeside(table, column),
    isIndexed: table.indexedColumns.includes(column.name),
  };
}

function timeColumn(table: SourceTable, { timeColumn: wanted }: SourceSettings): TableColumn | string {
  const isTime = ({ type }: TableColumn) => type.startsWith('timestamp');
  if (wanted !== undefined) {
    const column = table.columns.find(({ name }) => name === wanted);
    return column !== undefined && isTime(column) ? column : `it has no timestamp column ${wanted}`;
  }
  const column = table.columns.find(({ role }) => role === 'time') ?? table.columns.find(isTime);
  return column ?? 'it has no timestamp column to read it by';
}

function growingColumn(table: SourceTable, { incrementingColumn: wanted }: SourceSettings): TableColumn | string {
  const isNumber = ({ type }: TableColumn) => /^(smallint|integer|bigint|numeric\(\d+(,0)?\))$/.test(type);
  const name = wanted ?? (table.key.length === 1 ? table.key[0] : undefined);
  const column = table.columns.find((each) => each.name === name);
  if (column !== undefined && isNumber(column)) return column;
  return wanted === undefined ? 'its key is not one integer column' : `it has no integer column ${wanted}`;
}

function keyBeside(table: SourceTable, order: TableColumn): TableColumn[] | undefined {
  const key = table.key.flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
  // A nullable column cannot be part of the key, because a row comparison with NULL yields NULL.
  if (key.length === 0 || key.some(({ nullable }) => nullable)) return undefined;
  return key.filter(({ name }) => name !== order.name);
}
