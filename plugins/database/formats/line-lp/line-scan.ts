import { NOT_UTF8, shown } from '../message-text.ts';
import { parseLineValue, type LineType, type LineValue } from './line-value.ts';

const TAB = 9;
const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const HASH = 35;
const APOSTROPHE = 39;
const COMMA = 44;
const EQUALS = 61;
const CAPITAL_L = 76;
const BACKSLASH = 92;
const DELETE = 127;

/** Bits of `CLASSES`: the character ends a measurement, or ends a key or tag value. */
const MEASUREMENT_END = 1;
const KEY_END = 2;
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  if (isControl(code) || code === SPACE || code === COMMA) return MEASUREMENT_END | KEY_END;
  return code === EQUALS ? KEY_END : 0;
});

/**
 * PostgreSQL's limit for the columns of a table. A line with more tags or fields cannot become a row and is not read to
 * its end.
 */
export const MAX_COLUMNS = 1_600;

/** The problem of a binary value, which starts with a second `=` and a type code. */
const BINARY_VALUE =
  "a binary value, as QuestDB's clients write them with protocol_version=2 or 3: leave protocol_version at auto, or set it to 1";

/** Characters that a backslash escapes in a measurement, in keys and tag values, and in strings. */
const MEASUREMENT_ESCAPES = ', ';
const KEY_ESCAPES = ',= ';
const STRING_ESCAPES = '"\\';
const DOCUMENTED_STRING_ESCAPES = ' =,"\\';
/** Escapes of the dialect's strings, `'…'` and `L"…"`. */
const DIALECT_STRING_ESCAPES = ' =,"\'\\';

/** Escapes in `"…"`. standard: `\"` and `\\`; documented: also ` `, `=` and `,`. */
export type StringEscapes = 'standard' | 'documented';

/** A parsed line. Tags and fields are in the order of the line; the lists of keys and values have the same length. */
export interface ScannedLine {
  measurement: string;
  tagKeys: string[];
  tagValues: string[];
  fieldKeys: string[];
  fieldValues: LineValue[];
  /** Digits of the timestamp, if there is one. */
  time: string | undefined;
  /** Offset of the first character, and number of preceding lines. */
  start: number;
  linesBefore: number;
  /** Offset after measurement and tags. */
  seriesEnd: number;
  /** Start of each field in the text. Its key, as written and including `=`, ends at `fieldValueStarts`. */
  fieldStarts: number[];
  fieldValueStarts: number[];
}

/**
 * Parses line protocol: the grammar of InfluxDB's own library, the documented dialect (suffixes i16, i32, i64, f32,
 * f64; single-quoted strings; `L"…"`), and the suffix `t` of QuestDB's clients. `KnownLineReader` (line-known.ts) reads
 * lines of a known shape, and this class all others. The scanner is between lines after `open` and after `next`
 * returned a line or fault, and at the end once `next` returned `end`.
 */
export class LineScanner {
  text = '';
  position = 0;
  /** Number of lines before `position`. */
  linesBefore = 0;
  /** The problem of the last line, after `next` returned `fault`. */
  problem = '';
  readonly line: ScannedLine = {
    measurement: '',
    tagKeys: [],
    tagValues: [],
    fieldKeys: [],
    fieldValues: [],
    time: undefined,
    start: 0,
    linesBefore: 0,
    seriesEnd: 0,
    fieldStarts: [],
    fieldValueStarts: [],
  };
  readonly #plainStringEscapes: string;
  #valid = true;
  #stringsClosed = true;

  constructor(stringEscapes: StringEscapes = 'standard') {
    this.#plainStringEscapes = stringEscapes === 'standard' ? STRING_ESCAPES : DOCUMENTED_STRING_ESCAPES;
  }

  /** If `valid` is false (see `messageText`), each token is checked for invalid bytes. */
  open(text: string, valid: boolean): void {
    this.text = text;
    this.position = 0;
    this.linesBefore = 0;
    this.#valid = valid;
  }

  /** True if all strings of the last line were closed before the end of the text. */
  get stringsClosed(): boolean {
    return this.#stringsClosed;
  }

  /** Parses one line into `line`, skipping blank lines and comments. After a fault, moves past the line. */
  next(): 'line' | 'fault' | 'end' {
    this.#stringsClosed = true;
    const blank = this.#skipBlank();
    const start = this.position;
    this.line.start = start;
    this.line.linesBefore = this.linesBefore;
    if (!blank) return this.#recover(start);
    if (start >= this.text.length) return 'end';
    return this.#measurement() && this.#tags() && this.#fields() && this.#time() ? 'line' : this.#recover(start);
  }

  /** Parses measurement and tags without moving. Returns false if the next line does not start with valid ones. */
  peekSeries(): boolean {
    const { position } = this;
    this.line.start = position;
    const read = this.#measurement() && this.#tags();
    this.position = position;
    return read;
  }

  /** Skips spaces, empty lines and comments; returns false for an invalid comment. */
  #skipBlank(): boolean {
    for (;;) {
      while (this.text.charCodeAt(this.position) === SPACE) this.position++;
      const code = this.text.charCodeAt(this.position);
      if (code === HASH) {
        while (!isControl(this.text.charCodeAt(this.position)) && this.position < this.text.length) this.position++;
        if (!this.#endOfLine()) return this.#fail('a comment must not contain control characters');
      } else if (code === NEWLINE || code === RETURN) {
        if (!this.#endOfLine()) return this.#fail('a carriage return must be followed by a newline');
      } else {
        return true;
      }
    }
  }

  /** Moves past the end of the line (newline, with or without carriage return, or end of text), if any. */
  #endOfLine(): boolean {
    const { text, position } = this;
    if (position >= text.length) return true;
    const code = text.charCodeAt(position);
    if (code === RETURN && position + 1 === text.length) {
      this.position++;
      return true;
    }
    const width = code === NEWLINE ? 1 : code === RETURN && text.charCodeAt(position + 1) === NEWLINE ? 2 : 0;
    if (width === 0) return false;
    this.position += width;
    this.linesBefore++;
    return true;
  }

  /**
   * Skips an invalid line. A string may span lines, so the next line is the one after the position of the fault. If a
   * string is not closed, only the first line is skipped, because the string would take all following lines.
   */
  #recover(start: number): 'fault' {
    if (!this.#stringsClosed) this.position = start;
    const spanned = this.#newlines(start, this.position);
    if (spanned > 0) this.problem += ` (including its string, the line spans ${String(spanned + 1)} lines)`;
    const newline = this.text.indexOf('\n', this.position);
    this.position = newline < 0 ? this.text.length : newline + 1;
    this.linesBefore = this.line.linesBefore + spanned + (newline < 0 ? 0 : 1);
    return 'fault';
  }

  #newlines(start: number, end: number): number {
    let count = 0;
    for (let at = start; at < end; at++) {
      if (this.text.charCodeAt(at) === NEWLINE) count++;
    }
    return count;
  }

  #fail(problem: string): false {
    this.problem = problem;
    return false;
  }

  #measurement(): boolean {
    const name = this.#token(MEASUREMENT_END, MEASUREMENT_ESCAPES);
    if (name === undefined) return false;
    if (name === '') return this.#fail(`a line must start with the name of a table, not ${this.#here()}`);
    this.line.measurement = name;
    return true;
  }

  #tags(): boolean {
    const { line, text } = this;
    line.tagKeys = [];
    line.tagValues = [];
    while (text.charCodeAt(this.position) === COMMA) {
      this.position++;
      const key = this.#token(KEY_END, KEY_ESCAPES);
      if (key === undefined) return false;
      if (key === '') return this.#fail(`expected the name of a tag, found ${this.#here()}`);
      if (text.charCodeAt(this.position) !== EQUALS) {
        return this.#fail(`expected = after the tag ${shown(key)}, found ${this.#here()}`);
      }
      this.position++;
      const value = this.#token(KEY_END, KEY_ESCAPES);
      if (value === undefined) return false;
      if (value === '') return this.#fail(`the tag ${shown(key)} has no value (found ${this.#here()})`);
      if (line.tagKeys.length === MAX_COLUMNS) return this.#fail(`a line has at most ${String(MAX_COLUMNS)} tags`);
      line.tagKeys.push(key);
      line.tagValues.push(value);
    }
    if (text.charCodeAt(this.position) !== SPACE) {
      return this.#fail(`expected a comma and a tag, or a space and a field, found ${this.#here()}`);
    }
    line.seriesEnd = this.position;
    this.#skipSpaces();
    return true;
  }

  #fields(): boolean {
    const { line, text } = this;
    line.fieldKeys = [];
    line.fieldValues = [];
    line.fieldStarts = [];
    line.fieldValueStarts = [];
    for (;;) {
      line.fieldStarts.push(this.position);
      const key = this.#token(KEY_END, KEY_ESCAPES);
      if (key === undefined) return false;
      if (key === '') return this.#fail(`expected the name of a field, found ${this.#here()}`);
      if (text.charCodeAt(this.position) !== EQUALS) {
        return this.#fail(`expected = after the field ${shown(key)}, found ${this.#here()}`);
      }
      this.position++;
      line.fieldValueStarts.push(this.position);
      const value = this.value();
      if (value === undefined) return this.#fail(`field ${shown(key)}: ${this.problem}`);
      if (line.fieldKeys.length === MAX_COLUMNS) return this.#fail(`a line has at most ${String(MAX_COLUMNS)} fields`);
      line.fieldKeys.push(key);
      line.fieldValues.push(value);
      if (text.charCodeAt(this.position) !== COMMA) return true;
      this.position++;
    }
  }

  #time(): boolean {
    const { line, text } = this;
    line.time = undefined;
    const before = this.position;
    this.#skipSpaces();
    if (this.#endOfLine()) return true;
    if (this.position === before)
      return this.#fail(`expected a comma, a space or the line's end, found ${this.#here()}`);
    const start = this.position;
    while (!isTokenEnd(text.charCodeAt(this.position)) && this.position < text.length) this.position++;
    const time = text.slice(start, this.position);
    if (!/^-?[0-9]+$/.test(time)) return this.#fail(`the timestamp ${shown(time)} is not an integer`);
    line.time = time;
    this.#skipSpaces();
    return this.#endOfLine() || this.#fail(`nothing may follow the timestamp, found ${this.#here()}`);
  }

  /** Parses a field value and moves past it; returns `undefined` and sets `problem` if there is none. */
  value(): LineValue | undefined {
    const { text, position } = this;
    const code = text.charCodeAt(position);
    if (code === QUOTE) return this.#string(position + 1, QUOTE, this.#plainStringEscapes, 'VARCHAR');
    if (code === APOSTROPHE) return this.#string(position + 1, APOSTROPHE, DIALECT_STRING_ESCAPES, 'VARCHAR');
    if (code === CAPITAL_L && text.charCodeAt(position + 1) === QUOTE) {
      return this.#string(position + 2, QUOTE, DIALECT_STRING_ESCAPES, 'NVARCHAR');
    }
    const next = text.charCodeAt(position + 1);
    if (code === EQUALS && isControl(next) && !isTokenEnd(next)) {
      this.problem = BINARY_VALUE;
      return undefined;
    }
    let end = position;
    while (end < text.length && text.charCodeAt(end) !== COMMA && !isTokenEnd(text.charCodeAt(end))) end++;
    const token = text.slice(position, end);
    this.position = end;
    const value = token === '' ? `expected a value, found ${this.#here()}` : parseLineValue(token);
    if (typeof value !== 'string') return value;
    this.problem = token.startsWith('\\') ? `${value}: a string starts with a quote without a backslash` : value;
    return undefined;
  }

  #string(start: number, quote: number, escapes: string, type: LineType): LineValue | undefined {
    const { text } = this;
    let parts = '';
    let from = start;
    let newlines = 0;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.position = at + 1;
        this.linesBefore += newlines;
        return this.#checked({ type, cell: parts + text.slice(from, at) });
      }
      if (code === NEWLINE) newlines++;
      if (code === BACKSLASH && at + 1 < text.length && escapes.includes(text.charAt(at + 1))) {
        parts += text.slice(from, at);
        from = at + 1;
        at++;
      }
    }
    this.#stringsClosed = false;
    this.problem = `a string has no closing ${String.fromCharCode(quote)}`;
    return undefined;
  }

  #checked(value: LineValue): LineValue | undefined {
    if (this.#valid || !String(value.cell).includes(NOT_UTF8)) return value;
    this.problem = 'the text is not UTF-8';
    return undefined;
  }

  /**
   * Reads up to a character of the class `end` and removes escapes. Returns an empty string if there is no text, and
   * `undefined` if the text is not UTF-8.
   */
  #token(end: number, escapes: string): string | undefined {
    const { text } = this;
    let parts = '';
    let from = this.position;
    let at = from;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) {
        if (at + 1 < text.length && escapes.includes(text.charAt(at + 1))) {
          parts += text.slice(from, at);
          from = at + 1;
          at++;
        }
      } else if (code < 128 && ((CLASSES[code] ?? 0) & end) !== 0) {
        break;
      }
    }
    this.position = at;
    const token = parts + text.slice(from, at);
    if (this.#valid || !token.includes(NOT_UTF8)) return token;
    this.problem = 'the text is not UTF-8';
    return undefined;
  }

  #skipSpaces(): void {
    while (this.text.charCodeAt(this.position) === SPACE) this.position++;
  }

  #here(): string {
    const code = this.text.codePointAt(this.position);
    if (code === undefined || code === NEWLINE || code === RETURN) return "the line's end";
    if (code === TAB) return 'a tab';
    return shown(String.fromCodePoint(code));
  }
}

function isControl(code: number): boolean {
  return code < SPACE || code === DELETE;
}

function isTokenEnd(code: number): boolean {
  return code === SPACE || code === NEWLINE || code === RETURN;
}
