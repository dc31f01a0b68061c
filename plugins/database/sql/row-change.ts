import type { TableName } from '../../../src/data/row-batch.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from './quote.ts';

/** A value of a column, in PostgreSQL's text format. */
export interface ColumnValue {
  readonly name: string;
  /** As printed by `format_type`. */
  readonly type: string;
  readonly value: string | null;
}

/**
 * The row that a statement changes. Without `others`, the row is identified by its key. With `others`, it is one row
 * with this key and these other values. The other values are compared as text, because some types have no `=` operator;
 * the key is compared with `=`, so that an index can be used.
 */
export interface RowCondition {
  readonly key: readonly ColumnValue[];
  readonly others: readonly ColumnValue[] | undefined;
}

/** Returns an UPDATE of the row. With `keeps`, the statement updates nothing if a row with the key `keeps` exists. */
export function updateStatement(
  table: TableName,
  values: readonly ColumnValue[],
  row: RowCondition,
  keeps?: readonly ColumnValue[],
): string {
  const set = values.map((value) => `${quoteIdentifier(value.name)} = ${literal(value.value)}`);
  const unless =
    keeps === undefined ? '' : ` AND NOT EXISTS (SELECT FROM ${quoteTable(table)} WHERE ${equalities(keeps)})`;
  return `UPDATE ${quoteTable(table)} SET ${set.join(', ')} WHERE ${condition(table, row)}${unless}`;
}

/** Returns a DELETE of the row; without `row`, of all rows of the table. */
export function deleteStatement(table: TableName, row?: RowCondition): string {
  return `DELETE FROM ${quoteTable(table)}${row === undefined ? '' : ` WHERE ${condition(table, row)}`}`;
}

function condition(table: TableName, { key, others }: RowCondition): string {
  if (others === undefined) return equalities(key);
  const all = [...(key.length === 0 ? [] : [equalities(key)]), ...others.map(sameText)];
  return `ctid = (SELECT ctid FROM ${quoteTable(table)} WHERE ${all.join(' AND ')} LIMIT 1)`;
}

function equalities(values: readonly ColumnValue[]): string {
  return values
    .map(({ name, value }) => {
      const column = quoteIdentifier(name);
      return value === null ? `${column} IS NULL` : `${column} = ${quoteLiteral(value)}`;
    })
    .join(' AND ');
}

function sameText({ name, type, value }: ColumnValue): string {
  const column = quoteIdentifier(name);
  return value === null ? `${column} IS NULL` : `${column}::text = ${quoteLiteral(value)}::${type}::text`;
}

function literal(value: string | null): string {
  return value === null ? 'NULL' : quoteLiteral(value);
}
