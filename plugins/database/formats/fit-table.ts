import { tableText, type Cell, type ColumnCells, type RowBatch } from '../../../src/data/row-batch.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { DecodedRows } from './format.ts';
import { NANOS_COLUMN } from './nanoseconds.ts';
import { PRIMARY_TAG } from './primary-tag.ts';

/** A table that receives lines or points, such as a `Table` of the catalogue. */
export interface FittedTable {
  /** `type` is as printed by `format_type`. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key: readonly string[];
}

/** Matches `timestamp(3) with time zone` and captures the precision, if any. */
const TIMESTAMP_TYPE = /^timestamp(?:\((\d)\))? with/;

/**
 * Adapts a batch of lines or points to an existing table: derived primary tags are removed if the table has no column
 * for them, and numbers for timestamp columns are interpreted in the unit of the column's precision
 * (docs/formats.md#lines-of-one-series-and-time). Throws DatabaseError of scope `table` if the table cannot store the
 * nanoseconds of the rows.
 */
export function fitToTable(given: RowBatch, table: FittedTable): RowBatch {
  const batch = withNanos(given, table);
  const columns = batch.columns.flatMap((column) => fitColumn(column, table));
  const isSame = columns.length === batch.columns.length && columns.every((column, at) => column === batch.columns[at]);
  return isSame ? batch : { ...batch, columns };
}

/** Returns true if the table has a primary tag column for lines and points. */
export function takesPrimaryTag({ columns }: Pick<FittedTable, 'columns'>): boolean {
  return columns.some(({ name }) => name === PRIMARY_TAG);
}

/** Returns an empty list if the column is removed. */
function fitColumn(column: ColumnCells, table: FittedTable): readonly ColumnCells[] {
  if (column.given !== undefined && !table.columns.some(({ name }) => name === column.name)) return givenAlone(column);
  const digits = column.kind === 'int' || column.kind === 'float' ? timestampDigits(table, column) : undefined;
  if (digits === undefined) return [column];
  return [{ ...column, kind: 'time', cells: column.cells.map((cell) => toMicros(cell, 10 ** (6 - digits))) }];
}

/**
 * Keeps only the explicit values of a column that the table does not have. Their rows are refused later because of the
 * missing column.
 */
function givenAlone(column: ColumnCells): readonly ColumnCells[] {
  const { given = [] } = column;
  if (given.length === 0) return [];
  const cells = new Array<Cell>(column.cells.length).fill(null);
  for (const row of given) cells[row] = column.cells[row] ?? null;
  return [{ ...column, cells }];
}

/** Shapes without the name tag, cached so that each shape has a single counterpart. */
const untaggedShapes = new WeakMap<TableShape, TableShape>();

/**
 * Removes the tag that holds the table's name (`nameTag`) in two cases: the table exists without such a column, or the
 * table does not exist and would not become a time-series table. The message then describes a relational table. The tag
 * stays if a row has another value for it.
 */
export function fitNameTag(rows: DecodedRows, table: FittedTable | undefined, createsSeries: boolean): DecodedRows {
  const { nameTag, batch, shape } = rows;
  if (nameTag === undefined || shape === undefined) return rows;
  const tag = batch.columns.find(({ name }) => name === nameTag);
  if (tag?.cells.every((cell) => cell === batch.table.name) !== true) return rows;
  if (table === undefined ? createsSeries : table.columns.some(({ name }) => name === nameTag)) return rows;
  let untagged = untaggedShapes.get(shape);
  if (untagged === undefined) {
    untagged = { ...shape, columns: shape.columns.filter(({ name }) => name !== nameTag) };
    untaggedShapes.set(shape, untagged);
  }
  return { ...rows, batch: { ...batch, columns: batch.columns.filter((column) => column !== tag) }, shape: untagged };
}

/** If nanoseconds are part of the key, rows without nanoseconds get 0. */
function withNanos(batch: RowBatch, table: FittedTable): RowBatch {
  const isKept = batch.columns.some(({ role }) => role === 'nanos');
  const isKey = table.key.includes(NANOS_COLUMN);
  if (isKept && !isKey) {
    throw new DatabaseError(
      `table "${tableText(batch.table)}" has no column "${NANOS_COLUMN}" in its key, which nanoseconds=column requires: ` +
        `add it (ALTER TABLE … ADD COLUMN ${NANOS_COLUMN} int2 NOT NULL DEFAULT 0) and include it in the primary key, or use nanoseconds=floor or spread`,
      { scope: 'table', sqlstate: '42703', column: NANOS_COLUMN },
    );
  }
  if (isKept || !isKey || batch.columns.some(({ name }) => name === NANOS_COLUMN)) return batch;
  const cells: Cell[] = new Array<number>(batch.rowCount).fill(0);
  return { ...batch, columns: [...batch.columns, { name: NANOS_COLUMN, role: 'nanos', kind: 'int', cells }] };
}

function timestampDigits(table: FittedTable, { name }: ColumnCells): number | undefined {
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
