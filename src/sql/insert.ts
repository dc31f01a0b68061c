import type { TableName } from '../data/row-batch.ts';
import { quoteIdentifier, quoteTable } from './quote.ts';

/** What a row does to a stored row with the same key (decisions.md, "Same key again"). */
export type ConflictRule = 'override' | 'merge' | 'discard';

/** A column of the table that gets values, in parameter order. */
export interface InsertColumn {
  readonly name: string;
  /** The type without length or precision: a cast to `varchar(5)[]` would cut text silently, the column refuses it. */
  readonly baseType: string;
  /** Arrays of arrays would be taken apart by `unnest`: such columns travel as text and are cast row by row. */
  readonly isArray: boolean;
  /** SQL of the column's default, for a NOT NULL column whose cells may be missing. */
  readonly nullDefault: string | undefined;
}

export interface Conflict {
  readonly rule: ConflictRule;
  /** The columns of the unique index that decides. */
  readonly key: readonly string[];
  /** Override: every other column of the table, so that the later row replaces the whole row. Merge: those with values. */
  readonly others: readonly string[];
}

/**
 * `INSERT … SELECT … FROM unnest($1::t[], …)`: one text for any number of rows, one array per column.
 * Without a conflict a stored row with the same key is an error of the server (23505).
 */
export function insertStatement(
  table: TableName,
  columns: readonly InsertColumn[],
  conflict: Conflict | undefined,
): string {
  const names = columns.map((column) => quoteIdentifier(column.name)).join(', ');
  const arrays = columns.map(
    (column, index) => `$${String(index + 1)}::${column.isArray ? 'text' : column.baseType}[]`,
  );
  const cells = columns.map((column, index) => selected(column, `c${String(index + 1)}`));
  const aliases = columns.map((_, index) => `c${String(index + 1)}`).join(', ');
  return (
    `INSERT INTO ${quoteTable(table)} AS stored (${names}) SELECT ${cells.join(', ')} ` +
    `FROM unnest(${arrays.join(', ')}) AS input(${aliases})${conflictClause(conflict)}`
  );
}

function selected(column: InsertColumn, alias: string): string {
  const value = column.isArray ? `${alias}::${column.baseType}` : alias;
  return column.nullDefault === undefined ? value : `COALESCE(${value}, ${column.nullDefault})`;
}

function conflictClause(conflict: Conflict | undefined): string {
  if (conflict === undefined) return '';
  const target = ` ON CONFLICT (${conflict.key.map(quoteIdentifier).join(', ')})`;
  if (conflict.rule === 'discard' || conflict.others.length === 0) return `${target} DO NOTHING`;
  const assignments = conflict.others.map((name) => {
    const column = quoteIdentifier(name);
    const value = conflict.rule === 'merge' ? `COALESCE(EXCLUDED.${column}, stored.${column})` : `EXCLUDED.${column}`;
    return `${column} = ${value}`;
  });
  return `${target} DO UPDATE SET ${assignments.join(', ')}`;
}
