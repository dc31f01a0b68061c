import type { Fault, Origin } from '../../../../src/data/fault.ts';
import type { ColumnCells, ColumnRole, Origins, RowBatch } from '../../../../src/data/row-batch.ts';
import { shown } from '../message-text.ts';
import type { DecodedRows } from '../format.ts';

/** A table that a metric may refer to, such as a `Table` of the catalogue. */
export interface MetricTable {
  readonly columns: readonly { readonly name: string; readonly role: ColumnRole }[];
}

/** The table and columns for the values of a metric. */
export interface MetricTarget {
  readonly table: string;
  /** The column of an existing table that the metric names; `undefined` for the default value column. */
  readonly column: string | undefined;
  /** The time column of an existing table; `undefined` if it has none, or if the table does not exist. */
  readonly timeColumn: string | undefined;
}

/** PostgreSQL's limit for names, in bytes. */
const MAX_NAME_BYTES = 63;

/** Returns the possible splits of a metric into table and column: at every dot, starting with the last one. */
export function metricSplits(metric: string): { readonly table: string; readonly column: string }[] {
  const splits = [];
  for (let dot = metric.lastIndexOf('.'); dot > 0; dot = metric.lastIndexOf('.', dot - 1)) {
    const [table, column] = [metric.slice(0, dot), metric.slice(dot + 1)];
    // All further column names are too long as well. Stopping here bounds the work for a long metric with many dots.
    if (column.length > MAX_NAME_BYTES) break;
    if (column !== '' && Buffer.byteLength(table) <= MAX_NAME_BYTES) splits.push({ table, column });
  }
  return splits;
}

/**
 * Determines the target of a metric (docs/formats.md#json_tsd-and-line_tsd). If a split of the metric names an existing
 * table and one of its data columns, that column is written; otherwise, the whole metric is the name of the table.
 * Looks up tables by their exact names in the order of `metricSplits`, and finally the whole metric. A cached result
 * must be determined again if the table no longer matches.
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

/** Rows for their target, and the faults of rows that cannot be stored there. */
export interface Retargeted {
  readonly rows: DecodedRows;
  readonly faults: readonly Fault[];
}

/**
 * Applies the names of the target to the rows of a metric. A row becomes a fault if it has a tag with the name of the
 * target's time or value column.
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
    // A new shape object is created only if a name differs: an unchanged object means that the table was already
    // checked.
    shape = {
      ...shape,
      columns: shape.columns.map((column) => ({ ...column, name: rename(column.role, column.name) })),
    };
  }
  const rows = { ...decoded, batch: { ...batch, table: { name: target.table }, columns }, shape };
  return { rows: target.column === undefined ? rows : { ...rows, partial: true }, faults };
}

/** Removes the tag `column` from the batch. Rows with a value for this tag are removed as well, and become faults. */
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
  const message = `the tag ${shown(column)} has the name of the time or value column of table ${shown(table)}`;
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
