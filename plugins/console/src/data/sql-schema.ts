import { run, isFailure, type Session } from './sql-api.ts';

/** A table that the user may see, with its columns. */
export interface SqlTable {
  /** As a statement names it: quoted where needed, with the schema outside of `public`. */
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

const COLUMNS = `select table_schema, table_name, column_name, data_type from information_schema.columns
where table_schema not in ('information_schema', 'pg_catalog') order by table_schema, table_name, ordinal_position`;

/** The tables of the database; none if the user may not list them. */
export async function loadTables(
  session: Session,
  database: string,
  signal: AbortSignal,
): Promise<readonly SqlTable[]> {
  const answer = await run(session, COLUMNS, database, signal, MAX_COLUMNS);
  return isFailure(answer) ? [] : tablesOf(answer.rows.map((row) => row.map(String)));
}

/** The most that the worker answers. */
const MAX_COLUMNS = 5000;

/** Tables from rows of schema, table, column and type. @internal */
export function tablesOf(rows: readonly (readonly string[])[]): readonly SqlTable[] {
  const found = new Map<string, { name: string; type: string }[]>();
  for (const [schema = '', table = '', name = '', type = ''] of rows) {
    const key = schema === 'public' ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
    const columns = found.get(key) ?? [];
    columns.push({ name, type });
    found.set(key, columns);
  }
  return [...found].map(([name, columns]) => ({ name, columns }));
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
