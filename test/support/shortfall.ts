import type { SqlClient } from './sql-client.ts';

/** Numbers that are missing or duplicated at a destination. Both lists are empty if it is correct. */
export interface Shortfall {
  readonly where: string;
  readonly rows: number;
  readonly lost: readonly number[];
  readonly doubled: readonly number[];
}

/**
 * Compares a table of rows with `id` and `value = id / 4` with the ids from `from` to `to` (exclusive). Ids outside
 * this range count as duplicates.
 */
export async function countTable(sql: SqlClient, table: string, from: number, to: number): Promise<Shortfall> {
  const doubled = await sql.rows(
    `select id::int4 from ${table} group by id having count(*) > 1 or id < ${String(from)} or id >= ${String(to)} order by 1`,
  );
  const lost = await sql.rows(
    `select i from generate_series(${String(from)}, ${String(to - 1)}) i
       where i not in (select id from ${table} where value = id / 4.0) order by 1`,
  );
  const numbers = (found: readonly (readonly (string | null)[])[]) => found.map(([cell]) => Number(cell));
  return { where: `table ${table}`, rows: to - from, lost: numbers(lost), doubled: numbers(doubled) };
}
