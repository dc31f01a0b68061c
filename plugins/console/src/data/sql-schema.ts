import { quotedName } from '../common/sql-names.ts';
import { run, isFailure, type Session } from './sql-api.ts';

/** A table that the user may see, with its columns. */
export interface SqlTable {
  /** The name to use in a statement: quoted if necessary, and with its schema unless that is `public`. */
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

const COLUMNS = `select table_schema, table_name, column_name, data_type from information_schema.columns
where table_schema not in ('information_schema', 'pg_catalog') order by table_schema, table_name, ordinal_position`;

/** Loads the tables of the database. The result is empty if the query fails, for instance because the user lacks a privilege. */
export async function loadTables(
  session: Session,
  database: string,
  signal: AbortSignal,
): Promise<readonly SqlTable[]> {
  const answer = await run(session, COLUMNS, database, signal, MAX_COLUMNS);
  return isFailure(answer) ? [] : tablesOf(answer.rows.map((row) => row.map(String)));
}

/** Maximum number of rows that the worker returns. */
const MAX_COLUMNS = 5000;

/** Groups rows of schema, table, column and type by table. @internal */
export function tablesOf(rows: readonly (readonly string[])[]): readonly SqlTable[] {
  const found = new Map<string, { name: string; type: string }[]>();
  for (const [schema = '', table = '', name = '', type = ''] of rows) {
    const key = schema === 'public' ? quotedName(table) : `${quotedName(schema)}.${quotedName(table)}`;
    const columns = found.get(key) ?? [];
    columns.push({ name, type });
    found.set(key, columns);
  }
  return [...found].map(([name, columns]) => ({ name, columns }));
}
