import { DataError } from '../../../../src/errors.ts';
import { shown } from '../message-text.ts';
import { cellText, endsInDigit, maxCellBytes, TimeCells, writeBoolean } from '../cell-bytes.ts';
import type { EncodedTable, Precision, RowEncoder } from '../format.ts';
import { fieldString, lineKey, lineName, writeFieldString, writeLineKey } from './line-write.ts';
import { readTimestamp } from '../timestamp-read.ts';
import { unixText } from '../unix-time.ts';

export interface LineLpEncoderPolicy {
  /** Unit of the timestamps; default `ns`. */
  readonly precision?: Precision | undefined;
  /**
   * `suffixes` (default) writes numbers with the suffixes i16, i32, i64, f32 and f64. `standard` writes numbers that
   * any reader understands.
   */
  readonly numbers?: 'suffixes' | 'standard' | undefined;
}

const SPACE = 0x20;
const COMMA = 0x2c;

type Suffixes = Readonly<Record<'smallint' | 'integer' | 'bigint' | 'real' | 'double precision', string>>;

const DOCUMENTED: Suffixes = { smallint: 'i16', integer: 'i32', bigint: 'i64', real: 'f32', 'double precision': 'f64' };
const STANDARD: Suffixes = { smallint: 'i', integer: 'i', bigint: 'i', real: '', 'double precision': '' };

interface EncodedCell {
  readonly index: number;
  readonly key: string;
  readonly type: string;
}

/**
 * Encodes rows as line protocol, one line per row (docs/formats.md#records-that-the-source-writes). NULL, NaN and
 * infinities, which line protocol does not support, are omitted, as are empty tags; a row without any field becomes
 * `null`. Values of types other than booleans, integers and floats are written as strings in PostgreSQL's text format,
 * so that decimals and times keep all digits. Without a column of role `time`, lines have no timestamp. Throws
 * DataError for names (when the encoder is created) and tag values that cannot be represented (line-write.ts), and for
 * infinite times.
 */
export function createLineLpEncoder(table: EncodedTable, policy: LineLpEncoderPolicy = {}): RowEncoder {
  const precision = policy.precision ?? 'ns';
  const suffixes: Readonly<Record<string, string>> = policy.numbers === 'standard' ? STANDARD : DOCUMENTED;
  const measurement = lineName(table.name.name);
  const cells = table.columns.map(({ name, type, role }, index) => ({ index, role, type, key: `${lineKey(name)}=` }));
  const time = cells.find(({ role }) => role === 'time');
  const tags = cells.filter(({ role }) => role === 'tag' || role === 'primary-tag');
  const fields = cells.filter((cell) => cell !== time && !tags.includes(cell));
  const lineOf = (row: readonly (string | null)[]): string => {
    let written = '';
    for (const field of fields) {
      const value = fieldText(row[field.index] ?? null, field, suffixes);
      if (value !== undefined) written += `${written === '' ? ' ' : ','}${field.key}${value}`;
    }
    if (written === '') return '';
    let series = measurement;
    for (const tag of tags) {
      const value = row[tag.index] ?? null;
      if (value !== null && value !== '') series += `,${tag.key}${lineKey(value)}`;
    }
    return series + written + timeText(time === undefined ? null : (row[time.index] ?? null), precision);
  };
  const message = (text: string) => (text === '' ? null : text);
  const tagBytes = tags.map(({ index, key }) => ({ index, key: Buffer.from(`,${key}`) }));
  const fieldBytes = fields.map(({ index, key, type }) => {
    const suffix = type === 'boolean' ? undefined : suffixes[type];
    return {
      index,
      key: Buffer.from(key),
      isBoolean: type === 'boolean',
      suffix: suffix === undefined ? undefined : Buffer.from(suffix),
    };
  });
  const start = Buffer.from(measurement);
  const fixedLength = [...tagBytes, ...fieldBytes].reduce((sum, { key }) => sum + key.length + 1, start.length + 1);
  const times = new TimeCells(precision);
  const write: RowEncoder['write'] = (bytes, cells, out) => {
    const { starts, ends } = cells;
    out.reserve(fixedLength + maxCellBytes(cells, table.columns.length));
    const isWritten = ({ index, suffix }: (typeof fieldBytes)[number]): boolean =>
      starts[index]! >= 0 && (suffix === undefined || endsInDigit(bytes, starts[index]!, ends[index]!));
    if (!fieldBytes.some(isWritten)) return false;
    out.put(start);
    for (const { index, key } of tagBytes) {
      if (ends[index]! <= starts[index]!) continue;
      out.put(key);
      writeLineKey(bytes, starts[index]!, ends[index]!, out);
    }
    let separator = SPACE;
    for (const field of fieldBytes) {
      if (!isWritten(field)) continue;
      out.byte(separator);
      separator = COMMA;
      out.put(field.key);
      const { index, isBoolean, suffix } = field;
      if (isBoolean) writeBoolean(bytes, starts[index]!, ends[index]!, out);
      else if (suffix === undefined) writeFieldString(bytes, starts[index]!, ends[index]!, out);
      else {
        out.copy(bytes, starts[index]!, ends[index]!);
        out.put(suffix);
      }
    }
    if (time === undefined || starts[time.index]! < 0) return true;
    out.byte(SPACE);
    if (times.write(bytes, starts[time.index]!, ends[time.index]!, out)) return true;
    throw unsupportedTime(cellText(bytes, starts[time.index]!, ends[time.index]!));
  };
  return {
    encode: (row) => message(lineOf(row)),
    write,
    rowText: lineOf,
    separator: '\n',
    message,
  };
}

function fieldText(cell: string | null, { type }: EncodedCell, suffixes: Readonly<Record<string, string>>) {
  if (cell === null) return undefined;
  if (type === 'boolean') return cell === 't' || cell === 'true' ? 'true' : 'false';
  const suffix = suffixes[type];
  if (suffix === undefined) return fieldString(cell);
  return /[0-9]$/.test(cell) ? cell + suffix : undefined;
}

function timeText(cell: string | null, precision: Precision): string {
  if (cell === null) return '';
  const micros = readTimestamp(cell);
  if (typeof micros === 'number' || typeof micros === 'bigint') return ` ${unixText(micros, precision)}`;
  throw unsupportedTime(cell);
}

function unsupportedTime(cell: string): DataError {
  return new DataError(`line protocol cannot represent the time ${shown(cell)}`);
}
