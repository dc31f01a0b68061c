import { silentLogger, type ConnectorConfig, type SourceTableInfo } from '../../src/index.ts';
import { openExecutor, ownStatement, quoteTable, type Executor } from '../database/index.ts';
import { readsLog } from './log-settings.ts';
import { sourceSettings } from './source-settings.ts';
import { tableOrder } from './table-order.ts';
import { ask, read, TableWatch } from './table-watch.ts';
import { tableLabel, type SourceTable } from './tables.ts';

/** Time limit of all counts together. */
const COUNTS_MS = 3000;
/** Maximum number of rows that are counted in a table whose estimate is missing or 0. */
const MAX_COUNTED = 100_000;

/** The numbers of rows in the statistics of the database; -1 if a table was never analysed. */
const ESTIMATES = ownStatement(
  'source: estimated rows',
  `
  SELECT n.nspname, c.relname, c.reltuples::int8
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg|_timescaledb)_'`,
);

/** Options that select tables. They are ignored, because the user sets them after seeing the list of all tables. */
const CHOOSING = ['table.include', 'table.exclude', 'query'];

/** `out.format` is a required option, but its value does not affect the list. */
const ANY_FORMAT = { 'out.format': 'json_db' };

/** All tables outside system schemas, even those that the user may not read, with their numbers of rows, sorted by name. */
export async function listTables(config: ConnectorConfig): Promise<readonly SourceTableInfo[]> {
  const settings = sourceSettings({
    ...ANY_FORMAT,
    ...Object.fromEntries(Object.entries(config).filter(([key]) => !CHOOSING.includes(key))),
  });
  const executor = openExecutor(settings.connection, { logger: silentLogger, poolSize: 1 });
  const deadline = Date.now() + COUNTS_MS;
  try {
    const watch = new TableWatch(executor);
    await watch.refresh();
    const estimates = await estimatedRows(executor);
    const found: SourceTableInfo[] = [];
    for (const table of await watch.tables()) {
      const name = tableLabel(table);
      const order = settings.mode === 'bulk' || readsLog(config) ? undefined : tableOrder(table, settings);
      const problem = typeof order === 'string' ? order : null;
      const estimate = estimates.get(name) ?? 0;
      const rows =
        estimate > 0
          ? ({ rows: estimate, precision: 'estimate' } as const)
          : await countedRows(executor, table, deadline - Date.now());
      found.push({ name, ...rows, problem });
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await executor.close();
  }
}

/** Estimated numbers of rows by table; empty if the statistics cannot be read. */
async function estimatedRows(executor: Executor): Promise<ReadonlyMap<string, number>> {
  try {
    const { rows } = await ask(executor, ESTIMATES);
    return new Map(
      rows.map(([schema, name, count]) => [
        tableLabel({ name: { schema: schema ?? '', name: name ?? '' } }),
        Number(count ?? 0),
      ]),
    );
  } catch {
    return new Map();
  }
}

async function countedRows(
  executor: Executor,
  { name }: SourceTable,
  timeoutMs: number,
): Promise<Pick<SourceTableInfo, 'rows' | 'precision'>> {
  if (timeoutMs <= 0) return { rows: null, precision: 'estimate' };
  const sql = `SELECT pg_catalog.count(*) FROM (SELECT 1 FROM ${quoteTable(name)} LIMIT ${String(MAX_COUNTED + 1)}) counted`;
  try {
    const { rows } = await read(executor, sql, AbortSignal.timeout(timeoutMs), timeoutMs);
    const count = Number(rows[0]?.[0] ?? 0);
    return count > MAX_COUNTED ? { rows: MAX_COUNTED, precision: 'atLeast' } : { rows: count, precision: 'exact' };
  } catch {
    // The count timed out, or the user may not read the table.
    return { rows: null, precision: 'estimate' };
  }
}
