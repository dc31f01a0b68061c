import type { ByteWriter } from '../../../../src/data/byte-writer.ts';
import {
  endsInDigit,
  maxCellBytes,
  TimeCells,
  writeBoolean,
  writeJsonString,
  writeJsonText,
  writeNull,
} from '../cell-bytes.ts';
import type { EncodedTable, Precision, RowEncoder } from '../format.ts';
import { jsonDbType, type JsonDbType } from './json-db-types.ts';
import { readTimestamp } from '../timestamp-read.ts';
import { unixText } from '../unix-time.ts';

export interface JsonDbEncoderPolicy {
  /** Unit of timestamps; default `ms`, per the specification. Values are rounded down. */
  readonly precision?: Precision | undefined;
}

/** A column with the index of its cell in the row. `key` is the JSON key, with its colon and the preceding comma. */
interface EncodedColumn {
  readonly index: number;
  readonly key: string;
  readonly value: JsonDbType['value'];
}

/**
 * Encodes rows as json_db (docs/formats.md#records-that-the-source-writes), with the keys in the order table, columns,
 * data, tags. Everything but the row is prepared once per table. NULL becomes null. Numbers keep PostgreSQL's digits;
 * NaN and infinities, which JSON does not support, become strings. Timestamps become integers, infinite ones strings.
 * JSON columns are embedded as JSON (a JSON null means NULL). Bytes are `\x…`.
 */
export function createJsonDbEncoder(table: EncodedTable, policy: JsonDbEncoderPolicy = {}): RowEncoder {
  const precision = policy.precision ?? 'ms';
  const all = table.columns.map((column, index) => ({ ...column, index, json: jsonDbType(column.type) }));
  const isTag = ({ role }: { role: string }) => role === 'tag' || role === 'primary-tag';
  const columns = all.filter((column) => !isTag(column));
  const tags = all.filter(isTag);
  const described = columns.map(({ name, json }) => ({ name, type: json.name, length: json.length }));
  const describedTags = tags.map(({ name, json, role, nullable }) => ({
    name,
    type: json.name,
    length: json.length,
    isPrimary: role === 'primary-tag',
    nullable,
  }));
  const encoded = [...columns, ...tags].map(({ name, index, json }, position): EncodedColumn => ({
    index,
    key: `${position === 0 ? '' : ','}${JSON.stringify(name)}:`,
    value: json.value,
  }));
  const head = `{"table":${JSON.stringify(table.name.name)},"columns":${JSON.stringify(described)},"data":[`;
  const tail = `],"tags":${JSON.stringify(describedTags)}}`;
  const objectOf = (row: readonly (string | null)[]): string => {
    let text = '{';
    for (const { index, key, value } of encoded) text += key + jsonText(row[index] ?? null, value, precision);
    return `${text}}`;
  };
  const fixed = encoded.map(({ key }, position) => Buffer.from(position === 0 ? `${head}{${key}` : key));
  const end = Buffer.from(encoded.length === 0 ? `${head}{}${tail}` : `}${tail}`);
  const fixedLength = [...fixed, end].reduce((sum, { length }) => sum + length, 0);
  const times = new TimeCells(precision);
  return {
    encode: (row) => head + objectOf(row) + tail,
    write: (bytes, cells, out) => {
      out.reserve(fixedLength + maxCellBytes(cells, encoded.length));
      const { starts, ends } = cells;
      for (let position = 0; position < encoded.length; position++) {
        const { index, value } = encoded[position]!;
        out.put(fixed[position]!);
        const start = starts[index]!;
        if (start < 0) writeNull(out);
        else writeCell(bytes, start, ends[index]!, value, times, out);
      }
      out.put(end);
      return true;
    },
    rowText: objectOf,
    separator: ',',
    message: (rowTexts) => (rowTexts === '' ? null : head + rowTexts + tail),
  };
}

function writeCell(
  bytes: Buffer,
  start: number,
  end: number,
  value: JsonDbType['value'],
  times: TimeCells,
  out: ByteWriter,
): void {
  switch (value) {
    case 'number':
      if (endsInDigit(bytes, start, end)) out.copy(bytes, start, end);
      else writeJsonString(bytes, start, end, out);
      break;
    case 'bool':
      writeBoolean(bytes, start, end, out);
      break;
    case 'time':
      if (!times.write(bytes, start, end, out)) writeJsonString(bytes, start, end, out);
      break;
    case 'json':
      writeJsonText(bytes, start, end, out);
      break;
    case 'string':
      writeJsonString(bytes, start, end, out);
  }
}

/** Formats a cell as JSON. */
export function jsonText(cell: string | null, value: JsonDbType['value'], precision: Precision): string {
  if (cell === null) return 'null';
  switch (value) {
    case 'number':
      return isDecimal(cell) ? cell : JSON.stringify(cell);
    case 'bool':
      return cell === 't' || cell === 'true' ? 'true' : 'false';
    case 'time':
      return timeText(cell, precision);
    case 'json':
      // Line breaks occur only between tokens, as they are escaped in strings, and a message must be one line.
      return /[\n\r]/.test(cell) ? cell.replace(/[\n\r]+/g, ' ') : cell;
    case 'string':
      return JSON.stringify(cell);
  }
}

/** Returns false for NaN and infinities, which end in a letter. */
function isDecimal(digits: string): boolean {
  const last = digits.charCodeAt(digits.length - 1);
  return last >= 48 && last <= 57;
}

/** Timestamps that are not finite (`infinity`) remain text. */
function timeText(cell: string, precision: Precision): string {
  const micros = readTimestamp(cell);
  return typeof micros === 'number' || typeof micros === 'bigint' ? unixText(micros, precision) : JSON.stringify(cell);
}
