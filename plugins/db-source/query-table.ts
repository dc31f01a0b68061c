import { ownStatementOn, type Executor, type TableColumn } from '../database/index.ts';
import type { SourceTable } from './tables.ts';
import { ask, read } from './table-watch.ts';

/** `list` contains one `(index, OID, modifier)` for each column, which identifies its type. */
const typeNames = ownStatementOn(
  'source: names of types',
  (
    list = '(0, 23, -1)',
  ) => `SELECT format_type(t.oid, modifier), quote_ident(n.nspname) || '.' || quote_ident(t.typname)
    FROM (VALUES ${list}) wanted(place, number, modifier) JOIN pg_catalog.pg_type t ON t.oid = wanted.number
    JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace ORDER BY place`,
);

/** Describes the result of a query as a table without a key. Only the columns are fetched, without rows. */
export async function describeQuery(
  executor: Executor,
  { sql, name }: { readonly sql: string; readonly name: string },
): Promise<SourceTable> {
  // The parenthesis is on a separate line, so that a comment at the end of the query does not include it.
  const source = `(${sql}\n) t`;
  const { fields } = await read(executor, `SELECT t.* FROM ${source} LIMIT 0`);
  const list = fields.map(
    (field, index) => `(${String(index)}, ${String(field.typeOid)}, ${String(field.typeModifier)})`,
  );
  const { rows } = fields.length === 0 ? { rows: [] } : await ask(executor, typeNames(list.join(', ')));
  const columns = fields.map((field, index): TableColumn => {
    const [type, baseType] = rows[index] ?? [];
    const role = index === 0 && type?.startsWith('timestamp') === true ? 'time' : 'data';
    return {
      name: field.name,
      type: type ?? 'text',
      typeOid: field.typeOid,
      baseType: baseType ?? 'pg_catalog.text',
      operatorSchema: 'pg_catalog',
      nullable: true,
      hasDefault: false,
      role,
    };
  });
  return {
    name: { schema: '', name },
    columns,
    key: [],
    source,
    oid: undefined,
    hasXmin: false,
    indexedColumns: [],
  };
}
