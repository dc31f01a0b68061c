import { hashOf, RepeatedTexts } from '../data/repeated-texts.ts';

/** Maximum nesting of values, so that the limit does not depend on the call stack. */
const MAX_DEPTH = 500;

const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const CAPITAL_E = 69;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const SMALL_E = 101;
const SMALL_F = 102;
const SMALL_N = 110;
const SMALL_T = 116;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Reads JSON (strictly RFC 8259) from a text without creating objects and without rounding 64-bit integers, unlike JSON.parse.
 * If the text matches, a method advances `position` to the end of what it reads. Otherwise, it returns false or `undefined`,
 * and `position` is at the error or before it.
 */
export class JsonCursor {
  text = '';
  position = 0;
  /** True if the last number that was read has neither a fraction nor an exponent. */
  integer = false;
  readonly #repeated = new RepeatedTexts();

  open(text: string, position = 0): void {
    this.text = text;
    this.position = position;
  }

  skipSpace(): void {
    let code = this.text.charCodeAt(this.position);
    while (code === SPACE || code === 10 || code === 13 || code === 9) code = this.text.charCodeAt(++this.position);
  }

  /** Consumes this character, including spaces before and after it. */
  take(code: number): boolean {
    const { text } = this;
    if (text.charCodeAt(this.position) <= SPACE) this.skipSpace();
    if (text.charCodeAt(this.position) !== code) return false;
    if (text.charCodeAt(++this.position) <= SPACE) this.skipSpace();
    return true;
  }

  takeComma(): boolean {
    return this.take(COMMA);
  }

  takeColon(): boolean {
    return this.take(COLON);
  }

  openObject(): boolean {
    return this.take(OPEN_OBJECT);
  }

  closeObject(): boolean {
    return this.take(CLOSE_OBJECT);
  }

  openArray(): boolean {
    return this.take(OPEN_ARRAY);
  }

  closeArray(): boolean {
    return this.take(CLOSE_ARRAY);
  }

  /** Returns true if the end of an array is next, without consuming it. */
  atArrayEnd(): boolean {
    return this.text.charCodeAt(this.position) === CLOSE_ARRAY;
  }

  /** Consumes exactly this text. */
  takeText(expected: string): boolean {
    const { text, position } = this;
    for (let index = 0; index < expected.length; index++) {
      if (text.charCodeAt(position + index) !== expected.charCodeAt(index)) return false;
    }
    this.position = position + expected.length;
    return true;
  }

  atEnd(): boolean {
    this.skipSpace();
    return this.position >= this.text.length;
  }

  /** Returns the kind of the next value, by its first character; `undefined` if no value starts with it. */
  peek(): 'string' | 'number' | 'true' | 'false' | 'null' | 'object' | 'array' | undefined {
    const code = this.text.charCodeAt(this.position);
    if (code === QUOTE) return 'string';
    if (code === MINUS || (code >= ZERO && code <= NINE)) return 'number';
    switch (code) {
      case SMALL_T:
        return 'true';
      case SMALL_F:
        return 'false';
      case SMALL_N:
        return 'null';
      case OPEN_OBJECT:
        return 'object';
      case OPEN_ARRAY:
        return 'array';
      default:
        return undefined;
    }
  }

  /** Reads a string and returns its value. */
  string(): string | undefined {
    const { text } = this;
    const start = this.position;
    if (text.charCodeAt(start) !== QUOTE) return undefined;
    let escaped = false;
    let hash = 0;
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const value = escaped ? unescape(text.slice(start, at + 1)) : this.#repeated.of(text, start + 1, at, hash);
        if (value !== undefined) this.position = at + 1;
        return value;
      }
      if (code === BACKSLASH) {
        escaped = true;
        at++;
      } else if (code < SPACE) {
        this.position = at;
        return undefined;
      }
      hash = hashOf(hash, code);
    }
    this.position = text.length;
    return undefined;
  }

  /** Advances past a number. Its text is the range from the previous to the new position. */
  number(): boolean {
    const { text } = this;
    let at = this.position;
    if (text.charCodeAt(at) === MINUS) at++;
    const first = at;
    at = skipDigits(text, at);
    if (at === first || (text.charCodeAt(first) === ZERO && at > first + 1)) return false;
    this.integer = true;
    if (text.charCodeAt(at) === POINT) {
      const end = skipDigits(text, at + 1);
      if (end === at + 1) return false;
      at = end;
      this.integer = false;
    }
    const code = text.charCodeAt(at);
    if (code === SMALL_E || code === CAPITAL_E) {
      const sign = text.charCodeAt(at + 1);
      const exponent = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
      const end = skipDigits(text, exponent);
      if (end === exponent) return false;
      at = end;
      this.integer = false;
    }
    this.position = at;
    return true;
  }

  /** Advances past `true`, `false` or `null`. */
  word(word: 'true' | 'false' | 'null'): boolean {
    if (!this.text.startsWith(word, this.position)) return false;
    this.position += word.length;
    return true;
  }

  /** Advances past any value. */
  value(depth = 0): boolean {
    const kind = this.peek();
    switch (kind) {
      case 'string':
        return this.string() !== undefined;
      case 'number':
        return this.number();
      case 'true':
      case 'false':
      case 'null':
        return this.word(kind);
      case 'object':
        return depth < MAX_DEPTH && this.#object(depth + 1);
      case 'array':
        return depth < MAX_DEPTH && this.#array(depth + 1);
      case undefined:
        return false;
    }
  }

  #object(depth: number): boolean {
    if (!this.openObject()) return false;
    if (this.#closes(CLOSE_OBJECT)) return true;
    do {
      if (this.string() === undefined || !this.takeColon() || !this.value(depth)) return false;
    } while (this.takeComma());
    return this.#closes(CLOSE_OBJECT);
  }

  #array(depth: number): boolean {
    if (!this.openArray()) return false;
    if (this.#closes(CLOSE_ARRAY)) return true;
    do {
      if (!this.value(depth)) return false;
    } while (this.takeComma());
    return this.#closes(CLOSE_ARRAY);
  }

  /** Like `take`, but does not consume following spaces, so that the text of the value ends with its bracket. */
  #closes(code: number): boolean {
    const { text } = this;
    if (text.charCodeAt(this.position) <= SPACE) this.skipSpace();
    if (text.charCodeAt(this.position) !== code) return false;
    this.position++;
    return true;
  }
}

function skipDigits(text: string, start: number): number {
  let at = start;
  let code = text.charCodeAt(at);
  while (code >= ZERO && code <= NINE) code = text.charCodeAt(++at);
  return at;
}

function unescape(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
