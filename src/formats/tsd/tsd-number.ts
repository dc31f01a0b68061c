import type { Cell, CellKind } from '../../data/row-batch.ts';
import { narrow } from '../unix-time.ts';

const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;

/** Numbers of this many digits are exact in a double, and so is their quotient by a power of ten up to 10^22. */
const EXACT_DIGITS = 15;
const POWERS_OF_TEN = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** No two parts can match the same digits: a megabyte of them must not be tried in all ways. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+$/;
/** Digits of 2^64 - 1; longer integers stay decimal text. */
const MAX_INTEGER_DIGITS = 20;

/**
 * The number written at [start, end), without a digit lost: a number or bigint, or decimal text (of a `numeric` cell)
 * where neither holds it. Infinity when its size is out of every type's range, `undefined` when it is no number.
 */
export function numberCell(text: string, start: number, end: number): number | bigint | string | undefined {
  const negative = text.charCodeAt(start) === MINUS;
  const first = negative ? start + 1 : start;
  let value = 0;
  let point = -1;
  let at = first;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) value = value * 10 + (code - ZERO);
    else if (code === POINT && point < 0) point = at;
    else break;
  }
  const digits = point < 0 ? end - first : end - first - 1;
  if (at < end || digits > EXACT_DIGITS || digits < 1) return unusualNumber(text.slice(start, end));
  if (point >= 0) value /= POWERS_OF_TEN[end - point - 1] ?? Number.NaN;
  return negative ? -value : value;
}

/** How a cell that `numberCell` gave stands in a batch. The sign of zero is a double's. */
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

/** The digits that say something: without sign, point, exponent, and zeros at either end. */
function significantDigits(text: string): string {
  const digits = text.replace(/[eE].*$/s, '').replace(/[^0-9]/g, '');
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start++;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end--;
  return digits.slice(start, end);
}

/** A cell as text columns take it: numbers by their value, not by their spelling. */
export function cellAsText(cell: Exclude<Cell, null>): string {
  return Object.is(cell, -0) ? '-0' : String(cell);
}
