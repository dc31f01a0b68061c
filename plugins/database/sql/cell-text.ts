import type { Cell, CellKind } from '../../../src/data/row-batch.ts';
import { withoutTrailing } from '../../../src/data/text-ends.ts';
import {
  type ColumnTarget,
  FLOAT4_OVERFLOW,
  INTEGER_BOUNDS,
  notInteger,
  outOfRange,
  Refusal,
  type TypeFamily,
} from './column-type.ts';
import { jsonToArrayLiteral } from './json-array.ts';
import { END_TIMESTAMP_MICROS, MIN_TIMESTAMP_MICROS, TimestampWriter } from './timestamp-text.ts';

/** Converts a cell to the text that the type's input function expects, or returns the reason why it does not fit. */
export type CellToText = (cell: NonNullable<Cell>) => string | Refusal;

/** Digits of a 64-bit integer, plus the sign. */
const MAX_INTEGER_LENGTH = 20;
const INTEGER_TEXT = /^\s*[+-]?\d+\s*$/;
const DECIMAL_TEXT = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;
const SPECIAL_NUMBER = /^\s*(?:nan|[+-]?inf(?:inity)?)\s*$/i;
const BOOLEAN_TEXT = /^\s*(?:t|tr|tru|true|f|fa|fal|fals|false|y|ye|yes|n|no|on|of|off|0|1)\s*$/i;

/**
 * Returns the conversion of cells of this kind to text for the column. Cells of kind `time` are microseconds since the
 * epoch, or text.
 */
export function cellToText(kind: CellKind, target: ColumnTarget): CellToText {
  const { family } = target;
  if (kind === 'time') return timeToText(target);
  if (kind === 'json' && target.isArray === true) {
    return (cell) => (typeof cell === 'string' ? jsonToArrayLiteral(cell, target) : mismatch(cell, 'an array'));
  }
  switch (family) {
    case 'int2':
    case 'int4':
    case 'int8':
      return (cell) => integerText(cell, INTEGER_BOUNDS[family]);
    case 'float4':
    case 'float8':
    case 'numeric':
      return (cell) => numberText(cell, family);
    case 'bool':
      return booleanText;
    case 'bytes':
      return bytesText;
    case 'timestamptz':
    case 'timestamp':
    case 'date':
      return temporalText;
    case 'text':
    case 'json':
    case 'other':
      return plainText;
  }
}

function integerText(cell: NonNullable<Cell>, bounds: { min: bigint; max: bigint }): string | Refusal {
  if (typeof cell === 'number') {
    if (!Number.isInteger(cell)) return notInteger(String(cell));
    return cell < bounds.min || cell > bounds.max ? outOfRange(String(cell)) : String(cell);
  }
  if (typeof cell === 'bigint') {
    return cell < bounds.min || cell > bounds.max ? outOfRange(cell.toString()) : cell.toString();
  }
  if (typeof cell === 'string') {
    if (!INTEGER_TEXT.test(cell)) return notInteger(shown(cell));
    const digits = cell
      .trim()
      .replace(/^\+/, '')
      .replace(/^(-?)0+(?=\d)/, '$1');
    if (digits.length > MAX_INTEGER_LENGTH) return outOfRange(shown(cell));
    const value = BigInt(digits);
    return value < bounds.min || value > bounds.max ? outOfRange(shown(cell)) : value.toString();
  }
  return mismatch(cell, 'an integer');
}

function numberText(cell: NonNullable<Cell>, family: 'float4' | 'float8' | 'numeric'): string | Refusal {
  if (typeof cell === 'number') {
    if (family === 'float4' && !fitsFloat4(cell)) return outOfRange(String(cell));
    return Object.is(cell, -0) && family !== 'numeric' ? '-0' : String(cell);
  }
  if (typeof cell === 'bigint') return cell.toString();
  if (typeof cell === 'string') {
    if (SPECIAL_NUMBER.test(cell)) return cell.trim();
    if (!DECIMAL_TEXT.test(cell)) return new Refusal('22P02', `${shown(cell)} is not a number`);
    if (family !== 'numeric' && !Number.isFinite(Number(cell))) return outOfRange(shown(cell));
    return cell.trim();
  }
  return mismatch(cell, 'a number');
}

/** Returns false for numbers that overflow or underflow a 4-byte float, which the server rejects. */
export function fitsFloat4(value: number): boolean {
  if (value === 0 || !Number.isFinite(value)) return true;
  return Math.abs(value) < FLOAT4_OVERFLOW && Math.fround(value) !== 0;
}

function booleanText(cell: NonNullable<Cell>): string | Refusal {
  if (typeof cell === 'boolean') return cell ? 'true' : 'false';
  if (typeof cell === 'string' && BOOLEAN_TEXT.test(cell)) return cell.trim();
  if (cell === 1 || cell === 1n) return 'true';
  if (cell === 0 || cell === 0n) return 'false';
  return mismatch(cell, 'a boolean');
}

function bytesText(cell: NonNullable<Cell>): string | Refusal {
  if (cell instanceof Uint8Array) return `\\x${Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString('hex')}`;
  return typeof cell === 'string' ? cell : mismatch(cell, 'bytes');
}

/** Refuses numbers, because only the decoder knows the unit of a time. It passes such times as cells of kind `time`. */
function temporalText(cell: NonNullable<Cell>): string | Refusal {
  return typeof cell === 'string' ? cell : mismatch(cell, 'a time');
}

function plainText(cell: NonNullable<Cell>): string | Refusal {
  if (typeof cell === 'string') return cell;
  return cell instanceof Uint8Array ? mismatch(cell, 'text') : String(cell);
}

const TAKES_TIME_TEXT: ReadonlySet<TypeFamily> = new Set(['timestamptz', 'timestamp', 'date', 'text', 'other']);

function timeToText(target: ColumnTarget): CellToText {
  const { family } = target;
  if (!TAKES_TIME_TEXT.has(family)) {
    return (cell) =>
      typeof cell === 'string' ? plainText(cell) : new Refusal('42804', 'a time does not fit the type');
  }
  const writer = new TimestampWriter(family === 'timestamp' || family === 'date' ? '' : '+00');
  const unit = roundingUnit(target);
  const trimmed = family === 'text' || family === 'other';
  return (cell) => {
    if (typeof cell === 'string') return cell;
    if (typeof cell !== 'number' && typeof cell !== 'bigint') return mismatch(cell, 'a time');
    const micros = roundMicros(cell, unit);
    if (!isTimestamp(micros)) return outOfRange(`the time ${String(cell)} µs`);
    const text = writer.write(micros);
    return trimmed ? withoutTrailingZeros(text) : text;
  };
}

/** Removes trailing zeros from the fraction of a second. In text columns, times then look as the server prints them. */
function withoutTrailingZeros(text: string): string {
  const zone = text.indexOf('+');
  if (zone < 0 || !text.includes('.')) return text;
  return withoutTrailing(text.slice(0, zone), '0') + text.slice(zone);
}

/** Returns the microseconds per step of the column's precision: 1 for 6 digits, 1000 for 3. */
export function roundingUnit(target: Pick<ColumnTarget, 'precision'>): number {
  return 10 ** (6 - target.precision);
}

/** Rounds half up to a multiple of `unit`; fractions of a microsecond are rounded down. */
export function roundMicros(micros: number | bigint, unit: number): number | bigint {
  if (typeof micros === 'number') {
    return unit === 1 ? Math.floor(micros) : Math.floor((Math.floor(micros) + unit / 2) / unit) * unit;
  }
  if (unit === 1) return micros;
  const step = BigInt(unit);
  const raised = micros + step / 2n;
  const remainder = ((raised % step) + step) % step;
  return raised - remainder;
}

export function isTimestamp(micros: number | bigint): boolean {
  return micros >= MIN_TIMESTAMP_MICROS && micros < END_TIMESTAMP_MICROS;
}

function mismatch(cell: NonNullable<Cell>, wanted: string): Refusal {
  return new Refusal('42804', `${shown(cell)} is not ${wanted}`);
}

/** Formats a cell for a message: quoted, and truncated to a length that suits a log line. */
function shown(cell: NonNullable<Cell>): string {
  if (cell instanceof Uint8Array) return `a value of ${String(cell.length)} bytes`;
  if (typeof cell !== 'string') return String(cell);
  return JSON.stringify(cell.length > 60 ? `${cell.slice(0, 60)}…` : cell);
}
