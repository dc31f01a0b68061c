import type { TableName } from '../data/row-batch.ts';
import type { TableShape } from '../data/table-shape.ts';
import { createTableStatements } from '../sql/create-table.ts';
import { quoteLiteral, quoteTable } from '../sql/quote.ts';
import type { CreationPolicy, Session } from './api.ts';

/**
 * Creates the table, within a transaction of the caller's that holds its lock. A time-series table becomes a hypertable where
 * TimescaleDB is there (design/decisions.md, "Time-series table in PostgreSQL").
 */
export async function createTable(
  session: Session,
  table: TableName,
  shape: TableShape,
  { tableOptions }: Pick<CreationPolicy, 'tableOptions'>,
): Promise<void> {
  for (const statement of createTableStatements(table, shape, tableOptions)) await session.query(statement);
  const time = shape.columns.find(({ role }) => role === 'time');
  if (time === undefined || !(await hasTimescale(session))) return;
  const relation = quoteLiteral(quoteTable(table));
  // The cast tells the form that every version has from that of 2.13 and later, which takes a dimension.
  await session.query(`SELECT create_hypertable(${relation}, ${quoteLiteral(time.name)}::name, if_not_exists => true)`);
}

async function hasTimescale(session: Session): Promise<boolean> {
  const found = await session.query("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'timescaledb'");
  return found.rows.length > 0;
}
