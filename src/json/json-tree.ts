import { SluiceError } from '../errors.ts';

/** A number as text, without redundant leading zeros. A double would round 64-bit integers and decimals. */
export class JsonNumber {
  readonly text: string;
  readonly integral: boolean;

  constructor(text: string, integral: boolean) {
    this.text = text;
    this.integral = integral;
  }
}

/** Represents an empty message where a value is expected (Jackson's MissingNode). */
export class JsonMissing {
  readonly kind = 'missing';
}

/** Parsed JSON. Numbers have the type `N`. Objects are maps; the last one of equal keys wins. */
export type JsonTree<N = JsonNumber> =
  null | boolean | string | N | JsonMissing | JsonTree<N>[] | Map<string, JsonTree<N>>;

/**
 * Converts a number. `text` has no redundant leading zeros; `integral` is true if it has neither a fraction nor an exponent.
 */
export type NumberReader<N> = (text: string, integral: boolean) => N;

/** The nesting limit of Java's reader. */
const MAX_DEPTH = 1000;
const MAX_NUMBER_LENGTH = 1000;
/** A Java decimal's scale has 32 bits. */
const MAX_EXPONENT = 2147483647;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Thrown if a text is not valid JSON. In Java, the errors of the parser are wrapped in a SerializationException. */
export class JsonTextError extends SluiceError {
  constructor(message: string) {
    super(message, { scope: 'record', javaName: 'org.apache.kafka.common.errors.SerializationException' });
  }
}

/**
 * Reads JSON values from a text as Connect's Java reader does: numbers may have leading zeros, and text after a complete
 * value is ignored.
 */
export class JsonScanner<N> {
  readonly #text: string;
  readonly #number: NumberReader<N>;
  #at: number;
  #depth = 0;

  constructor(text: string, number: NumberReader<N>, at = 0) {
    this.#text = text;
    this.#number = number;
    this.#at = at;
  }

  /** Index of the next character to read. */
  get position(): number {
    return this.#at;
  }

  /** Reads the first value; returns `undefined` if the text is blank. A number must be followed by a blank or the end. */
  readFirst(): JsonTree<N> | undefined {
    this.#skipBlanks();
    if (this.#at >= this.#text.length) return undefined;
    const start = this.#at;
    const value = this.#value();
    const scalar = this.#text.charCodeAt(start);
    const isNumber = scalar === 0x2d || (scalar >= 0x30 && scalar <= 0x39);
    if (isNumber && this.#at < this.#text.length && !isBlank(this.#text.charCodeAt(this.#at))) {
      this.#fail('expected a blank between values');
    }
    return value;
  }

  /** Reads one value, which may be followed by any text. */
  readValue(): JsonTree<N> {
    this.#skipBlanks();
    return this.#value();
  }

  /** Returns true if anything but blanks is left. */
  hasMore(): boolean {
    this.#skipBlanks();
    return this.#at < this.#text.length;
  }

  #value(): JsonTree<N> {
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case 0x7b:
        return this.#object();
      case 0x5b:
        return this.#array();
      case QUOTE:
        return this.#string();
      case 0x74:
        return this.#word('true', true);
      case 0x66:
        return this.#word('false', false);
      case 0x6e:
        return this.#word('null', null);
    }
    if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.#readNumber();
    return this.#fail('expected a value');
  }

  #object(): Map<string, JsonTree<N>> {
    this.#descend();
    const members = new Map<string, JsonTree<N>>();
    if (!this.#closes(0x7d)) {
      do {
        this.#skipBlanks();
        if (this.#text.charCodeAt(this.#at) !== QUOTE) this.#fail('expected a field name in double quotes');
        const name = this.#string();
        this.#skipBlanks();
        if (this.#text.charCodeAt(this.#at) !== 0x3a) this.#fail('expected a colon after the field name');
        this.#at++;
        this.#skipBlanks();
        members.set(name, this.#value());
      } while (this.#continues(0x7d));
    }
    this.#depth--;
    return members;
  }

  #array(): JsonTree<N>[] {
    this.#descend();
    const entries: JsonTree<N>[] = [];
    if (!this.#closes(0x5d)) {
      do {
        this.#skipBlanks();
        entries.push(this.#value());
      } while (this.#continues(0x5d));
    }
    this.#depth--;
    return entries;
  }

  #descend(): void {
    this.#at++;
    if (++this.#depth > MAX_DEPTH) this.#fail(`more than ${String(MAX_DEPTH)} levels of nesting`);
  }

  #closes(bracket: number): boolean {
    this.#skipBlanks();
    if (this.#text.charCodeAt(this.#at) !== bracket) return false;
    this.#at++;
    return true;
  }

  /** Reads a comma or the closing bracket; returns true for the comma. */
  #continues(bracket: number): boolean {
    this.#skipBlanks();
    const code = this.#text.charCodeAt(this.#at);
    if (code === 0x2c || code === bracket) {
      this.#at++;
      return code === 0x2c;
    }
    return this.#fail(
      bracket === 0x7d ? 'expected a comma or the end of the object' : 'expected a comma or the end of the array',
    );
  }

  #string(): string {
    const text = this.#text;
    const start = ++this.#at;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return text.slice(start, at);
      }
      if (code === BACKSLASH) return this.#escapedString(start, at);
      if (code < 0x20) {
        this.#at = at;
        this.#fail(`a control character (code ${String(code)}) must be escaped in a string`);
      }
    }
    this.#at = text.length;
    return this.#fail('the string does not end');
  }

  #escapedString(start: number, firstEscape: number): string {
    const text = this.#text;
    let result = text.slice(start, firstEscape);
    let at = firstEscape;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return result;
      }
      if (code === BACKSLASH) {
        this.#at = at;
        result += this.#escape();
        at = this.#at;
      } else if (code >= 0x20) {
        const from = at;
        while (at < text.length && isPlain(text.charCodeAt(at))) at++;
        result += text.slice(from, at);
      } else {
        this.#at = at;
        this.#fail(
          at >= text.length
            ? 'the string does not end'
            : `a control character (code ${String(code)}) must be escaped in a string`,
        );
      }
    }
  }

  #escape(): string {
    const mark = this.#text.charAt(this.#at + 1);
    const simple = ESCAPES[mark];
    if (simple !== undefined) {
      this.#at += 2;
      return simple;
    }
    const hex = this.#text.slice(this.#at + 2, this.#at + 6);
    if (mark !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) this.#fail('invalid escape in a string');
    this.#at += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  #word<T>(word: string, value: T): T {
    const end = this.#at + word.length;
    if (!this.#text.startsWith(word, this.#at) || /^[\w$]/.test(this.#text.charAt(end))) {
      this.#fail('unknown word');
    }
    this.#at = end;
    return value;
  }

  #readNumber(): N {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    if (text.charCodeAt(at) === 0x2d) at++;
    const whole = at;
    at = skipDigits(text, at);
    if (at === whole) this.#failAt(at, 'expected a digit');
    const wholeEnd = at;
    if (text.charCodeAt(at) === 0x2e) {
      const fraction = at + 1;
      at = skipDigits(text, fraction);
      if (at === fraction) this.#failAt(at, 'expected a digit after the decimal point');
    }
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      const sign = text.charCodeAt(at + 1);
      const digits = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
      at = skipDigits(text, digits);
      if (at === digits) this.#failAt(at, 'expected a digit in the exponent');
      if (Number(text.slice(digits, at)) > MAX_EXPONENT) this.#fail('the exponent is too large');
    }
    if (at - start > MAX_NUMBER_LENGTH) this.#fail(`a number of more than ${String(MAX_NUMBER_LENGTH)} characters`);
    this.#at = at;
    return this.#number(withoutLeadingZeros(text, start, whole, wholeEnd, at), at === wholeEnd);
  }

  #skipBlanks(): void {
    while (this.#at < this.#text.length && isBlank(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  #failAt(at: number, what: string): never {
    this.#at = at;
    this.#fail(what);
  }

  #fail(what: string): never {
    const before = this.#text.slice(0, this.#at);
    const line = before.split('\n').length;
    const column = this.#at - before.lastIndexOf('\n');
    const found =
      this.#at >= this.#text.length ? 'the end' : `'${String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0)}'`;
    throw new JsonTextError(`${what}, found ${found} at line ${String(line)}, column ${String(column)}`);
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isPlain(code: number): boolean {
  return code >= 0x20 && code !== QUOTE && code !== BACKSLASH;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = text.charCodeAt(at)) at++;
  return at;
}

function withoutLeadingZeros(text: string, start: number, whole: number, wholeEnd: number, end: number): string {
  let first = whole;
  while (first < wholeEnd - 1 && text.charCodeAt(first) === 0x30) first++;
  if (first === whole) return text.slice(start, end);
  return `${whole > start ? '-' : ''}${text.slice(first, end)}`;
}

/**
 * Quotes a string as Java's writer does: short escapes such as `\n`; other control characters and all surrogates as
 * `\uXXXX`.
 */
export function quoteJson(text: string): string {
  return NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED, escapeOf)}"` : `"${text}"`;
}

const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/g;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function escapeOf(char: string): string {
  return SHORT_ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}
