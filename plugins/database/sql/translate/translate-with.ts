import type { TableName } from '../../../../src/data/row-batch.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { finishWith } from '../steps.ts';
import { tablesNeeded, translateInSteps, translateRefusedInSteps, type translateRefused } from './translate.ts';
import type { KnownTable, Translation, TranslationContext } from './translation.ts';

/** Where tables are looked up; the catalogue of a database fits. */
export interface TableLookup {
  find(table: TableName): Promise<KnownTable | undefined>;
  refresh(table: TableName): Promise<KnownTable | undefined>;
  /** What the database can do; absent: as PostgreSQL. */
  dialect?(): Promise<Pick<Dialect, 'hypertables'>>;
  /** Asked between steps and every few thousand tokens of a long statement: a promise to wait for, so that others come to their turn. */
  pause?(): Promise<void> | undefined;
}

/**
 * What becomes of a statement in `database`; the tables it names are looked up there. What is remembered of a table only
 * serves to see that nothing depends on it: others may have changed the table, and values must not meet wrong columns.
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

/** Each is looked up in the database: a refused statement that names more is left as it is. */
const MAX_TABLES = 100;

/** What to run instead of a statement that the database refused with `sqlstate`; `undefined` to leave it at that. */
export async function translateRefusedWith(
  tables: TableLookup,
  database: string,
  sql: string,
  sqlstate: string,
): Promise<ReturnType<typeof translateRefused>> {
  const names = tablesNeeded(sql, database, sqlstate);
  if (names.length > MAX_TABLES) return undefined;
  await tables.pause?.();
  // What is known of the tables may be what was wrong.
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
