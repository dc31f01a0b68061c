import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import { EXACT_DIGITS, shortDecimal } from '../../../../src/data/short-decimal.ts';
import { narrow } from '../unix-time.ts';

const ZERO = 48;

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
  return shortDecimal(text, start, end) ?? unusualNumber(text.slice(start, end));
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
  const [mantissa = ''] = text.split(/e/i, 1);
  const digits = mantissa.replace(/[^0-9]/g, '');
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
