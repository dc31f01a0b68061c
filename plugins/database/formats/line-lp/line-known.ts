import { standsAt } from '../../../../src/data/repeated-texts.ts';
import { EXACT_DIGITS, POWERS_OF_TEN } from '../../../../src/data/short-decimal.ts';
import type { RowBatchBuilder } from '../../../../src/data/row-batch-builder.ts';
import type { Precision } from '../format.ts';
import type { LineScanner } from './line-scan.ts';
import type { LineShape, Series, ShapeField } from './line-table.ts';
import { KIND_OF_LINE_TYPE } from './line-value.ts';
import { nanosBeyondMicros } from '../nanoseconds.ts';
import { unixMicros } from '../unix-time.ts';

const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const CAPITAL_E = 69;
const BACKSLASH = 92;
const SMALL_E = 101;
const SMALL_I = 105;

/**
 * The fast path of line protocol: a line whose measurement and tags were seen before, and whose fields match the shape
 * of an earlier line, is read directly into the columns of its batch. This takes at most one map lookup for the whole
 * tag set and allocates no object per row. `read` declines all other lines, which `LineScanner` parses.
 */
export class KnownLineReader {
  readonly #scanner: LineScanner;
  readonly #series: ReadonlyMap<string, Series>;
  readonly #precision: Precision;
  #text = '';
  /** End of the current message; the text may continue with other messages. */
  #end = 0;
  #at = 0;
  #nextSpace = -1;
  /** The series of the previous line. */
  #last: Series | undefined;

  constructor(scanner: LineScanner, series: ReadonlyMap<string, Series>, precision: Precision) {
    this.#scanner = scanner;
    this.#series = series;
    this.#precision = precision;
  }

  /** Called when the scanner was given a new text. */
  open(): void {
    this.#text = this.#scanner.text;
    this.#end = this.#text.length;
    this.#nextSpace = -1;
  }

  /** Called when the cached series are dropped. */
  forget(): void {
    this.#last = undefined;
  }

  /** Opens a message that ends at `end` of the scanner's text. */
  openTo(end: number): void {
    if (this.#text !== this.#scanner.text) this.#nextSpace = -1;
    this.#text = this.#scanner.text;
    this.#end = end;
  }

  /**
   * Reads the line at the scanner's position into an open row of the returned batch, and moves the scanner past it.
   * Returns `undefined`, without any effect, if it declines the line. `now` returns the time of lines without a
   * timestamp; if it is `undefined`, such lines are declined.
   */
  read(now: (() => number) | undefined): RowBatchBuilder | undefined {
    const start = this.#scanner.position;
    const series = this.#expectedSeries(start) ?? this.#knownSeries(start);
    const shape = series?.shape;
    const batch = shape?.batch;
    if (series === undefined || shape === undefined || batch === undefined || batch !== series.table.open?.rows) {
      return undefined;
    }
    if (shape.derivedTag !== undefined && series.primaryTag === undefined) return undefined;
    const { linesBefore } = this.#scanner;
    if (this.#fields(shape) && this.#time(shape, now)) {
      pushTags(shape, series, batch.rowCount);
      this.#scanner.position = this.#at;
      if (this.#last !== undefined) this.#last.next = series;
      this.#last = series;
      return batch;
    }
    batch.abandonRow();
    this.#scanner.position = start;
    this.#scanner.linesBefore = linesBefore;
    return undefined;
  }

  /**
   * Returns the series that followed the previous line's series last time, if this line belongs to that series. This
   * avoids a map lookup.
   */
  #expectedSeries(start: number): Series | undefined {
    const series = this.#last?.next;
    if (series === undefined) return undefined;
    const { text } = series;
    const end = start + text.length;
    if (end >= this.#end || this.#text.charCodeAt(end) !== SPACE || !standsAt(this.#text, text, start))
      return undefined;
    this.#at = end + 1;
    return series;
  }

  #knownSeries(start: number): Series | undefined {
    // The position is kept between lines: searching again for each line of a text without spaces would take quadratic
    // time.
    if (this.#nextSpace < start) this.#nextSpace = this.#text.indexOf(' ', start);
    const end = this.#nextSpace;
    if (end < 0) {
      this.#nextSpace = this.#text.length;
      return undefined;
    }
    if (end >= this.#end || this.#text.charCodeAt(end - 1) === BACKSLASH) return undefined;
    this.#at = end + 1;
    return this.#series.get(this.#text.slice(start, end));
  }

  #fields(shape: LineShape): boolean {
    const { fields } = shape;
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index];
      if (field === undefined || !this.#skip(field.text) || !this.#value(field)) return false;
      if (index + 1 < fields.length) {
        if (this.#text.charCodeAt(this.#at) !== COMMA) return false;
        this.#at++;
      }
    }
    return true;
  }

  /** Skips `expected` if it is next. */
  #skip(expected: string): boolean {
    const text = this.#text;
    const at = this.#at;
    for (let index = 0; index < expected.length; index++) {
      if (text.charCodeAt(at + index) !== expected.charCodeAt(index)) return false;
    }
    this.#at = at + expected.length;
    return true;
  }

  #value(field: ShapeField): boolean {
    const { column, type } = field;
    if (column === undefined) return false;
    const start = this.#at;
    if (type === 'FLOAT8' && column.kind === 'float') {
      const value = this.#float();
      if (this.#endsValue()) return push(column.cells, value);
    } else if (type === 'INT8' && column.kind === 'int') {
      const value = this.#integer();
      if (this.#endsValue()) return push(column.cells, value);
    }
    this.#scanner.position = start;
    const value = this.#scanner.value();
    if (value === undefined || value.type !== type || column.kind !== KIND_OF_LINE_TYPE[type]) return false;
    this.#at = this.#scanner.position;
    column.cells.push(value.cell);
    return true;
  }

  /**
   * Reads a number without suffix and exponent. Returns NaN for other text, for integers of more than 15 digits, and
   * for numbers beyond the range of a double.
   */
  #float(): number {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    let code = text.charCodeAt(at);
    const negative = code === MINUS;
    if (negative) code = text.charCodeAt(++at);
    const first = at;
    let value = 0;
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + (code - ZERO);
      code = text.charCodeAt(++at);
    }
    let digits = at - first;
    let fraction = 0;
    if (code === POINT) {
      const point = at;
      code = text.charCodeAt(++at);
      while (code >= ZERO && code <= NINE) {
        value = value * 10 + (code - ZERO);
        code = text.charCodeAt(++at);
      }
      fraction = at - point - 1;
      digits += fraction;
    } else if (digits > EXACT_DIGITS) {
      return Number.NaN;
    }
    if (digits === 0) return Number.NaN;
    if (code === SMALL_E || code === CAPITAL_E) return Number.NaN;
    this.#at = at;
    if (digits > EXACT_DIGITS) {
      const wide = Number(text.slice(start, at));
      return Number.isFinite(wide) ? wide : Number.NaN;
    }
    if (fraction > 0) value /= POWERS_OF_TEN[fraction] ?? Number.NaN;
    return negative ? -value : value;
  }

  /** Reads an integer of at most 15 digits with the suffix `i`; returns NaN for other text. */
  #integer(): number {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    const negative = code === MINUS;
    if (negative) code = text.charCodeAt(++at);
    const first = at;
    let value = 0;
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + (code - ZERO);
      code = text.charCodeAt(++at);
    }
    const digits = at - first;
    if (digits === 0 || digits > EXACT_DIGITS || code !== SMALL_I) return Number.NaN;
    this.#at = at + 1;
    return negative ? 0 - value : value;
  }

  #endsValue(): boolean {
    if (this.#at === this.#end) return true;
    const code = this.#text.charCodeAt(this.#at);
    return code === COMMA || code === SPACE || code === NEWLINE || code === RETURN;
  }

  /** Reads the timestamp and the end of the line. */
  #time(shape: LineShape, now: (() => number) | undefined): boolean {
    if (shape.time === undefined) return false;
    const text = this.#text;
    let at = this.#at;
    if (text.charCodeAt(at) !== SPACE || at === this.#end) {
      if (now === undefined) return false;
      shape.time.cells.push(now());
      shape.nanos?.cells.push(0);
      return this.#lineEnd(at);
    }
    const start = ++at;
    let code = text.charCodeAt(at);
    while ((code >= ZERO && code <= NINE) || code === MINUS) code = text.charCodeAt(++at);
    const micros = unixMicros(text, start, at, this.#precision);
    if (micros === undefined) return false;
    shape.time.cells.push(micros);
    shape.nanos?.cells.push(nanosBeyondMicros(text, start, at, this.#precision));
    return this.#lineEnd(at);
  }

  #lineEnd(at: number): boolean {
    if (at === this.#end) {
      this.#at = at;
      return true;
    }
    const code = this.#text.charCodeAt(at);
    const width = code === NEWLINE ? 1 : code === RETURN && this.#text.charCodeAt(at + 1) === NEWLINE ? 2 : 0;
    if (width === 0) return false;
    this.#scanner.linesBefore++;
    this.#at = at + width;
    return true;
  }
}

/** Returns false, without pushing, if `value` is NaN. */
function push(cells: unknown[], value: number): boolean {
  if (value !== value) return false;
  cells.push(value);
  return true;
}

function pushTags(shape: LineShape, series: Series, row: number): void {
  const { tags } = shape;
  for (let index = 0; index < tags.length; index++) {
    tags[index]?.cells.push(series.tagValues[index] ?? null);
  }
  shape.givenRows?.push(row);
  if (shape.derivedTag !== undefined) shape.derivedTag.cells.push(series.primaryTag ?? null);
}
