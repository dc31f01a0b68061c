import type { ByteWriter } from '../../src/index.ts';

/**
 * Writes a value as JSON, directly from the server's text, which is the part of `message` from `start` to `end` (exclusive).
 * @returns false if the text needs a conversion first. Then nothing was written
 */
export type WriteText = (out: ByteWriter, message: Buffer, start: number, end: number) => boolean;

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;
const BACKSLASH = 0x5c;
const SMALL_T = 0x74;
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');

/** Copies the text. */
export function writeDigits(out: ByteWriter, message: Buffer, start: number, end: number): boolean {
  out.reserve(end - start);
  out.copy(message, start, end);
  return true;
}

/** Copies the text between quotes, if it needs no escaping: it is ASCII without control characters, quotes and backslashes. */
export function writePlain(out: ByteWriter, message: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = message[at] ?? 0;
    if (byte < 0x20 || byte >= 0x7f || byte === QUOTE || byte === BACKSLASH) return false;
  }
  out.reserve(end - start + 2);
  out.byte(QUOTE);
  out.copy(message, start, end);
  out.byte(QUOTE);
  return true;
}

export function writeBoolean(out: ByteWriter, message: Buffer, start: number): boolean {
  const text = message[start] === SMALL_T ? TRUE : FALSE;
  out.reserve(text.length);
  out.put(text);
  return true;
}

/**
 * Java writes a number without an exponent if it is at least 0.001 and has at most this many digits before the point.
 */
const MOST_WHOLE_DIGITS = 7;
/** A decimal with at most this many digits is the shortest text of its number, if it does not end with a zero. */
const MOST_DIGITS = 15;

/** Copies the text of a double if Java prints the same text, except that Java appends `.0` to integers. */
export function writeDouble(out: ByteWriter, message: Buffer, start: number, end: number): boolean {
  const first = message[start] === MINUS ? start + 1 : start;
  const point = digitsEnd(message, first, end);
  if (point === first || point - first > MOST_WHOLE_DIGITS) return false;
  if (point < end) {
    if (message[point] !== POINT || digitsEnd(message, point + 1, end) !== end) return false;
    if (message[end - 1] === ZERO || end - first - 1 > MOST_DIGITS) return false;
    // A number below 0.001.
    if (message[first] === ZERO && isZeros(message, point + 1, point + 4)) return false;
  }
  out.reserve(end - start + 2);
  out.copy(message, start, end);
  if (point === end) {
    out.byte(POINT);
    out.byte(ZERO);
  }
  return true;
}

function digitsEnd(message: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isDigit(message[at])) at++;
  return at;
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isZeros(message: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (message[at] !== ZERO) return false;
  return true;
}

const DATE_LENGTH = 10;
const WHOLE_SECONDS_LENGTH = 19;
/** Length of the zone `+00`. */
const ZONE_LENGTH = 3;

/**
 * Writes a timestamp such as `2026-11-27 01:02:03.25+00` as ISO 8601: `2026-11-27T01:02:03.250Z`. Other timestamps (infinity,
 * years before Christ or of more than four digits) need a conversion.
 * @param precision number of digits of the fraction
 */
export function writeZonedTimestamp(precision: number): WriteText {
  return (out, message, start, end) => {
    const seconds = start + WHOLE_SECONDS_LENGTH;
    const zone = end - ZONE_LENGTH;
    if (zone < seconds || !isTimestamp(message, start) || !isUtc(message, zone)) return false;
    out.reserve(WHOLE_SECONDS_LENGTH + precision + 4);
    out.byte(QUOTE);
    out.copy(message, start, start + DATE_LENGTH);
    out.byte(LETTER_T);
    out.copy(message, start + DATE_LENGTH + 1, seconds);
    if (precision > 0) {
      out.byte(POINT);
      for (let at = seconds + 1; at <= seconds + precision; at++) out.byte(at < zone ? (message[at] ?? ZERO) : ZERO);
    }
    out.byte(LETTER_Z);
    out.byte(QUOTE);
    return true;
  };
}

/** Whether a timestamp after Christ with a year of four digits begins here. */
function isTimestamp(message: Buffer, start: number): boolean {
  return (
    message[start + 4] === MINUS &&
    message[start + 7] === MINUS &&
    message[start + DATE_LENGTH] === SPACE &&
    message[start + 13] === COLON &&
    message[start + 16] === COLON
  );
}

function isUtc(message: Buffer, zone: number): boolean {
  return message[zone] === PLUS && isZeros(message, zone + 1, zone + ZONE_LENGTH);
}
