import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import { shown } from '../message-text.ts';
import { narrow, unixMicros } from '../unix-time.ts';

/** The column type that a field value's spelling implies (docs/formats.md#tables-of-lines-and-points). */
export type LineType =
  | 'INT2'
  | 'INT4'
  | 'INT8'
  | 'UINT8'
  | 'FLOAT4'
  | 'FLOAT8'
  | 'NUMERIC'
  | 'BOOL'
  | 'VARCHAR'
  | 'NVARCHAR'
  | 'TIMESTAMPTZ';

export const KIND_OF_LINE_TYPE: Readonly<Record<LineType, CellKind>> = {
  INT2: 'int',
  INT4: 'int',
  INT8: 'int',
  UINT8: 'int',
  FLOAT4: 'float',
  FLOAT8: 'float',
  NUMERIC: 'numeric',
  BOOL: 'bool',
  VARCHAR: 'text',
  NVARCHAR: 'text',
  TIMESTAMPTZ: 'time',
};

export interface LineValue {
  readonly type: LineType;
  readonly cell: Exclude<Cell, null>;
}

const NUMBER = /^-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INTEGER = /^-?[0-9]+$/;
const LARGEST_FLOAT4 = 3.4028235677973366e38;

const RANGES = {
  INT2: [-(2n ** 15n), 2n ** 15n - 1n],
  INT4: [-(2n ** 31n), 2n ** 31n - 1n],
  INT8: [-(2n ** 63n), 2n ** 63n - 1n],
  UINT8: [0n, 2n ** 64n - 1n],
} as const;

/**
 * Parses an unquoted field value: a number with or without a suffix, a time, or a boolean. Returns a string that
 * describes the problem if it is invalid. Without a suffix, a number is a FLOAT8; an integer that a double cannot
 * represent (such as a nanosecond time) keeps its digits as NUMERIC, so that its column may store them.
 */
export function parseLineValue(token: string): LineValue | string {
  switch (token) {
    case 't':
    case 'T':
    case 'true':
    case 'True':
    case 'TRUE':
      return { type: 'BOOL', cell: true };
    case 'f':
    case 'F':
    case 'false':
    case 'False':
    case 'FALSE':
      return { type: 'BOOL', cell: false };
    default:
      return parseNumber(token);
  }
}

/** A suffix determines the type only if the text begins like a number: `tru` is not an unsigned integer. */
const NUMBER_START = /^[-+.]*[0-9]/;

function parseNumber(token: string): LineValue | string {
  if (!NUMBER_START.test(token)) return `${shown(token)} is not a number`;
  if (token.endsWith('i')) return parseInteger(token, token.slice(0, -1), 'INT8');
  if (token.endsWith('u')) return parseInteger(token, token.slice(0, -1), 'UINT8');
  if (token.endsWith('t')) return parseTime(token);
  const suffix = token.slice(-3);
  const digits = token.slice(0, -3);
  if (suffix === 'i64') return parseInteger(token, digits, 'INT8');
  if (suffix === 'i32') return parseInteger(token, digits, 'INT4');
  if (suffix === 'i16') return parseInteger(token, digits, 'INT2');
  if (suffix === 'f64') return parseFloat8(token, digits);
  if (suffix === 'f32') return parseFloat4(token, digits);
  return parseFloat8(token, token);
}

function parseInteger(token: string, digits: string, type: keyof typeof RANGES): LineValue | string {
  if (!INTEGER.test(digits) || (type === 'UINT8' && digits.startsWith('-'))) return `${shown(token)} is not an integer`;
  // Integers of all types have at most 20 digits without leading zeros. Longer text is cut off, because converting a
  // megabyte of digits to BigInt would take minutes.
  const value = BigInt(digits.replace(/^(-?)0+(?=[0-9])/, '$1').slice(0, 22));
  const [least, most] = RANGES[type];
  if (value < least || value > most) return `${shown(token)} is out of range for ${type}`;
  return { type, cell: narrow(value) };
}

/** Parses microseconds with the suffix `t`, which QuestDB's clients use for timestamps in fields. */
function parseTime(token: string): LineValue | string {
  const digits = token.slice(0, -1);
  if (!INTEGER.test(digits)) return `${shown(token)} is not a number`;
  const cell = unixMicros(digits, 0, digits.length, 'us');
  return cell === undefined ? `${shown(token)} is out of range for TIMESTAMPTZ` : { type: 'TIMESTAMPTZ', cell };
}

function parseFloat8(token: string, digits: string): LineValue | string {
  if (!NUMBER.test(digits)) return `${shown(token)} is not a number`;
  const value = Number(digits);
  if (!Number.isFinite(value)) return `${shown(token)} is out of range for FLOAT8`;
  const suffixed = digits !== token;
  const exact = suffixed || Number.isSafeInteger(value) || !INTEGER.test(digits) || BigInt(value) === BigInt(digits);
  return exact ? { type: 'FLOAT8', cell: value } : { type: 'NUMERIC', cell: digits };
}

function parseFloat4(token: string, digits: string): LineValue | string {
  if (!NUMBER.test(digits)) return `${shown(token)} is not a number`;
  const value = Number(digits);
  return Math.abs(value) < LARGEST_FLOAT4
    ? { type: 'FLOAT4', cell: value }
    : `${shown(token)} is out of range for FLOAT4`;
}
