import type { TableName } from '../../../src/data/row-batch.ts';
import { quoteIdentifier, quoteTable } from './quote.ts';

/** What a row does to a stored row with the same key (docs/sink.md#tables-and-rows). */
export type ConflictRule = 'override' | 'merge' | 'discard';

/** A column of the table that gets values, in parameter order. */
export interface InsertColumn {
  readonly name: string;
  /**
   * The type with its schema, without length or precision: a cast to `varchar(5)[]` would cut text silently, the column refuses
   * it.
   */
  readonly baseType: string;
  /** Arrays of arrays would be taken apart by `unnest`: such columns travel as text and are cast row by row. */
  readonly isArray: boolean;
  /** SQL of the column's default, for a NOT NULL column whose cells may be missing. */
  readonly nullDefault: string | undefined;
  /** Schema of the type's operator `=`. */
  readonly operatorSchema: string;
}

export interface Conflict {
  readonly rule: ConflictRule;
  /** The columns of the unique index that decides. */
  readonly key: readonly string[];
  /** Override: every other column of the table, so that the later row replaces the whole row. Merge: those with values. */
  readonly others: readonly string[];
}

/** Whether a row whose key is stored is left out, which a user can do who may do no more than INSERT. */
export function leavesOut({ rule, others }: Conflict): boolean {
  return rule === 'discard' || others.length === 0;
}

/**
 * `INSERT … SELECT … FROM ROWS FROM (unnest($1::t[]), …)`: one text for any number of rows, one array per column. It runs with the search
 * path of the session, which triggers may need, so that all that it names itself has its schema.
 * Without a conflict a stored row with the same key is an error of the server (23505); `any`: a row that any unique constraint
 * refuses is left out.
 */
export function insertStatement(
  table: TableName,
  columns: readonly InsertColumn[],
  conflict: Conflict | 'any' | undefined,
): string {
  const names = columns.map((column) => quoteIdentifier(column.name)).join(', ');
  const cells = columns.map((column, index) => selected(column, index));
  return (
    `INSERT INTO ${quoteTable(table)} AS stored (${names}) SELECT ${cells.join(', ')} ` +
    `FROM ${inputRows(columns)}${conflictClause(conflict)}`
  );
}

/** Sets the other columns of the stored rows with these keys; rows without a stored one do nothing. */
export function updateStatement(table: TableName, columns: readonly InsertColumn[], key: readonly string[]): string {
  const others = columns.filter(({ name }) => !key.includes(name));
  // With nothing but the key there is nothing to set, and SQL wants something.
  const assigned = (others.length === 0 ? columns : others).map(
    (column) => `${quoteIdentifier(column.name)} = ${selected(column, columns.indexOf(column))}`,
  );
  return `UPDATE ${quoteTable(table)} AS stored SET ${assigned.join(', ')} FROM ${inputRows(columns)} WHERE ${sameKey(columns, key)}`;
}

/** Removes the stored rows with these keys. */
export function deleteStatement(table: TableName, columns: readonly InsertColumn[], key: readonly string[]): string {
  return `DELETE FROM ${quoteTable(table)} AS stored USING ${inputRows(columns)} WHERE ${sameKey(columns, key)}`;
}

/** One parameter per column, as rows of `c1`, `c2` and so on. Only the function of one array has a name with a schema. */
function inputRows(columns: readonly InsertColumn[]): string {
  const arrays = columns.map(
    (column, index) =>
      `pg_catalog.unnest($${String(index + 1)}::${column.isArray ? 'pg_catalog.text' : column.baseType}[])`,
  );
  const aliases = columns.map((_, index) => `c${String(index + 1)}`).join(', ');
  return `ROWS FROM (${arrays.join(', ')}) AS input(${aliases})`;
}

function sameKey(columns: readonly InsertColumn[], key: readonly string[]): string {
  return columns
    .flatMap((column, index) =>
      key.includes(column.name)
        ? [`stored.${quoteIdentifier(column.name)} ${equals(column)} ${selected(column, index)}`]
        : [],
    )
    .join(' AND ');
}

function equals({ operatorSchema }: InsertColumn): string {
  return `OPERATOR(${quoteIdentifier(operatorSchema)}.=)`;
}

function selected(column: InsertColumn, index: number): string {
  const alias = `c${String(index + 1)}`;
  const value = column.isArray ? `${alias}::${column.baseType}` : alias;
  return column.nullDefault === undefined ? value : `COALESCE(${value}, ${column.nullDefault})`;
}

/** A conflict of any kind names no columns, and so needs no right to read them. */
function conflictClause(conflict: Conflict | 'any' | undefined): string {
  if (conflict === undefined) return '';
  if (conflict === 'any') return ' ON CONFLICT DO NOTHING';
  const target = ` ON CONFLICT (${conflict.key.map(quoteIdentifier).join(', ')})`;
  if (leavesOut(conflict)) return `${target} DO NOTHING`;
  const assignments = conflict.others.map((name) => {
    const column = quoteIdentifier(name);
    const value = conflict.rule === 'merge' ? `COALESCE(EXCLUDED.${column}, stored.${column})` : `EXCLUDED.${column}`;
    return `${column} = ${value}`;
  });
  return `${target} DO UPDATE SET ${assignments.join(', ')}`;
}
