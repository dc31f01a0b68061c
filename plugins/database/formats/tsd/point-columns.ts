import { DataError } from '../../../../src/errors.ts';
import { shown } from '../message-text.ts';
import type { EncodedTable, Precision } from '../format.ts';
import { jsonDbType, type JsonDbType } from '../json-db/json-db-types.ts';
import { readTimestamp } from '../timestamp-read.ts';
import { unixText } from '../unix-time.ts';

/** A column of a table that is written as points, and the index of its cell in the row. */
export interface PointColumn {
  readonly index: number;
  readonly name: string;
  /** `<table>.<column>`, for data columns. */
  readonly metric: string;
  readonly value: JsonDbType['value'];
}

export interface PointColumns {
  readonly time: PointColumn;
  readonly data: readonly PointColumn[];
  readonly tags: readonly PointColumn[];
}

/**
 * Divides the columns of a table into time, data and tags. The time column is the one with that role, or else the first
 * timestamp. Throws DataError if there is none.
 */
export function pointColumns(table: EncodedTable, format: string): PointColumns {
  const { name: tableName } = table.name;
  const all = table.columns.map(({ name, type, role }, index) => {
    return { index, name, type, role, metric: `${tableName}.${name}`, value: jsonDbType(type).value };
  });
  const time = all.find(({ role }) => role === 'time') ?? all.find(({ type }) => type.startsWith('timestamp'));
  if (time === undefined)
    throw new DataError(`${format} requires a time column, which table ${shown(tableName)} does not have`);
  const isTag = ({ role }: { role: string }) => role === 'tag' || role === 'primary-tag';
  return { time, tags: all.filter(isTag), data: all.filter((column) => column !== time && !isTag(column)) };
}

/** Formats a time for points in units of `precision`, rounded down. Throws DataError for an infinite time. */
export function pointTime(cell: string, precision: Precision, format: string): string {
  const micros = readTimestamp(cell);
  if (typeof micros === 'number' || typeof micros === 'bigint') return unixText(micros, precision);
  throw new DataError(`${format} cannot represent the time ${shown(cell)}`);
}

/** Returns true if a number in PostgreSQL's text format consists of digits; NaN and infinities end in a letter. */
export function isDecimal(cell: string): boolean {
  const last = cell.charCodeAt(cell.length - 1);
  return last >= 48 && last <= 57;
}
