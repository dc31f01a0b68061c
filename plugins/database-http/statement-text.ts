import {
  classify,
  splitStatements,
  tablesNeeded,
  translate,
  translateRefused,
  type Classification,
  type Executor,
  type KnownTable,
  type TableName,
  type Translation,
} from '../../src/index.ts';

/** A statement of a request's text, classified. */
export interface RequestStatement {
  readonly text: string;
  readonly classification: Classification;
}

export function* readStatements(sql: string): Generator<RequestStatement, void, undefined> {
  for (const { text } of splitStatements(sql)) {
    const classification = classify(text);
    if (classification.kind !== 'empty') yield { text, classification };
  }
}

/**
 * What becomes of a statement in `database`; the tables it names are looked up there. What is remembered of a table only
 * serves to see that nothing depends on it: others may have changed the table, and values must not meet wrong columns.
 */
export async function translateIn(database: string, executor: Executor, sql: string): Promise<Translation> {
  const names = tablesNeeded(sql, database);
  const table = await lookUp(names, (name) => executor.catalogue.find(name));
  const translation = translate(sql, { database, table });
  const isAsWritten =
    translation.kind === 'run' && translation.statements.length === 1 && translation.statements[0] === sql;
  if (names.length === 0 || isAsWritten) return translation;
  return translate(sql, { database, table: await lookUp(names, (name) => executor.catalogue.refresh(name)) });
}

/** What to run instead of a statement that the database refused with `sqlstate`; `undefined` to leave it at that. */
export async function translateAgain(
  database: string,
  executor: Executor,
  sql: string,
  sqlstate: string,
): Promise<ReturnType<typeof translateRefused>> {
  const names = tablesNeeded(sql, database, sqlstate);
  // What is known of the tables may be what was wrong.
  const table = await lookUp(names, (name) => executor.catalogue.refresh(name));
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
