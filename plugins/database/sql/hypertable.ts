import type { TableName } from '../../../src/data/row-batch.ts';
import type { Dialect } from './dialects/dialect.ts';
import { quoteLiteral, quoteTable } from './quote.ts';

/**
 * The statement that makes TimescaleDB keep a new table in chunks by its time column, which its primary key must hold; none
 * for dialects without. The cast tells the form that every version has from that of 2.13 and later, which takes a dimension;
 * the schema need not be in the search path.
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
