import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import { EXACT_DIGITS, shortDecimal } from '../../../../src/data/short-decimal.ts';
import { narrow } from '../unix-time.ts';

const ZERO = 48;

/** No two parts of the pattern match the same digits, so a megabyte of digits causes no backtracking. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+$/;
/** Digits of 2^64 - 1; longer integers remain decimal text. */
const MAX_INTEGER_DIGITS = 20;

/**
 * Parses the number at [start, end) without losing digits. Returns
 * - a number or bigint with the same significant digits;
 * - decimal text, for a `numeric` cell, if there is no such number or bigint;
 * - Infinity if the number is out of range of all types;
 * - `undefined` if the text is not a number.
 */
export function numberCell(text: string, start: number, end: number): number | bigint | string | undefined {
  return shortDecimal(text, start, end) ?? unusualNumber(text.slice(start, end));
}

/** Returns the kind of a cell returned by `numberCell`. Negative zero requires a double. */
export function kindOfNumber(cell: number | bigint | string): Extract<CellKind, 'int' | 'float' | 'numeric'> {
  if (typeof cell === 'number') return Number.isSafeInteger(cell) && !Object.is(cell, -0) ? 'int' : 'float';
  return typeof cell === 'bigint' ? 'int' : 'numeric';
}

function unusualNumber(text: string): number | bigint | string | undefined {
  if (!NUMBER.test(text)) return undefined;
  if (INTEGER.test(text)) {
    const digits = text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
    if (digits === '-0') return -0;
    return digits.replace('-', '').length <= MAX_INTEGER_DIGITS ? narrow(BigInt(digits)) : digits;
  }
  const value = Number(text);
  if (!Number.isFinite(value)) return Number.POSITIVE_INFINITY;
  const written = significantDigits(text);
  if (written.length <= EXACT_DIGITS || written === significantDigits(String(value))) return value;
  return text.replace(/^\+/, '');
}

/** Returns the digits without sign, point, exponent, and leading and trailing zeros. */
function significantDigits(text: string): string {
  const [mantissa = ''] = text.split(/e/i, 1);
  const digits = mantissa.replace(/[^0-9]/g, '');
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start++;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end--;
  return digits.slice(start, end);
}

/** Converts a cell for a text column. Numbers are formatted by their value, not as they were spelled. */
export function cellAsText(cell: Exclude<Cell, null>): string {
  return Object.is(cell, -0) ? '-0' : String(cell);
}
