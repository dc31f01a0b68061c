import type { ColumnRole } from './row-batch.ts';

/**
 * The columns that a batch requires of its table, as far as they are known from the text; the writer creates or checks the table.
 * Only formats that carry names, types and lengths (json_db) or that may create tables fill it in.
 */
export interface TableShape {
  readonly columns: readonly ColumnShape[];
  /** True when the text itself lists all columns in order, so that an existing table must match names and order. */
  readonly exact: boolean;
  /** Columns of the primary key of a table without a time column; absent or empty: it gets none. */
  readonly key?: readonly string[] | undefined;
}

export interface ColumnShape {
  readonly name: string;
  readonly role: ColumnRole;
  /** Canonical upper-case type name of the documents: TIMESTAMPTZ, INT2, INT4, INT8, FLOAT4, FLOAT8, BOOL, VARCHAR … */
  readonly type: string;
  /** Characters, for string types; `undefined` where the type has none. */
  readonly length: number | undefined;
  readonly nullable: boolean;
}
