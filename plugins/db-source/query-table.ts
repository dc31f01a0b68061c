import type { Executor, TableColumn } from '../../src/index.ts';
import type { SourceTable } from './tables.ts';
import { read } from './table-watch.ts';

/** What a query gives, as a table without a key; asks the database for its columns, not for rows. */
export async function describeQuery(
  executor: Executor,
  { sql, name }: { readonly sql: string; readonly name: string },
): Promise<SourceTable> {
  // On a line of its own, so that a comment at the end of the query takes nothing with it.
  const source = `(${sql}\n) t`;
  const { fields } = await read(executor, `SELECT t.* FROM ${source} LIMIT 0`);
  const list = fields.map((field) => `(${String(field.typeOid)}, ${String(field.typeModifier)})`).join(', ');
  const types = `SELECT format_type(oid, modifier) FROM (VALUES ${list}) type(oid, modifier)`;
  const { rows } = fields.length === 0 ? { rows: [] } : await read(executor, types);
  const columns = fields.map((field, index): TableColumn => {
    const type = rows[index]?.[0] ?? 'text';
    const role = index === 0 && type.startsWith('timestamp') ? 'time' : 'data';
    return { name: field.name, type, typeOid: field.typeOid, nullable: true, hasDefault: false, role };
  });
  return {
    name: { schema: '', name },
    columns,
    key: [],
    source,
    oid: undefined,
    tellsWriter: false,
    indexedColumns: [],
  };
}
