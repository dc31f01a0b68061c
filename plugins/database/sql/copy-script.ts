import type { TableName } from '../../../src/data/row-batch.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from './quote.ts';

/** What the server says in an error (22P02) when a column's type is no longer what the rows were written for. */
export const TYPES_CHANGED = 'column types have changed';

/** A table that rows are copied into, as the parts of a script name it. */
export interface CopyTarget {
  /** In quotes. */
  readonly table: string;
  /** Names and types of the columns; equal for tables of one layout. */
  readonly types: string;
  readonly columnCount: number;
  readonly copy: string;
}

export function copyTarget(table: TableName, columns: readonly { name: string; typeOid: number }[]): CopyTarget {
  const target = quoteTable(table);
  return {
    table: target,
    types: columns.map(({ name, typeOid }) => `(${quoteLiteral(name)}, ${String(typeOid)})`).join(', '),
    columnCount: columns.length,
    copy: `COPY ${target} (${columns.map(({ name }) => quoteIdentifier(name)).join(', ')}) FROM STDIN (FORMAT binary)`,
  };
}

/**
 * A text for the simple protocol: `COPY t (a, b) FROM STDIN (FORMAT binary)` for each of the tables, in one transaction with a look at
 * the columns' types. Binary values carry none: those of a float8 would become an int8 after ALTER COLUMN TYPE and nobody would notice.
 */
export function copyScript(targets: readonly CopyTarget[]): string {
  const layouts = new Map<string, CopyTarget[]>();
  for (const target of targets) {
    const alike = layouts.get(target.types);
    if (alike === undefined) layouts.set(target.types, [target]);
    else alike.push(target);
  }
  return [
    `LOCK TABLE ${targets.map(({ table }) => `ONLY ${table}`).join(', ')} IN ROW EXCLUSIVE MODE`,
    ...[...layouts.values()].map(typeCheck),
    ...targets.map(({ copy }) => copy),
  ].join('; ');
}

/** For tables of one layout. */
function typeCheck(targets: readonly CopyTarget[]): string {
  const [{ types, columnCount } = { types: '', columnCount: 0 }] = targets;
  const tables = targets.map(({ table }) => `${quoteLiteral(table)}::pg_catalog.regclass`).join(', ');
  return (
    `SELECT (CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.=) ${String(targets.length * columnCount)} THEN '0' ` +
    `ELSE ${quoteLiteral(TYPES_CHANGED)} END)::pg_catalog.int4 ` +
    `FROM pg_catalog.pg_attribute a JOIN (VALUES ${types}) AS c(name, type) ` +
    `ON a.attname OPERATOR(pg_catalog.=) c.name AND a.atttypid OPERATOR(pg_catalog.=) c.type AND NOT a.attisdropped ` +
    `WHERE a.attrelid OPERATOR(pg_catalog.=) ANY (ARRAY[${tables}]::pg_catalog.oid[])`
  );
}
