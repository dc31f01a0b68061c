import type { TableName } from '../../../../src/data/row-batch.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { finishWith } from '../steps.ts';
import { tablesNeeded, translateInSteps, translateRefusedInSteps, type translateRefused } from './translate.ts';
import type { KnownTable, Translation, TranslationContext } from './translation.ts';

/** Looks up tables; implemented by the catalogue of a database. */
export interface TableLookup {
  find(table: TableName): Promise<KnownTable | undefined>;
  refresh(table: TableName): Promise<KnownTable | undefined>;
  /** Capabilities of the database; defaults to PostgreSQL's. */
  dialect?(): Promise<Pick<Dialect, 'hypertables'>>;
  /** Called every few thousand tokens; returns a promise to wait for, so that other work can run. */
  pause?(): Promise<void> | undefined;
}

/**
 * Translates a statement for `database`. The cached state of a table only decides whether the statement depends on it.
 * If it does, the table is read again: it may have changed, and values must not be stored in the wrong columns.
 */
export async function translateWith(tables: TableLookup, database: string, sql: string): Promise<Translation> {
  await tables.pause?.();
  const names = tablesNeeded(sql, database);
  await tables.pause?.();
  const table = await lookUp(names, (name) => tables.find(name));
  const translated = (context: TranslationContext): Promise<Translation> =>
    finishWith(translateInSteps(sql, context), () => tables.pause?.());
  const translation = await translated({ database, table });
  const isAsWritten =
    translation.kind === 'run' && translation.statements.length === 1 && translation.statements[0] === sql;
  if (isAsWritten) return translation;
  if (translation.kind === 'run' && translation.statements[0]?.startsWith('CREATE TABLE ') === true) {
    const hypertables = (await tables.dialect?.())?.hypertables;
    return hypertables === undefined ? translation : translated({ database, table, hypertables });
  }
  if (names.length === 0) return translation;
  return translated({ database, table: await lookUp(names, (name) => tables.refresh(name)) });
}

/**
 * Maximum number of tables that are looked up, because each lookup is a query. Rejected statements with more tables are
 * not translated.
 */
const MAX_TABLES = 100;

/** Returns the statements to run instead of one rejected with `sqlstate`; `undefined` to report the error. */
export async function translateRefusedWith(
  tables: TableLookup,
  database: string,
  sql: string,
  sqlstate: string,
): Promise<ReturnType<typeof translateRefused>> {
  const names = tablesNeeded(sql, database, sqlstate);
  if (names.length > MAX_TABLES) return undefined;
  await tables.pause?.();
  // The statement may have failed because the cached table was outdated.
  const table = await lookUp(names, (name) => tables.refresh(name));
  return finishWith(translateRefusedInSteps(sql, sqlstate, { database, table }), () => tables.pause?.());
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
