import type { Cell } from '../../../../src/data/row-batch.ts';
import { EXACT_DIGITS, shortDecimal } from '../../../../src/data/short-decimal.ts';
import { shown } from '../message-text.ts';
import type { Precision } from '../format.ts';
import type { JsonDbColumn } from './json-db-columns.ts';
import type { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { readTimestamp } from '../timestamp-read.ts';
import { narrow, unixMicros } from '../unix-time.ts';

/**
 * How times may be written; the specification has integers for time-series databases and strings for relational ones.
 */
export type TimestampsAs = 'integer' | 'string' | 'either';

const INT_BOUNDS = { int2: 2n ** 15n, int4: 2n ** 31n, int8: 2n ** 63n } as const;
const INTEGER = /^[+-]?[0-9]+$/;
/** PostgreSQL's boolean literals. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 't', 'yes', 'y', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'f', 'no', 'n', 'off', '0'].map((word) => [word, false] as const),
]);
const DECIMAL = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const HEX = /^\\x(?:[0-9a-fA-F]{2})*$/;

/** Reads a JSON value as a cell of its column. */
export class JsonCellReader {
  /** The problem, after `read` returned `undefined`; empty if the text is not JSON. */
  problem = '';
  readonly #cursor: JsonCursor;
  readonly #precision: Precision;
  readonly #timestampsAs: TimestampsAs;

  constructor(cursor: JsonCursor, precision: Precision, timestampsAs: TimestampsAs) {
    this.#cursor = cursor;
    this.#precision = precision;
    this.#timestampsAs = timestampsAs;
  }

  /**
   * Reads the value at the cursor. Returns its cell and moves past the value. If the value does not fit the column,
   * returns `undefined` and stays at the start of the value. If the text is not JSON, also returns `undefined`; the
   * cursor is then at the error or before it.
   */
  read(column: JsonDbColumn): Cell | undefined {
    const cursor = this.#cursor;
    const start = cursor.position;
    this.problem = '';
    const kind = cursor.peek();
    if (kind === 'null') return cursor.word('null') ? null : undefined;
    let cell: Cell | undefined;
    if (kind === 'string') {
      const text = cursor.string();
      if (text === undefined) return undefined;
      cell = column.family === 'json' ? cursor.text.slice(start, cursor.position) : this.#ofString(column, text);
    } else if (kind === 'number') {
      if (!cursor.number()) return undefined;
      cell = this.#ofNumber(column, start, cursor.position);
    } else {
      if (!cursor.value()) return undefined;
      if (column.family === 'json') cell = cursor.text.slice(start, cursor.position);
      else if (kind === 'true' || kind === 'false') cell = this.#ofBoolean(column, kind === 'true');
    }
    if (cell !== undefined) return cell;
    if (this.problem === '') this.problem = `${article(kind)} is not a value of type ${column.type}`;
    cursor.position = start;
    return undefined;
  }

  #ofNumber(column: JsonDbColumn, start: number, end: number): Cell | undefined {
    const { text } = this.#cursor;
    switch (column.family) {
      case 'time':
        return this.#time(start, end);
      case 'int2':
      case 'int4':
      case 'int8':
        return this.#integer(column.family, start, end);
      case 'float':
        return this.#float(start, end);
      case 'numeric':
      case 'other':
      case 'json':
        return text.slice(start, end);
      case 'bool':
      case 'text':
      case 'bytes':
        this.problem = `the number ${shown(text.slice(start, end))} is not a value of type ${column.type}`;
        return undefined;
    }
  }

  #time(start: number, end: number): Cell | undefined {
    const { text, integer } = this.#cursor;
    if (this.#timestampsAs === 'string') {
      this.problem = `a timestamp must be a string here, not the number ${shown(text.slice(start, end))}`;
      return undefined;
    }
    const micros = integer ? unixMicros(text, start, end, this.#precision) : undefined;
    if (micros === undefined) {
      this.problem = `${shown(text.slice(start, end))} is not a timestamp, which must be an integer in ${this.#precision}`;
    }
    return micros;
  }

  #integer(family: keyof typeof INT_BOUNDS, start: number, end: number): Cell | undefined {
    const { text, integer } = this.#cursor;
    const small = integer && end - start <= EXACT_DIGITS ? smallInteger(text, start, end) : undefined;
    if (small !== undefined && (family === 'int8' || Math.abs(small) < 32_768)) return small;
    const written = text.slice(start, end);
    return this.#wholeIn(family, small === undefined ? wholeNumber(written, integer) : BigInt(small), written);
  }

  #wholeIn(family: keyof typeof INT_BOUNDS, value: bigint | undefined, written: string): Cell | undefined {
    const bound = INT_BOUNDS[family];
    if (value === undefined) this.problem = `${shown(written)} is not a whole number`;
    else if (value >= bound || value < -bound) this.problem = `${shown(written)} is out of range`;
    else return narrow(value);
    return undefined;
  }

  #integerText(family: keyof typeof INT_BOUNDS, text: string): Cell | undefined {
    return INTEGER.test(text) ? this.#wholeIn(family, wholeNumber(text, true), text) : undefined;
  }

  #floatText(text: string): Cell | undefined {
    if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return Number(text);
    if (!DECIMAL.test(text)) return undefined;
    const value = Number(text);
    if (Number.isFinite(value)) return value;
    this.problem = `${shown(text)} is out of range`;
    return undefined;
  }

  #float(start: number, end: number): Cell | undefined {
    const { text } = this.#cursor;
    const value = shortDecimal(text, start, end) ?? Number(text.slice(start, end));
    if (Number.isFinite(value)) return value;
    this.problem = `${shown(text.slice(start, end))} is out of range`;
    return undefined;
  }

  #ofString(column: JsonDbColumn, text: string): Cell | undefined {
    switch (column.family) {
      case 'text':
      case 'other':
        return text;
      case 'time':
        return this.#timeText(text);
      case 'int2':
      case 'int4':
      case 'int8':
        return this.#integerText(column.family, text.trim());
      case 'bool':
        return BOOLEANS.get(text.toLowerCase());
      case 'float':
        return this.#floatText(text);
      case 'numeric':
        return DECIMAL.test(text) || text === 'NaN' || text === 'Infinity' || text === '-Infinity' ? text : undefined;
      case 'bytes':
        return this.#bytes(text);
      default:
        return undefined;
    }
  }

  #timeText(text: string): Cell | undefined {
    if (this.#timestampsAs === 'integer') {
      this.problem = `a timestamp must be an integer in ${this.#precision} here, not the string ${shown(text)}`;
      return undefined;
    }
    const time = readTimestamp(text);
    if (time === undefined) this.problem = `${shown(text)} is not a timestamp (YYYY-MM-DD hh:mm:ss.ffffff+zz)`;
    return time;
  }

  /** Parses `\x` and hexadecimal digits, as printed by PostgreSQL; any other text represents its UTF-8 bytes. */
  #bytes(text: string): Cell | undefined {
    if (!text.startsWith('\\x')) return Buffer.from(text, 'utf8');
    if (HEX.test(text)) return Buffer.from(text.slice(2), 'hex');
    this.problem = `${shown(text)} is not hexadecimal`;
    return undefined;
  }

  #ofBoolean(column: JsonDbColumn, value: boolean): Cell | undefined {
    if (column.family === 'bool') return value;
    return column.family === 'other' ? String(value) : undefined;
  }
}

/** Parses an integer of at most 15 characters. */
function smallInteger(text: string, start: number, end: number): number {
  const negative = text.charCodeAt(start) === 45;
  let value = 0;
  for (let at = negative ? start + 1 : start; at < end; at++) value = value * 10 + (text.charCodeAt(at) - 48);
  return negative ? 0 - value : value;
}

/** Parses a whole number, which may also be written as `5.0` or `1e3`. */
function wholeNumber(digits: string, integer: boolean): bigint | undefined {
  if (integer) return digits.length <= 40 ? BigInt(digits) : 2n ** 64n;
  const value = Number(digits);
  return Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function article(kind: string | undefined): string {
  return kind === 'object' || kind === 'array' ? `an ${kind}` : `a ${kind === 'string' ? 'string' : 'boolean'}`;
}
