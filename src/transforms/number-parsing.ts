import { latinDigits, parseDouble, parseFloat32, parseInteger } from '../java/java-number-text.ts';
import { javaTrim } from '../java/java-text.ts';
import { MAX_DECIMAL_DIGITS, parseDecimal } from '../data/logical-values.ts';
import type { Decimal } from '../data/value.ts';
import { numberFormatError } from './requirements.ts';

/** Parsers of numbers like Java's. For invalid text, they throw a NumberFormatException with Java's message. */

/** `Byte.parseByte`, `Short.parseShort`, `Integer.parseInt`, `Long.parseLong`: blanks around the digits are rejected. */
export function parsedInteger(text: string, bits: 8 | 16 | 32 | 64): bigint {
  const value = parseInteger(text);
  if (value === undefined || BigInt.asIntN(Math.max(bits, 32), value) !== value) {
    throw numberFormatError(`For input string: "${text}"`);
  }
  if (BigInt.asIntN(bits, value) !== value) {
    throw numberFormatError(`Value out of range. Value:"${text}" Radix:10`);
  }
  return value;
}

/** `Double.parseDouble`. */
export function parsedDouble(text: string): number {
  const trimmed = javaTrim(text);
  const value = parseDouble(trimmed);
  if (value !== undefined) return value;
  throw numberFormatError(trimmed === '' ? 'empty String' : `For input string: "${trimmed}"`);
}

/** `Float.parseFloat`. */
export function parsedFloat(text: string): number {
  const value = parsedDouble(text);
  const digits = javaTrim(text).replace(/[dDfF]$/, '');
  return /^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/.test(digits) ? parseFloat32(digits) : Math.fround(value);
}

/** `new BigDecimal(text)`. */
export function parsedDecimal(text: string): Decimal {
  const value = parseDecimal(text) ?? parseDecimal(latinDigits(text));
  if (value === undefined) throw numberFormatError(noDecimalReason(text));
  return value;
}

const TOO_LONG = `More than ${String(MAX_DECIMAL_DIGITS)} digits.`;

function noDecimalReason(text: string): string {
  if (text === '') return 'Index 0 out of bounds for length 0';
  const [start = '', mantissa = ''] = /^[+-]?((?:\p{Nd}|\.)*)/u.exec(text) ?? [];
  const rest = text.slice(start.length);
  if (mantissa.split('.').length > 2) return 'Character array contains more than one decimal point.';
  if (/^[eE][+-]?$/.test(rest)) return `Character array is missing "exponent" mark 'e' or 'E'.`;
  if (/^[eE]/.test(rest)) {
    if (!/^[eE][+-]?\p{Nd}+$/u.test(rest)) return 'Not a digit.';
    return mantissa.length > MAX_DECIMAL_DIGITS ? TOO_LONG : 'No digits found.';
  }
  if (rest === '') return mantissa.length > MAX_DECIMAL_DIGITS ? TOO_LONG : 'No digits found.';
  return `Character ${rest.charAt(0)} is neither a decimal digit number, decimal point, nor "e" notation exponential mark.`;
}
