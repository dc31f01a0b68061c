import type { TableName } from '../../data/row-batch.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { tablesNeeded, translate, translateRefused } from './translate.ts';
import type { KnownTable, Translation } from './translation.ts';

/** Where tables are looked up; the catalogue of a database fits. */
export interface TableLookup {
  find(table: TableName): Promise<KnownTable | undefined>;
  refresh(table: TableName): Promise<KnownTable | undefined>;
  /** What the database can do; absent: as PostgreSQL. */
  dialect?(): Promise<Pick<Dialect, 'hypertables'>>;
}

/**
 * What becomes of a statement in `database`; the tables it names are looked up there. What is remembered of a table only
 * serves to see that nothing depends on it: others may have changed the table, and values must not meet wrong columns.
 */
export async function translateWith(tables: TableLookup, database: string, sql: string): Promise<Translation> {
  const names = tablesNeeded(sql, database);
  const table = await lookUp(names, (name) => tables.find(name));
  const translation = translate(sql, { database, table });
  const isAsWritten =
    translation.kind === 'run' && translation.statements.length === 1 && translation.statements[0] === sql;
  if (isAsWritten) return translation;
  if (translation.kind === 'run' && translation.statements[0]?.startsWith('CREATE TABLE ') === true) {
    const hypertables = (await tables.dialect?.())?.hypertables;
    return hypertables === undefined ? translation : translate(sql, { database, table, hypertables });
  }
  if (names.length === 0) return translation;
  return translate(sql, { database, table: await lookUp(names, (name) => tables.refresh(name)) });
}

/** What to run instead of a statement that the database refused with `sqlstate`; `undefined` to leave it at that. */
export async function translateRefusedWith(
  tables: TableLookup,
  database: string,
  sql: string,
  sqlstate: string,
): Promise<ReturnType<typeof translateRefused>> {
  const names = tablesNeeded(sql, database, sqlstate);
  // What is known of the tables may be what was wrong.
  const table = await lookUp(names, (name) => tables.refresh(name));
  return translateRefused(sql, sqlstate, { database, table });
}

async function lookUp(
  names: readonly TableName[],
  find: (name: TableName) => Promise<KnownTable | undefined>,
): Promise<(name: TableName) => KnownTable | undefined> {
  const known = new Map<string, KnownTable>();
  for (const name of names) {
    const table = await find(name);
    if (table !== undefined) known.set(keyOf(name), table);
  }
  return (name) => known.get(keyOf(name));
}

function keyOf({ schema, name }: TableName): string {
  return JSON.stringify([schema ?? null, name]);
}
