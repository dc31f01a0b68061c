import type { TableName } from '../../../src/data/row-batch.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from './quote.ts';

/** Error text (22P02) raised by the script when the type of a column has changed since the rows were encoded. */
export const TYPES_CHANGED = 'column types have changed';

/** Target table of a COPY, as parts of the script. */
export interface CopyTarget {
  readonly table: string;
  /** Names and type OIDs of the columns; equal for tables with the same layout. */
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
 * Returns a script for the simple query protocol that runs `COPY t (a, b) FROM STDIN (FORMAT binary)` for each table
 * after verifying the column types. Binary values carry no type: after ALTER COLUMN TYPE, a float8 could be stored as
 * an int8 without any error.
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
