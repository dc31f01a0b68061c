import { tableText, type Table } from '../database/index.ts';

/** A table, or the result of a query, with what decides how it is read. */
export interface SourceTable extends Table {
  /** What follows FROM, aliased as `t`. */
  readonly source: string;
  /** PostgreSQL's number of the table: a table that is created anew has another. `undefined` for a query. */
  readonly oid: string | undefined;
  /** Rows tell which transaction wrote them (`xmin`). */
  readonly tellsWriter: boolean;
  /** Columns by which an index is ordered first. */
  readonly indexedColumns: readonly string[];
}

/** How a table is called in offsets, topic names and messages: its name alone in schema `public`, else with the schema. */
export function tableLabel(table: Pick<Table, 'name'>): string {
  const { schema } = table.name;
  return schema === 'public' || schema === '' ? table.name.name : tableText(table.name);
}

/** More tables are counted, but not named. */
export const MAX_NAMED = 5;

export function named(labels: readonly string[]): string {
  const more = labels.length > MAX_NAMED ? ` and ${String(labels.length - MAX_NAMED)} more` : '';
  return `${labels.slice(0, MAX_NAMED).join(', ')}${more}`;
}
