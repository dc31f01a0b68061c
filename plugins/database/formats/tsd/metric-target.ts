import type { Fault, Origin } from '../../../../src/data/fault.ts';
import type { ColumnCells, ColumnRole, Origins, RowBatch } from '../../../../src/data/row-batch.ts';
import { shown } from '../message-text.ts';
import type { DecodedRows } from '../format.ts';

/** What must be known of a table that a metric may name; the catalogue's tables fit. */
export interface MetricTable {
  readonly columns: readonly { readonly name: string; readonly role: ColumnRole }[];
}

/** Where the values of a metric go. */
export interface MetricTarget {
  readonly table: string;
  /** The column of an existing table that the metric names; `undefined`: the column that is created for any metric. */
  readonly column: string | undefined;
  /** The time column of an existing table; `undefined` where none is marked so, or the table does not exist. */
  readonly timeColumn: string | undefined;
}

/** PostgreSQL's limit for names, in bytes. */
const MAX_NAME_BYTES = 63;

/** The ways to read a metric as table and column: at every dot, the last one first. */
export function metricSplits(metric: string): { readonly table: string; readonly column: string }[] {
  const splits = [];
  for (let dot = metric.lastIndexOf('.'); dot > 0; dot = metric.lastIndexOf('.', dot - 1)) {
    const [table, column] = [metric.slice(0, dot), metric.slice(dot + 1)];
    // Either part is too long from here on, and a long metric has many dots.
    if (column.length > MAX_NAME_BYTES) break;
    if (column !== '' && Buffer.byteLength(table) <= MAX_NAME_BYTES) splits.push({ table, column });
  }
  return splits;
}

/**
 * Where a metric's values go: "if a table `table` with a column `column` exists, that column is written; else the table is named
 * by the whole metric" (docs/formats.md#json_tsd-and-line_tsd). Asks for tables by their exact names, in the order of
 * `metricSplits`, then for the whole metric. A caller that keeps the answer must ask again when the table no longer fits.
 */
export async function resolveMetric(
  metric: string,
  findTable: (name: string) => Promise<MetricTable | undefined>,
): Promise<MetricTarget> {
  for (const { table, column } of metricSplits(metric)) {
    const found = await findTable(table);
    const isData = found?.columns.some(({ name, role }) => name === column && role === 'data') ?? false;
    if (found !== undefined && isData) return targetIn(found, table, column);
  }
  const whole = await findTable(metric);
  if (whole !== undefined) return targetIn(whole, metric, undefined);
  return { table: metric, column: undefined, timeColumn: undefined };
}

function targetIn({ columns }: MetricTable, table: string, column: string | undefined): MetricTarget {
  const timeColumn = columns.find(({ role }) => role === 'time')?.name;
  return { table, column, timeColumn };
}

/** Rows for their target, and those that cannot go there. */
export interface Retargeted {
  readonly rows: DecodedRows;
  readonly faults: readonly Fault[];
}

/**
 * Gives rows of a metric the table, the time and the value column of their target. Rows whose tag has the name of the time or the
 * value column are faults.
 */
export function retarget(decoded: DecodedRows, target: MetricTarget): Retargeted {
  const faults: Fault[] = [];
  const rename = (role: ColumnRole, name: string) =>
    (role === 'time' ? target.timeColumn : role === 'data' ? target.column : undefined) ?? name;
  let { batch, shape } = decoded;
  for (const { role, name } of decoded.batch.columns) {
    if (role === 'time' || role === 'data') batch = withoutTag(batch, rename(role, name), target.table, faults);
  }
  const columns = batch.columns.map((column) => ({ ...column, name: rename(column.role, column.name) }));
  if (target.column !== undefined) {
    shape = undefined;
  } else if (shape !== undefined && columns.some(({ name }, at) => name !== batch.columns[at]?.name)) {
    // Only then, because the same object says that nothing changed since the table was made sure of.
    shape = {
      ...shape,
      columns: shape.columns.map((column) => ({ ...column, name: rename(column.role, column.name) })),
    };
  }
  const rows = { ...decoded, batch: { ...batch, table: { name: target.table }, columns }, shape };
  return { rows: target.column === undefined ? rows : { ...rows, partial: true }, faults };
}

/** The rows that do not have this tag; those that do become faults. */
function withoutTag(batch: RowBatch, column: string, table: string, faults: Fault[]): RowBatch {
  const tag = batch.columns.find(({ name, role }) => name === column && role !== 'time' && role !== 'data');
  if (tag === undefined) return batch;
  const rows: number[] = [];
  for (let row = 0; row < batch.rowCount; row++) {
    if ((tag.cells[row] ?? null) === null) rows.push(row);
    else faults.push(clash(batch.origins.at(row), table, column));
  }
  const columns = batch.columns
    .filter((other) => other !== tag)
    .map((other) => ({ ...other, cells: rows.map((row) => other.cells[row] ?? null), given: picked(other, rows) }));
  return { ...batch, columns, rowCount: rows.length, origins: new PickedOrigins(batch.origins, rows) };
}

function picked({ given }: ColumnCells, rows: readonly number[]): number[] | undefined {
  if (given === undefined) return undefined;
  const old = new Set(given);
  return rows.flatMap((row, at) => (old.has(row) ? [at] : []));
}

function clash(origin: Origin, table: string, column: string): Fault {
  const message = `the tag ${shown(column)} has the name of a column that table ${shown(table)} has for the time or the value`;
  return { scope: 'record', message, origin, table, column };
}

class PickedOrigins implements Origins {
  readonly #origins: Origins;
  readonly #rows: readonly number[];

  constructor(origins: Origins, rows: readonly number[]) {
    this.#origins = origins;
    this.#rows = rows;
  }

  at(row: number): Origin {
    return this.#origins.at(this.#rows[row] ?? row);
  }
}
