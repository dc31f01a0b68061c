import type { DecodedStatement, Precision } from '../format.ts';
import { jsonText } from './json-db-encoder.ts';
import { jsonDbType } from './json-db-types.ts';

/** The table of a message. */
export interface CdcDbPlace {
  readonly database: string;
  readonly schema: string;
  readonly table: string;
}

/** A column, and the index of its cell in the row. The type is as printed by `format_type`. */
export interface CdcDbColumn {
  readonly index: number;
  readonly name: string;
  readonly type: string;
}

/**
 * Encodes a row as a message of kind `insert` or `snapshot`. Cells are in PostgreSQL's text format, as for
 * `RowEncoder`.
 */
export type CdcDbRowEncoder = (kind: 'insert' | 'snapshot', row: readonly (string | null)[]) => string;

/**
 * Creates an encoder for the rows of one table. With a precision, times are integers in that unit; otherwise they are
 * strings, which a sink of any precision can read. JSON values are strings as well, because a JSON null would mean
 * NULL.
 */
export function createCdcDbEncoder(
  place: CdcDbPlace,
  columns: readonly CdcDbColumn[],
  precision: Precision | undefined,
): CdcDbRowEncoder {
  const encoded = columns.map(({ index, name, type }) => {
    const { name: typeName, value } = jsonDbType(type);
    const isText = value === 'json' || (value === 'time' && precision === undefined);
    return { index, name, type: value === 'json' ? 'TEXT' : typeName, value: isText ? 'string' : value } as const;
  });
  const names = JSON.stringify(encoded.map(({ name }) => name));
  const types = JSON.stringify(encoded.map(({ type }) => type));
  const tail = `${placeText(place)},"columnnames":${names},"columntypes":${types},"columnvalues":[[`;
  return (kind, row) => {
    const cells = encoded.map(({ index, value }) => jsonText(row[index] ?? null, value, precision ?? 'us'));
    return `{"kind":"${kind}",${tail}${cells.join(',')}]]}`;
  };
}

/** Encodes a statement as a message. */
export function cdcDbStatement(kind: DecodedStatement['kind'], place: CdcDbPlace, sql: string): string {
  return `{"kind":"${kind}",${placeText(place)},"statement":${JSON.stringify(sql)}}`;
}

function placeText({ database, schema, table }: CdcDbPlace): string {
  return `"database":${JSON.stringify(database)},"schema":${JSON.stringify(schema)},"table":${JSON.stringify(table)}`;
}
