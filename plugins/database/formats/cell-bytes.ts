import { isUtf8 } from 'node:buffer';
import type { ByteWriter } from '../../../src/data/byte-writer.ts';
import type { CellBounds } from '../../../src/data/row-block.ts';
import type { Precision } from './format.ts';
import { dayOf, readTimestamp } from './timestamp-read.ts';
import { unixText } from './unix-time.ts';

const MICROS_PER_DAY = 86_400_000_000;
const MICROS_PER_SECOND = 1_000_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const FIRST_NOT_ASCII = 0x80;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const CAPITAL_T = 0x54;
const CAPITAL_Z = 0x5a;
const SMALL_T = 0x74;
const PLUS = 0x2b;
const DASH = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const DATE_LENGTH = 10;
const SECONDS_LENGTH = 19;

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const THREE_ZEROS = Buffer.from('000');

/** Maximum number of output bytes per byte of a cell: a control character is written as `\u0001`. */
const MAX_BYTES_PER_BYTE = 6;
/** Maximum number of output bytes per cell besides those of its text, such as quotes and suffixes. */
const MAX_OVERHEAD = 32;

/** Upper bound, in bytes, of the output for the first `columns` cells of a row, each written once. */
export function maxCellBytes({ starts, ends }: CellBounds, columns: number): number {
  let length = 0;
  for (let column = 0; column < columns; column++) length += ends[column]! - starts[column]!;
  return MAX_BYTES_PER_BYTE * length + MAX_OVERHEAD * columns;
}

export function cellText(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end);
}

export function writeNull(out: ByteWriter): void {
  out.put(NULL);
}

export function writeBoolean(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  const isTrue = bytes[start] === SMALL_T && (end - start === 1 || cellText(bytes, start, end) === 'true');
  out.put(isTrue ? TRUE : FALSE);
}

/** Returns false for NaN and infinities, which end in a letter. */
export function endsInDigit(bytes: Buffer, start: number, end: number): boolean {
  const last = end > start ? bytes[end - 1]! : 0;
  return last >= ZERO && last <= NINE;
}

/** Writes a JSON string with the same result as `JSON.stringify`. */
export function writeJsonString(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  const target = out.bytes;
  let at = out.at;
  let isAscii = true;
  target[at++] = QUOTE;
  for (let from = start; from < end; from++) {
    const byte = bytes[from]!;
    if (byte < FIRST_PRINTABLE || byte === QUOTE || byte === BACKSLASH) {
      out.text(JSON.stringify(cellText(bytes, start, end)));
      return;
    }
    if (byte >= FIRST_NOT_ASCII) isAscii = false;
    target[at++] = byte;
  }
  if (!isAscii && !isUtf8(bytes.subarray(start, end))) {
    out.text(JSON.stringify(cellText(bytes, start, end)));
    return;
  }
  target[at++] = QUOTE;
  out.at = at;
}

/** Writes JSON on one line. Line breaks occur only between tokens, as they are escaped in strings. */
export function writeJsonText(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  for (let from = start; from < end; from++) {
    const byte = bytes[from]!;
    if (byte >= FIRST_NOT_ASCII || byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      out.text(cellText(bytes, start, end).replace(/[\n\r]+/g, ' '));
      return;
    }
  }
  out.copy(bytes, start, end);
}

/**
 * Returns true if the bytes are valid UTF-8. Other bytes must be converted through a string, which replaces them by
 * U+FFFD.
 */
export function isText(bytes: Buffer, start: number, end: number): boolean {
  for (let from = start; from < end; from++) {
    if (bytes[from]! >= FIRST_NOT_ASCII) return isUtf8(bytes.subarray(start, end));
  }
  return true;
}

/** Writes timestamps as integers. Consecutive timestamps are usually on the same day, so the date is cached. */
export class TimeCells {
  readonly #precision: Precision;
  readonly #date = new Uint8Array(DATE_LENGTH);
  #day = Number.NaN;

  constructor(precision: Precision) {
    this.#precision = precision;
  }

  /** Returns false without writing anything if the cell is not a finite timestamp, such as `infinity`. */
  write(bytes: Buffer, start: number, end: number, out: ByteWriter): boolean {
    const micros = this.#usual(bytes, start, end);
    if (Number.isNaN(micros)) return this.#general(bytes, start, end, out);
    const precision = this.#precision;
    if (precision === 'ms') out.integer(Math.floor(micros / 1_000));
    else if (precision === 's') out.integer(Math.floor(micros / MICROS_PER_SECOND));
    else {
      out.integer(micros);
      if (precision === 'ns' && micros !== 0) out.put(THREE_ZEROS);
    }
    return true;
  }

  #general(bytes: Buffer, start: number, end: number, out: ByteWriter): boolean {
    const micros = readTimestamp(cellText(bytes, start, end));
    if (typeof micros !== 'number' && typeof micros !== 'bigint') return false;
    out.text(unixText(micros, this.#precision));
    return true;
  }

  /** Parses `YYYY-MM-DD hh:mm:ss[.ffffff][+00]` to microseconds since the epoch; NaN for other formats. */
  #usual(bytes: Buffer, start: number, end: number): number {
    const separator = bytes[start + DATE_LENGTH];
    if (
      end - start < SECONDS_LENGTH ||
      (separator !== FIRST_PRINTABLE && separator !== CAPITAL_T) ||
      bytes[start + 13] !== COLON ||
      bytes[start + 16] !== COLON
    ) {
      return Number.NaN;
    }
    let at = start + SECONDS_LENGTH;
    let fraction = 0;
    if (at < end && bytes[at] === DOT) {
      let scale = MICROS_PER_SECOND;
      for (at++; at < end && isDigit(bytes[at]!); at++) {
        scale /= 10;
        if (scale >= 1) fraction += (bytes[at]! - ZERO) * scale;
      }
      if (at === start + SECONDS_LENGTH + 1) return Number.NaN;
    }
    const isUtc =
      at === end ||
      (end - at === 3 && bytes[at] === PLUS && bytes[at + 1] === ZERO && bytes[at + 2] === ZERO) ||
      (end - at === 1 && bytes[at] === CAPITAL_Z);
    if (!isUtc) return Number.NaN;
    const hour = twoDigits(bytes, start + 11);
    const minute = twoDigits(bytes, start + 14);
    const second = twoDigits(bytes, start + 17);
    if (!(hour < 24 && minute < 60 && second < 60)) return Number.NaN;
    const micros = this.#dayMicros(bytes, start) + (hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND + fraction;
    return Number.isSafeInteger(micros) ? micros : Number.NaN;
  }

  #dayMicros(bytes: Buffer, start: number): number {
    const date = this.#date;
    let index = 0;
    while (index < DATE_LENGTH && date[index] === bytes[start + index]) index++;
    if (index === DATE_LENGTH) return this.#day;
    date.set(bytes.subarray(start, start + DATE_LENGTH));
    const isDate = date[4] === DASH && date[7] === DASH;
    const year = 100 * twoDigits(bytes, start) + twoDigits(bytes, start + 2);
    this.#day = isDate
      ? dayOf(year, twoDigits(bytes, start + 5), twoDigits(bytes, start + 8)) * MICROS_PER_DAY
      : Number.NaN;
    return this.#day;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Returns NaN if the characters are not digits. */
function twoDigits(bytes: Buffer, at: number): number {
  const [high, low] = [bytes[at]!, bytes[at + 1]!];
  return isDigit(high) && isDigit(low) ? 10 * (high - ZERO) + low - ZERO : Number.NaN;
}
