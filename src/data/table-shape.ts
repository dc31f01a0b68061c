import type { ColumnRole } from './row-batch.ts';

/**
 * The columns that a batch requires of its table, as far as they are known from the text. The writer creates or checks
 * the table. Only formats that contain names, types and lengths (json_db), or that may create tables, set it.
 */
export interface TableShape {
  readonly columns: readonly ColumnShape[];
  /**
   * True if the text lists all columns in order, so that an existing table must have the same names in the same order.
   */
  readonly exact: boolean;
  /**
   * Columns of the primary key of a table without a time column. If not set or empty, the table gets no primary key.
   */
  readonly key?: readonly string[] | undefined;
}

export interface ColumnShape {
  readonly name: string;
  readonly role: ColumnRole;
  /**
   * Canonical type name in upper case, as in the documentation: TIMESTAMPTZ, INT2, INT4, INT8, FLOAT4, FLOAT8, BOOL,
   * VARCHAR …
   */
  readonly type: string;
  /** Length in characters, for string types; `undefined` if the type has no length. */
  readonly length: number | undefined;
  readonly nullable: boolean;
}
