import { DataError } from '../../../../src/errors.ts';
import { shown } from '../message-text.ts';
import type { EncodedTable, Precision } from '../format.ts';
import { jsonDbType, type JsonDbType } from '../json-db/json-db-types.ts';
import { readTimestamp } from '../timestamp-read.ts';
import { unixText } from '../unix-time.ts';

/** A column of a table that is written as points, and where its cell is in the row. */
export interface PointColumn {
  readonly index: number;
  readonly name: string;
  /** `<table>.<column>`, for data columns. */
  readonly metric: string;
  readonly value: JsonDbType['value'];
}

/** A table as points see it. */
export interface PointColumns {
  readonly time: PointColumn;
  readonly data: readonly PointColumn[];
  readonly tags: readonly PointColumn[];
}

/** The time is the column of that role, else the first timestamp; DataError for a table without. */
export function pointColumns(table: EncodedTable, format: string): PointColumns {
  const { name: tableName } = table.name;
  const all = table.columns.map(({ name, type, role }, index) => {
    return { index, name, type, role, metric: `${tableName}.${name}`, value: jsonDbType(type).value };
  });
  const time = all.find(({ role }) => role === 'time') ?? all.find(({ type }) => type.startsWith('timestamp'));
  if (time === undefined)
    throw new DataError(`${format} needs a time, and table ${shown(tableName)} has no column for it`);
  const isTag = ({ role }: { role: string }) => role === 'tag' || role === 'primary-tag';
  return { time, tags: all.filter(isTag), data: all.filter((column) => column !== time && !isTag(column)) };
}

/** A time in PostgreSQL's text as digits in units of `precision`, floored. DataError for an infinite one. */
export function pointTime(cell: string, precision: Precision, format: string): string {
  const micros = readTimestamp(cell);
  if (typeof micros === 'number' || typeof micros === 'bigint') return unixText(micros, precision);
  throw new DataError(`${format} has no spelling for the time ${shown(cell)}`);
}

/** Whether a number in PostgreSQL's text is one in digits: NaN and the infinities end in a letter. */
export function isDecimal(cell: string): boolean {
  const last = cell.charCodeAt(cell.length - 1);
  return last >= 48 && last <= 57;
}
