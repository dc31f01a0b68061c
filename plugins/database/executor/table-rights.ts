import type { TableName } from '../../../src/data/row-batch.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { Executor } from './api.ts';

export type TableRight = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | 'TRUNCATE' | 'TRIGGER';

/** Privileges of a user on a table. */
export interface TableRights {
  readonly table: TableName & { readonly schema: string };
  /** Privileges on the table, or on at least one of its columns. */
  readonly rights: ReadonlySet<TableRight>;
  /** True if the user has SELECT on the whole table, not only on some of its columns. */
  readonly readsAll: boolean;
}

const MAX_TABLES = 10_000;
const RIGHTS: readonly TableRight[] = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER'];

const TABLES = ownStatement(
  'doctor: rights on tables',
  `SELECT n.nspname, c.relname,
    n.allowed AND has_any_column_privilege(c.oid, 'SELECT'), n.allowed AND has_any_column_privilege(c.oid, 'INSERT'),
    n.allowed AND has_any_column_privilege(c.oid, 'UPDATE'), n.allowed AND has_table_privilege(c.oid, 'DELETE'),
    n.allowed AND has_table_privilege(c.oid, 'TRUNCATE'), n.allowed AND has_table_privilege(c.oid, 'TRIGGER'),
    n.allowed AND has_table_privilege(c.oid, 'SELECT')
  FROM pg_catalog.pg_class c
  JOIN (SELECT oid, nspname, has_schema_privilege(oid, 'USAGE') AS allowed FROM pg_catalog.pg_namespace) n
    ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f', 'v') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg|_timescaledb)_'
  ORDER BY 1, 2 LIMIT ${String(MAX_TABLES)}`,
);

const SCHEMA = ownStatement(
  'doctor: right to create in a schema',
  `SELECT n.nspname, has_schema_privilege(n.oid, 'CREATE') FROM pg_catalog.pg_namespace n
  WHERE n.nspname = COALESCE($1::text, (current_setting('sluice.schemas')::name[])[1]::text)`,
);

/** Reads the privileges of the executor's user on the tables and views of users, at most MAX_TABLES of them. */
export async function readTableRights(executor: Executor, signal: AbortSignal): Promise<readonly TableRights[]> {
  const { rows } = await executor.ask(TABLES, [], { signal });
  return rows.map(([schema, name, ...cells]) => ({
    table: { schema: schema ?? '', name: name ?? '' },
    rights: new Set(RIGHTS.filter((_, index) => cells[index] === 't')),
    readsAll: cells[RIGHTS.length] === 't',
  }));
}

/**
 * Returns the schema in which a table would be created (the given one, or the first of the search path), and whether
 * the user may create tables in it; `undefined` if the schema does not exist.
 */
export async function readCreationPlace(
  executor: Executor,
  schema: string | undefined,
  signal: AbortSignal,
): Promise<{ readonly schema: string; readonly allowed: boolean } | undefined> {
  const { rows } = await executor.ask(SCHEMA, [schema ?? null], { signal });
  const [name, allowed] = rows[0] ?? [];
  return typeof name === 'string' ? { schema: name, allowed: allowed === 't' } : undefined;
}
