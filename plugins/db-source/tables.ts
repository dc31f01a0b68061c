import { tableText, type Table } from '../database/index.ts';

/** A table, or the result of a query, with the facts that determine how it is read. */
export interface SourceTable extends Table {
  /** The FROM item, with the alias `t`. */
  readonly source: string;
  /** OID of the table, which changes when the table is recreated; `undefined` for a query. */
  readonly oid: string | undefined;
  /** True if rows contain the transaction that wrote them (`xmin`). */
  readonly hasXmin: boolean;
  /** The first columns of the table's indexes. */
  readonly indexedColumns: readonly string[];
}

/** The name of a table in offsets, topic names and messages. It includes the schema unless that is `public`. */
export function tableLabel(table: Pick<Table, 'name'>): string {
  const { schema } = table.name;
  return schema === 'public' || schema === '' ? table.name.name : tableText(table.name);
}

/** Maximum number of table names in a message; further tables are only counted (`and 3 more`). */
export const MAX_NAMED = 5;

export function named(labels: readonly string[]): string {
  const more = labels.length > MAX_NAMED ? ` and ${String(labels.length - MAX_NAMED)} more` : '';
  return `${labels.slice(0, MAX_NAMED).join(', ')}${more}`;
}
