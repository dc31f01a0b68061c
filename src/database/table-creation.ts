import type { TableName } from '../data/row-batch.ts';
import type { TableShape } from '../data/table-shape.ts';
import { createTableStatements } from '../sql/create-table.ts';
import type { Dialect } from '../sql/dialects/dialect.ts';
import { hypertableStatements } from '../sql/hypertable.ts';
import type { CreationPolicy, Session } from './api.ts';

/**
 * Creates the table, within a transaction of the caller's that holds its lock. A time-series table becomes a hypertable where
 * the dialect has them (design/decisions.md, "Time-series table in PostgreSQL").
 */
export async function createTable(
  session: Session,
  table: TableName,
  shape: TableShape,
  { tableOptions }: Pick<CreationPolicy, 'tableOptions'>,
  dialect: Pick<Dialect, 'hypertables'>,
): Promise<void> {
  const time = shape.columns.find(({ role }) => role === 'time');
  const statements = [
    ...createTableStatements(table, shape, tableOptions),
    ...hypertableStatements(table, time?.name, dialect),
  ];
  for (const statement of statements) await session.query(statement);
}
