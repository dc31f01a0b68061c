import type { TableName } from '../../../src/data/row-batch.ts';
import { quoteIdentifier, quoteTable } from './quote.ts';

/** Determines what happens if a row with the same key is already stored (docs/sink.md#tables-and-rows). */
export type ConflictRule = 'override' | 'merge' | 'discard';

/** A column that receives values, in parameter order. */
export interface InsertColumn {
  readonly name: string;
  /**
   * The type without length or precision: a cast to `varchar(5)[]` would truncate text that the column would reject.
   */
  readonly baseType: string;
  /** `unnest` flattens nested arrays, so array columns are sent as text and cast per row. */
  readonly isArray: boolean;
  /** SQL of the default for missing cells of a NOT NULL column. */
  readonly nullDefault: string | undefined;
  /** Schema of the type's `=` operator. */
  readonly operatorSchema: string;
}

export interface Conflict {
  readonly rule: ConflictRule;
  /** Columns of the unique index that detects the conflict. */
  readonly key: readonly string[];
  /**
   * Columns to update: all other columns of the table if the row is replaced as a whole, otherwise only those of the
   * rows.
   */
  readonly others: readonly string[];
}

/** A column whose stored value does not change. */
export type KeptColumn = Pick<InsertColumn, 'name' | 'nullDefault'>;

/**
 * Returns true if rows with an existing key are skipped. The conflict `any` does the same for every unique constraint,
 * and requires no privilege other than INSERT.
 */
export function skipsExisting({ rule, others }: Conflict): boolean {
  return rule === 'discard' || others.length === 0;
}

/**
 * Returns `INSERT … SELECT … FROM ROWS FROM (unnest($1::t[]), …)`, whose text does not depend on the number of rows:
 * each column is one array. It runs with the session's search path, which triggers may need, so all names in it are
 * qualified. Without a conflict clause, a duplicate key is an error (23505); with `any`, rows that violate any unique
 * constraint are skipped.
 *
 * PostgreSQL runs triggers and checks constraints before it looks for a conflict. Values of the `kept` columns are
 * therefore read from the stored row, although they do not change. Without a stored row, they are NULL or
 * `nullDefault`.
 */
export function insertStatement(
  table: TableName,
  columns: readonly InsertColumn[],
  conflict: Conflict | 'any' | undefined,
  kept: readonly KeptColumn[] = [],
): string {
  const names = [...columns, ...kept].map(({ name }) => quoteIdentifier(name)).join(', ');
  const cells = [...columns.map((column, index) => selected(column, index)), ...kept.map(keptValue)].join(', ');
  const join =
    kept.length === 0 || typeof conflict !== 'object'
      ? ''
      : ` LEFT JOIN ${quoteTable(table)} AS existing ON ${sameKey(columns, conflict.key, 'existing')}`;
  return (
    `INSERT INTO ${quoteTable(table)} AS stored (${names}) SELECT ${cells} ` +
    `FROM ${inputRows(columns)}${join}${conflictClause(conflict)}`
  );
}

/** Returns a statement that updates the stored rows with these keys; rows that do not exist are ignored. */
export function updateStatement(table: TableName, columns: readonly InsertColumn[], key: readonly string[]): string {
  const others = columns.filter(({ name }) => !key.includes(name));
  // Rows with key columns only have nothing to update, but SQL requires an assignment.
  const assigned = (others.length === 0 ? columns : others).map(
    (column) => `${quoteIdentifier(column.name)} = ${selected(column, columns.indexOf(column))}`,
  );
  return `UPDATE ${quoteTable(table)} AS stored SET ${assigned.join(', ')} FROM ${inputRows(columns)} WHERE ${sameKey(columns, key)}`;
}

export function deleteStatement(table: TableName, columns: readonly InsertColumn[], key: readonly string[]): string {
  return `DELETE FROM ${quoteTable(table)} AS stored USING ${inputRows(columns)} WHERE ${sameKey(columns, key)}`;
}

/**
 * Returns a FROM item with the columns `c1`, `c2` and so on, each from one array parameter. Each array has its own
 * call, because `unnest` with several arguments cannot be qualified.
 */
function inputRows(columns: readonly InsertColumn[]): string {
  const arrays = columns.map(
    (column, index) =>
      `pg_catalog.unnest($${String(index + 1)}::${column.isArray ? 'pg_catalog.text' : column.baseType}[])`,
  );
  const aliases = columns.map((_, index) => `c${String(index + 1)}`).join(', ');
  return `ROWS FROM (${arrays.join(', ')}) AS input(${aliases})`;
}

function sameKey(columns: readonly InsertColumn[], key: readonly string[], alias = 'stored'): string {
  return columns
    .flatMap((column, index) =>
      key.includes(column.name)
        ? [`${alias}.${quoteIdentifier(column.name)} ${equals(column)} ${selected(column, index)}`]
        : [],
    )
    .join(' AND ');
}

function equals({ operatorSchema }: InsertColumn): string {
  return `OPERATOR(${quoteIdentifier(operatorSchema)}.=)`;
}

function keptValue({ name, nullDefault }: KeptColumn): string {
  const value = `existing.${quoteIdentifier(name)}`;
  return nullDefault === undefined ? value : `COALESCE(${value}, ${nullDefault})`;
}

/**
 * Returns the value for a column. The input column is qualified, because the table may have a column of the same name.
 */
function selected(column: InsertColumn, index: number): string {
  const cell = `input.c${String(index + 1)}`;
  const value = column.isArray ? `${cell}::${column.baseType}` : cell;
  return column.nullDefault === undefined ? value : `COALESCE(${value}, ${column.nullDefault})`;
}

/** DO NOTHING without a target names no columns, so it does not require the SELECT privilege on them. */
function conflictClause(conflict: Conflict | 'any' | undefined): string {
  if (conflict === undefined) return '';
  if (conflict === 'any') return ' ON CONFLICT DO NOTHING';
  const target = ` ON CONFLICT (${conflict.key.map(quoteIdentifier).join(', ')})`;
  if (skipsExisting(conflict)) return `${target} DO NOTHING`;
  const assignments = conflict.others.map((name) => {
    const column = quoteIdentifier(name);
    const value = conflict.rule === 'merge' ? `COALESCE(EXCLUDED.${column}, stored.${column})` : `EXCLUDED.${column}`;
    return `${column} = ${value}`;
  });
  return `${target} DO UPDATE SET ${assignments.join(', ')}`;
}
