import type { Fault, Origin } from './fault.ts';

/**
 * A table as the caller names it. Both parts are exact, unquoted identifiers; without `schema`, the search path
 * applies.
 */
export interface TableName {
  readonly schema?: string | undefined;
  readonly name: string;
}

/** Returns `schema.table` or `table`, for messages and map keys, not for SQL. */
export function tableText(table: TableName): string {
  return table.schema === undefined ? table.name : `${table.schema}.${table.name}`;
}

/**
 * A cell. The values that a decoder may use, by kind:
 * int: number (safe integers) or bigint; float: number; bool: boolean; text: string; bytes: Uint8Array;
 * time: microseconds since the epoch, number where |x| < 2^53, else bigint, or the text `infinity` or `-infinity`;
 * json: JSON text; numeric: decimal text, `NaN`, `Infinity` or `-Infinity`.
 * Any kind: null.
 */
export type Cell = string | number | bigint | boolean | Uint8Array | null;

export type CellKind = 'int' | 'float' | 'bool' | 'text' | 'bytes' | 'time' | 'json' | 'numeric';

/**
 * time: the timestamp of the row, in the first column of a time-series table. nanos: the nanoseconds within the
 * microsecond of that timestamp, which belong to the key. The role nanos occurs only in batches and shapes; in an
 * existing table, the column is data.
 */
export type ColumnRole = 'time' | 'nanos' | 'data' | 'tag' | 'primary-tag';

/** One column of a row batch: the cells of all its rows, in row order. */
export interface ColumnCells {
  readonly name: string;
  readonly role: ColumnRole;
  /** The kind of the cells; the writer converts them to the table's real column type. */
  readonly kind: CellKind;
  readonly cells: Cell[];
  /**
   * Set for a column that the decoder derives from other columns: the rows that have an explicit cell, in ascending
   * order. The derived cells are omitted if the table does not have the column. Not set if no cell is derived.
   */
  readonly given?: readonly number[] | undefined;
}

/**
 * Rows of one table, by column. Every column has exactly `rowCount` cells, and `origins.at(i)` is the origin of row i.
 * One decoder fills a batch and passes it to the batch writer; after that, the batch does not change.
 */
export interface RowBatch {
  readonly table: TableName;
  readonly columns: readonly ColumnCells[];
  readonly rowCount: number;
  readonly origins: Origins;
  /** Columns that identify a row, if the rows specify them; otherwise, the table's own key applies. */
  readonly key?: readonly string[] | undefined;
  /** Determines the columns of each row, and which rows are deletions. If not set, every row stores all columns. */
  readonly groups?: RowGroups | undefined;
}

/** The groups of a batch whose rows differ in their columns or operations. */
export interface RowGroups {
  readonly list: readonly RowGroup[];
  /** Returns the index in `list` of the row's group. */
  of(row: number): number;
}

/** Rows that are written by the same statement. */
export interface RowGroup {
  /** delete: the stored row with the key of this row is deleted; the batch must have a key. */
  readonly operation: 'store' | 'delete';
  /** Names of the columns that these rows have. Cells of other columns have no meaning. */
  readonly columns: ReadonlySet<string>;
  /** Columns whose stored values do not change, because the source did not send them. Not set if there are none. */
  readonly unchanged?: ReadonlySet<string> | undefined;
}

/** The origin of each row. Implementations share one object per batch, not one per row. */
export interface Origins {
  at(row: number): Origin;
}

/** The result of a write. `stored + discarded + collapsed + faults.length` is the number of rows in the batch. */
export interface WriteReport {
  /** Number of rows that are stored now, and of deletions, including those of rows that did not exist. */
  readonly stored: number;
  /**
   * Number of rows that were not stored because a row with the same key exists (dedup.rule=discard) or does not exist
   * (insert.mode=update).
   */
  readonly discarded: number;
  /** Number of rows that a later row with the same key in the same batch replaced, or that were merged into it. */
  readonly collapsed: number;
  /** Refused rows, each with its reason and origin. */
  readonly faults: readonly Fault[];
  /** Columns whose values were not stored because the database computes them. Not set if there are none. */
  readonly computedColumns?: readonly string[];
}
