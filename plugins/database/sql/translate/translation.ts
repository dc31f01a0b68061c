import type { ColumnRole, TableName } from '../../../../src/data/row-batch.ts';
import type { Dialect } from '../dialects/dialect.ts';

/**
 * Result of translating a statement that may be the original database's SQL
 * (docs/database-api.md#sql-of-the-original-database).
 */
export type Translation =
  | RunTranslation
  /** `USE x`: the following statements run in database `x`. */
  | { readonly kind: 'use'; readonly database: string }
  /** `SET CLUSTER SETTING a.b = value`. `name` is in lower case; `value` is `undefined` for DEFAULT and RESET. */
  | { readonly kind: 'set-cluster-setting'; readonly name: string; readonly value: string | undefined }
  /** `SHOW CLUSTER SETTING a.b`; `name` is `undefined` for all settings. */
  | { readonly kind: 'show-cluster-setting'; readonly name: string | undefined }
  /** The statement is not sent. `message` names the alternative, and `sqlstate` classifies the error. */
  | { readonly kind: 'refuse'; readonly message: string; readonly sqlstate: string };

export interface RunTranslation {
  readonly kind: 'run';
  /** Statements to run in this order. The last one supplies the result, and only it may return rows. */
  readonly statements: readonly string[];
  /** True if all run in one transaction. Otherwise, each runs separately, as CREATE DATABASE requires. */
  readonly transaction: boolean;
  /**
   * SQLSTATE that counts as success if the first statement fails with it (IF NOT EXISTS); the others are then skipped.
   */
  readonly doneOn: string | undefined;
  /** The database to run in if it is not the current one (`SHOW TABLES FROM other`). */
  readonly database: string | undefined;
  /** Messages to the user about ignored clauses. */
  readonly notices: readonly string[];
  /** Explains which privileges an INSERT needs on its table. Appended to the error if a privilege is missing. */
  readonly rights: string | undefined;
}

/** Properties of the session that translations use. */
export interface TranslationContext {
  /** Name of the current database. */
  readonly database: string;
  /** Looks up one of the tables that `tablesNeeded` (translate.ts) has returned; `undefined` if it does not exist. */
  readonly table: (name: TableName) => KnownTable | undefined;
  /** How new time-series tables become hypertables, if the dialect supports it. */
  readonly hypertables?: Dialect['hypertables'];
}

/** A table in the catalogue, such as a `Table` of the executor's API. */
export interface KnownTable {
  /** In the table's own order. */
  readonly columns: readonly KnownColumn[];
  readonly key: readonly string[];
}

export interface KnownColumn {
  readonly name: string;
  /** As printed by `format_type`. */
  readonly type: string;
  readonly role: ColumnRole;
  /** True if the database computes the column and rejects values. */
  readonly generated?: boolean | undefined;
}

/** Thrown during a translation, and returned from it as `refuse`. */
export class Refused extends Error {
  readonly sqlstate: string;

  /** The default is 0A000, feature not supported. */
  constructor(message: string, sqlstate = '0A000') {
    super(message);
    this.sqlstate = sqlstate;
  }
}

export function run(
  statements: readonly string[],
  options: Partial<Omit<RunTranslation, 'kind'>> = {},
): RunTranslation {
  return {
    kind: 'run',
    statements,
    transaction: statements.length > 1,
    doneOn: undefined,
    database: undefined,
    notices: [],
    rights: undefined,
    ...options,
  };
}

/** Returns true if the table has tags; a timestamp as first column is not sufficient for a time-series table. */
export function isTimeSeries(table: KnownTable): boolean {
  return table.columns.some(isTag);
}

export function isTag(column: KnownColumn): boolean {
  return column.role === 'tag' || column.role === 'primary-tag';
}

/**
 * Returns the columns in the order of the original database's table definition: data columns first, also those that
 * were added later, then tags.
 */
export function definitionOrder(table: KnownTable): readonly KnownColumn[] {
  return [...table.columns.filter((column) => !isTag(column)), ...table.columns.filter(isTag)];
}
