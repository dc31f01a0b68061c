import { Difference } from '../differential/record-lines.ts';
import type { SqlClient } from '../../support/sql-client.ts';
import type { Cell, TableModel } from './table-model.ts';

const SHOWN = 600;
/** In a table without a key, records that are delivered again produce duplicate rows by design. */
export type Doubles = 'refused' | 'allowed';

const COLUMNS = `select attname, format_type(atttypid, atttypmod) from pg_attribute
  where attrelid = to_regclass(quote_ident($1)) and attnum > 0 and not attisdropped order by attnum`;
const KEY = `select attname from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
  where indexrelid = (select indexrelid from pg_index where indrelid = to_regclass(quote_ident($1)) and indisunique
    order by indisprimary desc limit 1)`;

/** Throws a Difference if the columns, types, key or rows of the table differ from the model. */
export async function requireEqualTable(
  sql: SqlClient,
  model: TableModel,
  doubles: Doubles = 'refused',
): Promise<void> {
  const columns = await sql.rows(COLUMNS, [model.name]);
  if (columns.length === 0 && !model.exists) return;
  requireColumns(model, columns);
  if (!model.exists) {
    requireEqual(`rows of table ${model.name}`, await sql.rows(`select * from "${model.name}"`), []);
    return;
  }
  const key = (await sql.rows(KEY, [model.name])).map(([name]) => name);
  requireEqual(`key of table ${model.name}`, key.toSorted(), model.key.toSorted());
  const names = columns.map(([name]) => name ?? '');
  const types = columns.map(([, type]) => type ?? '');
  const list = names.map((name, index) => expressionOf(`"${name}"`, types[index] ?? ''));
  const stored = await sql.rows(`select ${list.join(', ')} from "${model.name}"`);
  const actual = stored.map((row) => rowText(names, (index) => canonical(row[index] ?? null, types[index] ?? '')));
  const expected = model.rows.map((row) => rowText(names, (index) => row.get(names[index] ?? '') ?? null));
  requireEqualRows(`table ${model.name}`, actual, expected, doubles);
}

function requireColumns(model: TableModel, columns: readonly (readonly (string | null)[])[]): void {
  if (!model.mayExist) throw new Difference(`table ${model.name} exists, and does not in the model`);
  const wanted = [...model.columns].map(([name, type]) => `${name} ${type ?? typeOf(columns, name)}`);
  const found = columns.flatMap(([name, type]) =>
    model.possibleColumns.has(name ?? '') ? [] : [`${name ?? ''} ${type ?? ''}`],
  );
  requireEqual(`columns of table ${model.name}`, found.toSorted(), wanted.toSorted());
}

function typeOf(columns: readonly (readonly (string | null)[])[], name: string): string {
  return columns.find(([own]) => own === name)?.[1] ?? '(missing)';
}

function requireEqual(what: string, actual: readonly unknown[], expected: readonly unknown[]): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Difference(`${what}: there is ${left}, the model has ${right}`);
}

/** Compares rows regardless of their order. */
export function requireEqualRows(
  what: string,
  actual: readonly string[],
  expected: readonly string[],
  doubles: Doubles,
): void {
  const left = countsOf(actual);
  const right = countsOf(expected);
  const isSurplus = (count: number, wanted: number): boolean => (doubles === 'allowed' ? wanted === 0 : count > wanted);
  const surplus = [...left].filter(([row, count]) => isSurplus(count, right.get(row) ?? 0));
  const missing = [...right].filter(([row, count]) => (left.get(row) ?? 0) < count);
  if (surplus.length === 0 && missing.length === 0) return;
  const shown = (rows: readonly [string, number][]): string =>
    rows
      .map(([row, count]) => `${String(count)} x ${row}`)
      .join('; ')
      .slice(0, SHOWN);
  throw new Difference(
    `${what}: ${String(actual.length)} rows, the model has ${String(expected.length)}; not in the model: ${shown(surplus)}; missing: ${shown(missing)}`,
  );
}

function countsOf(rows: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

function rowText(names: readonly string[], cell: (index: number) => Cell): string {
  return JSON.stringify(Object.fromEntries(names.map((name, index) => [name, cell(index)])));
}

/** Returns SQL for the value in a form that does not depend on settings. */
function expressionOf(column: string, type: string): string {
  if (type.startsWith('timestamp')) return `(extract(epoch from ${column}) * 1000000)::int8::text`;
  if (type === 'bytea') return `encode(${column}, 'hex')`;
  return `${column}::text`;
}

/** Returns the canonical form of a value. `text` is the output of PostgreSQL, or the value in a model. */
export function canonical(text: Cell, type: string): Cell {
  if (text === null) return null;
  if (type === 'double precision') return String(Number(text));
  if (type === 'real') return String(Math.fround(Number(text)));
  if (type === 'jsonb') return canonicalJson(JSON.parse(text));
  return text;
}

/** Formats JSON with sorted object keys. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`).join(',')}}`;
}
