import type { TableName } from '../../../src/data/row-batch.ts';
import type { Dialect } from './dialects/dialect.ts';
import { quoteLiteral, quoteTable } from './quote.ts';

/**
 * Returns the statement that converts a new table into a TimescaleDB hypertable, partitioned by its time column; an
 * empty list for other dialects and for tables without a time column. The cast selects the signature that exists in
 * every version; version 2.13 added another signature, with a dimension. The function is qualified because its schema
 * may not be in the search path.
 */
export function hypertableStatements(
  table: TableName,
  timeColumn: string | undefined,
  { hypertables }: Pick<Dialect, 'hypertables'>,
): string[] {
  if (hypertables === undefined || timeColumn === undefined) return [];
  const create = quoteTable({ schema: hypertables.schema, name: 'create_hypertable' });
  const relation = quoteLiteral(quoteTable(table));
  return [`SELECT ${create}(${relation}, ${quoteLiteral(timeColumn)}::pg_catalog.name, if_not_exists => true)`];
}
