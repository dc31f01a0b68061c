import type { Fault, Origin } from './fault.ts';

/** A table as the caller names it; both parts are exact, unquoted identifiers. `schema` absent: the search path. */
export interface TableName {
  readonly schema?: string | undefined;
  readonly name: string;
}

/** `schema.table` or `table`, for messages and map keys; not SQL. */
export function tableText(table: TableName): string {
  return table.schema === undefined ? table.name : `${table.schema}.${table.name}`;
}

/**
 * One cell. What a decoder may put per value kind:
 * int: number (safe integers) or bigint; float: number; bool: boolean; text: string; bytes: Uint8Array;
 * time: microseconds since the epoch, number where |x| < 2^53, else bigint, or the text `infinity` or `-infinity`;
 * json: JSON text; numeric: decimal text, `NaN`, `Infinity` or `-Infinity`.
 * Any kind: null.
 */
export type Cell = string | number | bigint | boolean | Uint8Array | null;

export type CellKind = 'int' | 'float' | 'bool' | 'text' | 'bytes' | 'time' | 'json' | 'numeric';

/**
 * time: the row's timestamp, first column of a time-series table. nanos: the nanoseconds beyond its microseconds, which belong to
 * the key; only in batches and shapes, a table that exists has them as data.
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
   * Set for a column that the decoder derives from other ones: the rows that have their own cell, in row order. The derived cells are
   * left out if the table does not have the column. Absent: all cells are the rows' own.
   */
  readonly given?: readonly number[] | undefined;
}

/**
 * Rows of one table, by column. Every column has exactly `rowCount` cells. Row i came from `origins.at(i)`.
 * A batch is filled by one decoder, then handed to the batch writer and not changed any more.
 */
export interface RowBatch {
  readonly table: TableName;
  readonly columns: readonly ColumnCells[];
  readonly rowCount: number;
  readonly origins: Origins;
  /** Columns that identify a row, where the rows themselves say so; absent: the table's own key counts. */
  readonly key?: readonly string[] | undefined;
  /** Which rows have which columns, and which are deletions; absent: every row stores all columns. */
  readonly groups?: RowGroups | undefined;
}

/** The groups of a batch whose rows are not all alike. */
export interface RowGroups {
  readonly list: readonly RowGroup[];
  /** Index in `list` of the row's group. */
  of(row: number): number;
}

/** Rows that are written by the same statement. */
export interface RowGroup {
  /** delete: the stored row with this row's key goes; the batch must have a key then. */
  readonly operation: 'store' | 'delete';
  /** Names of the columns that its rows have; their other cells mean nothing. */
  readonly columns: ReadonlySet<string>;
  /** Columns whose stored values stay, because the source did not send them. Absent if there are none. */
  readonly unchanged?: ReadonlySet<string> | undefined;
}

/** The origin of each row. Implementations share one object per batch, not one per row. */
export interface Origins {
  at(row: number): Origin;
}

/** The result of a write. `stored + discarded + collapsed + faults.length` is the number of rows handed in. */
export interface WriteReport {
  /** Rows that the database now holds, and deletions that were done (whether or not there was a row). */
  readonly stored: number;
  /** Rows not stored because one with the same key was (dedup.rule=discard), or because none was (insert.mode=update). */
  readonly discarded: number;
  /** Rows that became one with a later row with the same key in the same batch: replaced by it, or merged into it. */
  readonly collapsed: number;
  /** Rows refused, each with its reason and origin. */
  readonly faults: readonly Fault[];
  /** Columns whose values were not stored because the database computes them; absent where there are none. */
  readonly computedColumns?: readonly string[];
}
