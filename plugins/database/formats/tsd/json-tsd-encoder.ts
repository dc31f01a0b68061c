import type { ByteWriter } from '../../../../src/data/byte-writer.ts';
import type { CellBounds } from '../../../../src/data/row-block.ts';
import type { DataError } from '../../../../src/errors.ts';
import { cellText, endsInDigit, maxCellBytes, TimeCells, writeBoolean, writeJsonString } from '../cell-bytes.ts';
import type { EncodedTable, Precision, RowEncoder } from '../format.ts';
import { isDecimal, pointColumns, pointTime, type PointColumn } from './point-columns.ts';

const VALUE = Buffer.from(',"value":');
const TAGS = Buffer.from(',"tags":{');
const END = Buffer.from('}}');
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

export interface PointEncoderPolicy {
  /** Unit of the times; default `ms`. Values are rounded down. */
  readonly precision?: Precision | undefined;
  /**
   * For `line_tsd`: called for each data column that is omitted because of its name. By default, such a name is an
   * error.
   */
  readonly onUnsupportedColumn?: ((error: DataError) => void) | undefined;
}

/**
 * Encodes rows as json_tsd (docs/formats.md#records-that-the-source-writes): an array with one point per data column.
 * The metric of a point is `<table>.<column>`, and its tags are all tags of the row, as strings. NULL values and tags
 * are omitted; a row without any value, or without a time, becomes `null`.
 *
 * Numbers keep PostgreSQL's digits. NaN and infinities, which JSON does not support, are strings, and so are values of
 * all types other than numbers and booleans, in PostgreSQL's text format. Throws DataError for a table without a time
 * column (when the encoder is created) and for infinite times.
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
  const pointBytes = points.map(({ column, head }) => ({ ...column, head: Buffer.from(head) }));
  const tagBytes = named.map(({ column, key }) => ({ ...column, key: Buffer.from(key) }));
  const tagLength = tagBytes.reduce((sum, { key }) => sum + key.length + 1, TAGS.length + 2);
  const fixedLength = pointBytes.reduce((sum, { head }) => sum + head.length + VALUE.length + 2, tagLength + 2);
  const times = new TimeCells(precision);
  const write: RowEncoder['write'] = (bytes, cells, out) => {
    const { starts, ends } = cells;
    const [from, to] = [starts[time.index]!, ends[time.index]!];
    if (from < 0) return false;
    out.reserve(fixedLength + maxCellBytes(cells, table.columns.length));
    let repeated: { readonly time: readonly [number, number]; readonly tags: readonly [number, number] } | undefined;
    for (const { index, head, value } of pointBytes) {
      if (starts[index]! < 0) continue;
      out.byte(repeated === undefined ? OPEN_BRACKET : COMMA);
      out.put(head);
      const timeAt = out.at;
      if (repeated === undefined) {
        if (!times.write(bytes, from, to, out)) pointTime(cellText(bytes, from, to), precision, 'json_tsd');
        out.put(VALUE);
      } else out.repeat(...repeated.time);
      const timeEnd = out.at;
      writeValue(bytes, starts[index]!, ends[index]!, value, out);
      if (repeated === undefined) {
        const tagsAt = out.at;
        writeTags(bytes, cells, tagBytes, out);
        repeated = { time: [timeAt, timeEnd], tags: [tagsAt, out.at] };
      } else out.repeat(...repeated.tags);
      out.reserve(fixedLength + maxCellBytes(cells, table.columns.length));
    }
    // A time that cannot be represented is an error even if there are no points.
    if (repeated === undefined) pointTime(cellText(bytes, from, to), precision, 'json_tsd');
    out.byte(CLOSE_BRACKET);
    return repeated !== undefined;
  };
  return {
    encode: (row) => array(pointsOf(row)),
    write,
    rowText: pointsOf,
    separator: ',',
    message: array,
  };
}

interface TagBytes {
  readonly index: number;
  readonly value: PointColumn['value'];
  readonly key: Buffer;
}

function writeTags(bytes: Buffer, { starts, ends }: CellBounds, tags: readonly TagBytes[], out: ByteWriter): void {
  out.put(TAGS);
  let isFirst = true;
  for (const { index, value, key } of tags) {
    const start = starts[index]!;
    if (start < 0) continue;
    if (!isFirst) out.byte(COMMA);
    isFirst = false;
    out.put(key);
    if (value !== 'bool') writeJsonString(bytes, start, ends[index]!, out);
    else {
      out.byte(QUOTE);
      writeBoolean(bytes, start, ends[index]!, out);
      out.byte(QUOTE);
    }
  }
  out.put(END);
}

function writeValue(bytes: Buffer, start: number, end: number, value: PointColumn['value'], out: ByteWriter): void {
  if (value === 'bool') writeBoolean(bytes, start, end, out);
  else if (value === 'number' && endsInDigit(bytes, start, end)) out.copy(bytes, start, end);
  else writeJsonString(bytes, start, end, out);
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
