import type { ConsumedRecord } from '../../../src/kafka/api.ts';
import type { SourceColumn, SourceRow, SourceTable } from './source-table.ts';

export type SourceFormat = 'json_db' | 'json_tsd' | 'line_tsd' | 'line_lp';
export type Unit = 's' | 'ms' | 'us' | 'ns';

export interface Encoding {
  readonly format: SourceFormat;
  readonly unit: Unit;
  readonly keyColumns: readonly string[];
}

/**
 * Returns the parts of the records that represent a row, in a form that can be compared: rows of json_db, points of
 * json_tsd, or lines of the other formats, each with the key of its record
 * (docs/formats.md#records-that-the-source-writes).
 */
export function unitsOfRow(table: SourceTable, row: SourceRow, encoding: Encoding): readonly string[] {
  const key = keyOf(row, encoding.keyColumns);
  const own = { json_db: jsonRow, json_tsd: points, line_tsd: tsdLines, line_lp: lpLine }[encoding.format](
    table,
    row,
    encoding.unit,
  );
  return own.map((unit) => `${key ?? '(none)'} ${unit}`);
}

/** Same as `unitsOfRow`, for a record. */
export function unitsOfRecord({ key, value }: ConsumedRecord, { format }: Encoding): readonly string[] {
  const text = value?.toString() ?? '';
  const own = { json_db: jsonRows, json_tsd: jsonPoints, line_tsd: lines, line_lp: lines }[format](text);
  return own.map((unit) => `${key?.toString() ?? '(none)'} ${unit}`);
}

function keyOf({ cells }: SourceRow, columns: readonly string[]): string | undefined {
  const texts = columns.map((name) => cells.get(name)?.text ?? null);
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? String(texts[0]) : JSON.stringify(texts);
}

function timeOf(us: bigint, unit: Unit): string {
  if (unit === 'ns') return String(us * 1000n);
  return String(us / { s: 1_000_000n, ms: 1000n, us: 1n }[unit]);
}

/** Returns a JSON value. Numbers become strings that start with `#`, so that they keep their digits. */
function jsonValue({ kind }: Pick<SourceColumn, 'kind'>, text: string | null): string | boolean | null {
  if (text === null) return null;
  if (kind === 'bool') return text === 'true';
  return kind === 'number' ? `#${text}` : text;
}

function columnsOf({ columns, hasId }: SourceTable): readonly SourceColumn[] {
  const id = {
    name: 'id',
    type: 'bigint',
    described: { type: 'INT8', length: 64 },
    suffix: 'i64',
    kind: 'number' as const,
  };
  return hasId ? [{ ...id, value: () => ({ sql: '', text: '' }) }, ...columns] : columns;
}

function jsonRow(table: SourceTable, { us, cells }: SourceRow, unit: Unit): readonly string[] {
  const columns = columnsOf(table);
  const time = table.timeType === 'timestamp' ? 'TIMESTAMP' : 'TIMESTAMPTZ';
  const described = [
    `ts ${time} 64`,
    ...columns.map(
      ({ name, described: own }) => `${name} ${own === undefined ? '?' : `${own.type} ${String(own.length)}`}`,
    ),
  ];
  const tags = table.hasTags ? ['site VARCHAR 20 true', 'rack VARCHAR 20 false'] : [];
  const data = {
    ts: `#${timeOf(us, unit)}`,
    ...Object.fromEntries(
      columns.map((column) => [column.name, jsonValue(column, cells.get(column.name)?.text ?? null)]),
    ),
    ...(table.hasTags ? { site: cells.get('site')?.text ?? null, rack: cells.get('rack')?.text ?? null } : {}),
  };
  return [JSON.stringify([table.name, described, tags, sorted(data)])];
}

interface JsonDb {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly length: string }[];
  readonly tags?:
    | readonly { readonly name: string; readonly type: string; readonly length: string; readonly isPrimary: boolean }[]
    | null;
  readonly data: readonly Record<string, unknown>[];
}

const DESCRIBED = new Set(['INT2', 'INT4', 'INT8', 'FLOAT4', 'FLOAT8', 'TIMESTAMPTZ', 'TIMESTAMP', 'VARCHAR']);

function jsonRows(text: string): readonly string[] {
  const { table, columns, tags, data } = exactJson(text) as JsonDb;
  const length = (of: string): string => of.slice(1);
  // A type that the documents do not name is written as VARCHAR without a length, or under its own name.
  const described = columns.map((column) =>
    DESCRIBED.has(column.type) && length(column.length) !== '0'
      ? `${column.name} ${column.type} ${length(column.length)}`
      : `${column.name} ?`,
  );
  const own = (tags ?? []).map((tag) => `${tag.name} ${tag.type} ${length(tag.length)} ${String(tag.isPrimary)}`);
  return data.map((row) => JSON.stringify([table, described, own, sorted(row)]));
}

function points(table: SourceTable, { us, cells }: SourceRow, unit: Unit): readonly string[] {
  const tags = sorted(Object.fromEntries(tagsOf(table, cells)));
  return columnsOf(table).flatMap((column) => {
    const text = cells.get(column.name)?.text ?? null;
    if (text === null) return [];
    return [JSON.stringify([`${table.name}.${column.name}`, `#${timeOf(us, unit)}`, jsonValue(column, text), tags])];
  });
}

interface JsonPoint {
  readonly metric: string;
  readonly timestamp: string;
  readonly value: unknown;
  readonly tags?: Record<string, unknown>;
}

function jsonPoints(text: string): readonly string[] {
  const list = exactJson(text) as readonly JsonPoint[];
  return list.map(({ metric, timestamp, value, tags = {} }) =>
    JSON.stringify([metric, timestamp, value, sorted(tags)]),
  );
}

function tsdLines(table: SourceTable, { us, cells }: SourceRow, unit: Unit): readonly string[] {
  const tags = tagsOf(table, cells).map(([name, text]) => ` ${name}=${text}`);
  return columnsOf(table).flatMap(({ name, kind }) => {
    const text = cells.get(name)?.text ?? null;
    if (text === null || kind !== 'number') return [];
    return [`${table.name}.${name} ${timeOf(us, unit)} ${text}${tags.join('')}`];
  });
}

function lpLine(table: SourceTable, { us, cells }: SourceRow, unit: Unit): readonly string[] {
  const escaped = (text: string): string => text.replaceAll(/[ ,=]/g, '\\$&');
  const tags = tagsOf(table, cells).map(([name, text]) => `,${name}=${escaped(text)}`);
  const fields = columnsOf(table).flatMap(({ name, kind, suffix = '' }) => {
    const text = cells.get(name)?.text ?? null;
    if (text === null) return [];
    return [`${name}=${kind === 'text' ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text + suffix}`];
  });
  return fields.length === 0 ? [] : [`${table.name}${tags.join('')} ${fields.join(',')} ${timeOf(us, unit)}`];
}

function lines(text: string): readonly string[] {
  return text.split('\n');
}

/** Returns the tags that are not null. */
function tagsOf({ hasTags }: SourceTable, cells: SourceRow['cells']): readonly (readonly [string, string])[] {
  if (!hasTags) return [];
  return ['site', 'rack'].flatMap((name) => {
    const text = cells.get(name)?.text ?? null;
    return text === null ? [] : [[name, text] as const];
  });
}

function sorted(object: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(object).toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** Parses JSON. Numbers become strings with all their digits after a `#`. */
function exactJson(text: string): unknown {
  return JSON.parse(
    text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => (token.startsWith('"') ? token : `"#${token}"`)),
  );
}
