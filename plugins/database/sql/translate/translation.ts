import type { ColumnRole, TableName } from '../../../../src/data/row-batch.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { ConflictRule } from '../insert.ts';

/** What becomes of a statement that may be the original's SQL (docs/database-api.md#the-databases-own-sql). */
export type Translation =
  | RunTranslation
  /** `USE x`: the statements behind it run in database `x`. */
  | { readonly kind: 'use'; readonly database: string }
  /** `SET CLUSTER SETTING a.b = value`; `value` is absent for DEFAULT and RESET. `name` is in lower case. */
  | { readonly kind: 'set-cluster-setting'; readonly name: string; readonly value: string | undefined }
  /** `SHOW CLUSTER SETTING a.b`; `name` is absent for all of them. */
  | { readonly kind: 'show-cluster-setting'; readonly name: string | undefined }
  /** The database is not asked: the message says what to write instead. `sqlstate` as the database would give. */
  | { readonly kind: 'refuse'; readonly message: string; readonly sqlstate: string };

/** Statements for the database. */
export interface RunTranslation {
  readonly kind: 'run';
  /** To be run in this order; the last one's result is the statement's. Rows, where there are any, are the last one's. */
  readonly statements: readonly string[];
  /** One transaction around all of them; otherwise each on its own (CREATE DATABASE bears no transaction). */
  readonly transaction: boolean;
  /** The first statement failing with this SQLSTATE is the wanted result (IF NOT EXISTS): the rest is left out. */
  readonly doneOn: string | undefined;
  /** The database they run in when it is not the current one (`SHOW TABLES FROM other`). */
  readonly database: string | undefined;
  /** What was left out of the statement, for the user to read. */
  readonly notices: readonly string[];
  /** Why the user needs which rights on the table of an INSERT, for the error when one is missing. */
  readonly rights: string | undefined;
}

/** What a translation must know of where the statement runs. */
export interface TranslationContext {
  /** Name of the current database. */
  readonly database: string;
  /** What is known of a table named by `tablesNeeded`; `undefined` when it does not exist. */
  readonly table: (name: TableName) => KnownTable | undefined;
  /** What new time-series tables become where the dialect has something for them. */
  readonly hypertables?: Dialect['hypertables'];
  /** What a row does to a stored row with the same key; `override` when absent. */
  readonly dedupRule?: ConflictRule | undefined;
}

/** A table as the catalogue gives it (`Table` of the database's API fits). */
export interface KnownTable {
  /** In the table's own order. */
  readonly columns: readonly KnownColumn[];
  readonly key: readonly string[];
}

export interface KnownColumn {
  readonly name: string;
  /** As `format_type` prints it. */
  readonly type: string;
  readonly role: ColumnRole;
  /** The database computes it and refuses values. */
  readonly generated?: boolean | undefined;
}

/** Thrown inside a translation, returned from it as `refuse`. */
export class Refused extends Error {
  readonly sqlstate: string;

  /** 0A000, feature not supported, unless said otherwise. */
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

/** A time-series table is one with tags; the first timestamp alone is no sign of it. */
export function isTimeSeries(table: KnownTable): boolean {
  return table.columns.some(isTag);
}

export function isTag(column: KnownColumn): boolean {
  return column.role === 'tag' || column.role === 'primary-tag';
}

/** Columns in the order of the original's table definition: tags behind the data, also columns added later. */
export function definitionOrder(table: KnownTable): readonly KnownColumn[] {
  return [...table.columns.filter((column) => !isTag(column)), ...table.columns.filter(isTag)];
}
