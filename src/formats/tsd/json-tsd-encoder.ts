import type { EncodedTable, Precision, RowEncoder } from '../format.ts';
import { isDecimal, pointColumns, pointTime, type PointColumn } from './point-columns.ts';

export interface PointEncoderPolicy {
  /** Unit of the times; default `ms`. Finer digits are floored. */
  readonly precision?: Precision | undefined;
}

/**
 * Writes rows as json_tsd (docs/formats.md#records-that-the-source-writes): an array with one point per data column, `<table>.<column>` its metric,
 * all tags of the row as strings. NULL columns and tags are left out; a row that has no value then, or no time, is `null`.
 *
 * Numbers keep PostgreSQL's digits; NaN and infinities, which JSON does not have, are strings, as are values of all types
 * but numbers and booleans, in PostgreSQL's text. DataError for a table without a time (here already) and an infinite time.
 */
export function createJsonTsdEncoder(table: EncodedTable, policy: PointEncoderPolicy = {}): RowEncoder {
  const precision = policy.precision ?? 'ms';
  const { time, data, tags } = pointColumns(table, 'json_tsd');
  const points = data.map((column) => ({ column, head: `{"metric":${JSON.stringify(column.metric)},"timestamp":` }));
  const named = tags.map((column) => ({ column, key: `${JSON.stringify(column.name)}:` }));
  const pointsOf = (row: readonly (string | null)[]): string => {
    const at = row[time.index] ?? null;
    if (at === null) return '';
    const timestamp = `${pointTime(at, precision, 'json_tsd')},"value":`;
    let tagText = '';
    for (const { column, key } of named) {
      const cell = row[column.index] ?? null;
      if (cell !== null) tagText += `${tagText === '' ? '' : ','}${key}${tagJson(cell, column)}`;
    }
    const tail = `,"tags":{${tagText}}}`;
    let text = '';
    for (const { column, head } of points) {
      const cell = row[column.index] ?? null;
      if (cell !== null) text += `${text === '' ? '' : ','}${head}${timestamp}${valueJson(cell, column)}${tail}`;
    }
    return text;
  };
  const array = (text: string) => (text === '' ? null : `[${text}]`);
  return {
    encode: (row) => array(pointsOf(row)),
    rowText: pointsOf,
    separator: ',',
    message: array,
  };
}

function valueJson(cell: string, { value }: PointColumn): string {
  if (value === 'bool') return booleanText(cell);
  return value === 'number' && isDecimal(cell) ? cell : JSON.stringify(cell);
}

function tagJson(cell: string, { value }: PointColumn): string {
  return JSON.stringify(value === 'bool' ? booleanText(cell) : cell);
}

function booleanText(cell: string): string {
  return cell === 't' || cell === 'true' ? 'true' : 'false';
}
