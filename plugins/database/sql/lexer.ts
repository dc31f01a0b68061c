/**
 * The kinds of tokens.
 * - string: `'…'`, `E'…'`, `U&'…'`, `N'…'` and dollar quotes, including continuation lines;
 * - bits: `B'…'`, `X'…'`; quoted: `"…"` and `U&"…"`;
 * - number: with letters that follow directly, as in `10d` (PostgreSQL: trailing junk);
 * - punctuation: `( ) [ ] , ; . : :: := ..`;
 * - comment: only an unterminated one, because all others are skipped; other: a character that is not part of SQL.
 */
export type TokenKind =
  'word' | 'quoted' | 'string' | 'bits' | 'number' | 'parameter' | 'operator' | 'punctuation' | 'comment' | 'other';

/** Positions are UTF-16 units of the text; `end` is exclusive. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** Set for a quote or comment that is not closed before the end of the text. */
  readonly unterminated: boolean;
}

const SPACE = 1;
const WORD_START = 2;
const WORD_PART = 4;
const DIGIT = 8;
const OPERATOR = 16;
/** An operator that contains one of these characters may end in + or - (PostgreSQL manual, 4.1.3). */
const OPERATOR_SPECIAL = 32;

const CLASSES = new Uint8Array(128);
for (const char of ' \t\n\r\f\v') mark(char, SPACE);
for (let code = 0; code < 26; code++) {
  mark(String.fromCharCode(65 + code), WORD_START | WORD_PART);
  mark(String.fromCharCode(97 + code), WORD_START | WORD_PART);
}
for (const char of '0123456789') mark(char, DIGIT | WORD_PART);
for (const char of '_') mark(char, WORD_START | WORD_PART);
for (const char of '$') mark(char, WORD_PART);
for (const char of '+-*/<>=~!@#%^&|`?') mark(char, OPERATOR);
for (const char of '~!@#%^&|`?') mark(char, OPERATOR_SPECIAL);

function mark(char: string, flags: number): void {
  const code = char.charCodeAt(0);
  CLASSES[code] = (CLASSES[code] ?? 0) | flags;
}

/** PostgreSQL treats every character beyond ASCII as a letter. */
const BEYOND_ASCII = WORD_START | WORD_PART;

function classOf(code: number): number {
  return code >= 128 ? BEYOND_ASCII : (CLASSES[code] ?? 0);
}

/** Past the end, returns NUL, which has no class: the NaN of `charCodeAt` would slow down every read. */
function codeAt(text: string, position: number): number {
  return position < text.length ? text.charCodeAt(position) : 0;
}

/** PostgreSQL rejects operators of 64 or more characters, so splitting those beyond this limit does no harm. */
const MAX_OPERATOR = 4_096;

const NEWLINE = 10;
const RETURN = 13;
const DOUBLE_QUOTE = 34;
const DOLLAR = 36;
const AMPERSAND = 38;
const QUOTE = 39;
const PLUS = 43;
const MINUS = 45;
const STAR = 42;
const DOT = 46;
const SLASH = 47;
const COLON = 58;
const EQUALS = 61;
const BACKSLASH = 92;
const LOWER_CASE = 32;
const UNDERSCORE = 95;
const LETTER_B = 98;
const LETTER_E = 101;
const LETTER_N = 110;
const LETTER_U = 117;
const LETTER_X = 120;

/**
 * PostgreSQL's lexer (src/backend/parser/scan.l with standard_conforming_strings on). Reads one token at a time without
 * allocating: after `next()`, the fields describe the token. Never throws; runs in linear time.
 */
export class Scanner implements Token {
  readonly text: string;
  kind: TokenKind = 'other';
  start = 0;
  end = 0;
  unterminated = false;
  /** Up to this position, a run of operator characters contains only + and -, each of which is a separate token. */
  #signsUntil = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Advances to the next token; returns false at the end of the text. */
  next(): boolean {
    const { text } = this;
    const start = this.#skipBlanks(this.end);
    this.start = start;
    this.unterminated = false;
    if (start >= text.length) {
      this.end = start;
      return false;
    }
    const code = codeAt(text, start);
    const flags = classOf(code);
    if ((flags & WORD_START) !== 0) this.#wordOrPrefixed(start, code);
    else if ((flags & DIGIT) !== 0) this.#number(start);
    else if (code === QUOTE) this.#string(start + 1, false);
    else if (code === DOUBLE_QUOTE) this.#quoted(start + 1);
    else if (code === DOLLAR) this.#dollar(start);
    else if (code === SLASH && codeAt(text, start + 1) === STAR) this.#take('comment', text.length, true);
    else if ((flags & OPERATOR) !== 0) this.#operator(start);
    else this.#punctuation(start, code);
    return true;
  }

  #take(kind: TokenKind, end: number, unterminated = false): void {
    this.kind = kind;
    this.end = end;
    this.unterminated = unterminated;
  }

  /** Returns the first position after blanks and comments. An unterminated block comment is a token. */
  #skipBlanks(from: number): number {
    const { text } = this;
    let position = from;
    for (;;) {
      const code = codeAt(text, position);
      if (classOf(code) === SPACE) position += 1;
      else if (code === MINUS && codeAt(text, position + 1) === MINUS) position = endOfLine(text, position);
      else if (code === SLASH && codeAt(text, position + 1) === STAR) {
        const end = endOfComment(text, position);
        if (end === undefined) return position;
        position = end;
      } else return position;
    }
  }

  #wordOrPrefixed(start: number, code: number): void {
    const { text } = this;
    const next = codeAt(text, start + 1);
    if (next === QUOTE) {
      const letter = code | LOWER_CASE;
      if (letter === LETTER_E) {
        this.#string(start + 2, true);
        return;
      }
      if (letter === LETTER_N) {
        this.#string(start + 2, false);
        return;
      }
      if (letter === LETTER_B || letter === LETTER_X) {
        this.#string(start + 2, false, endOfBits);
        this.kind = 'bits';
        return;
      }
    } else if (next === AMPERSAND && (code | LOWER_CASE) === LETTER_U) {
      const quote = codeAt(text, start + 2);
      if (quote === QUOTE) {
        this.#string(start + 3, false);
        return;
      }
      if (quote === DOUBLE_QUOTE) {
        this.#quoted(start + 3);
        return;
      }
    }
    this.#take('word', endOfWord(text, start + 1));
  }

  /** Reads a string. Another string after a line break, with only blanks and line comments between, continues it. */
  #string(firstInside: number, escapes: boolean, endOfPlain = endOfString): void {
    const { text } = this;
    let inside = firstInside;
    for (;;) {
      const end = escapes ? endOfEscapeString(text, inside) : endOfPlain(text, inside);
      if (end === undefined) {
        this.#take('string', text.length, true);
        return;
      }
      const continued = continuation(text, end);
      if (continued === undefined) {
        this.#take('string', end);
        return;
      }
      inside = continued;
    }
  }

  #quoted(inside: number): void {
    const end = endOfQuotes(this.text, inside, '"');
    this.#take('quoted', end ?? this.text.length, end === undefined);
  }

  #dollar(start: number): void {
    const { text } = this;
    let position = start + 1;
    if ((classOf(codeAt(text, position)) & DIGIT) !== 0) {
      this.#take('parameter', endOfJunk(text, endOfDigits(text, position)));
      return;
    }
    if ((classOf(codeAt(text, position)) & WORD_START) !== 0) {
      do position += 1;
      while (isWordPart(text, position) && codeAt(text, position) !== DOLLAR);
    }
    if (codeAt(text, position) !== DOLLAR) {
      this.#take('other', start + 1);
      return;
    }
    const tag = text.slice(start, position + 1);
    const closing = text.indexOf(tag, position + 1);
    this.#take('string', closing < 0 ? text.length : closing + tag.length, closing < 0);
  }

  /** Reads digits, a fraction, an exponent, and any trailing letters. */
  #number(start: number): void {
    const { text } = this;
    let position = endOfDecimal(text, start);
    if (codeAt(text, position) === DOT && codeAt(text, position + 1) !== DOT) {
      position = endOfDecimal(text, position + 1);
    }
    if ((codeAt(text, position) | LOWER_CASE) === LETTER_E) {
      const sign = codeAt(text, position + 1);
      const digits = position + (sign === PLUS || sign === MINUS ? 2 : 1);
      if ((classOf(codeAt(text, digits)) & DIGIT) !== 0) position = endOfDecimal(text, digits);
    }
    this.#take('number', endOfJunk(text, position));
  }

  #operator(start: number): void {
    const { text } = this;
    if (start < this.#signsUntil) {
      this.#take('operator', start + 1);
      return;
    }
    let position = start;
    let lastOther = start;
    let special = false;
    while (position < start + MAX_OPERATOR) {
      const code = codeAt(text, position);
      const flags = classOf(code);
      if ((flags & OPERATOR) === 0) break;
      const next = codeAt(text, position + 1);
      if ((code === MINUS && next === MINUS) || (code === SLASH && next === STAR)) break;
      if (code !== PLUS && code !== MINUS) lastOther = position;
      if ((flags & OPERATOR_SPECIAL) !== 0) special = true;
      position += 1;
    }
    if (special) {
      this.#take('operator', position);
      return;
    }
    this.#signsUntil = position;
    this.#take('operator', lastOther + 1);
  }

  #punctuation(start: number, code: number): void {
    const { text } = this;
    const next = codeAt(text, start + 1);
    if (code === DOT && (classOf(next) & DIGIT) !== 0) {
      this.#number(start);
      return;
    }
    if (code === DOT && next === DOT) {
      this.#take('punctuation', start + 2);
      return;
    }
    if (code === COLON && (next === COLON || next === EQUALS)) {
      this.#take('punctuation', start + 2);
      return;
    }
    this.#take('()[],;.:'.includes(text.charAt(start)) ? 'punctuation' : 'other', start + 1);
  }
}

export function tokenize(text: string): Token[] {
  const scanner = new Scanner(text);
  const tokens: Token[] = [];
  while (scanner.next()) {
    const { kind, start, end, unterminated } = scanner;
    tokens.push({ kind, start, end, unterminated });
  }
  return tokens;
}

function isWordPart(text: string, position: number): boolean {
  return position < text.length && (classOf(codeAt(text, position)) & WORD_PART) !== 0;
}

function endOfWord(text: string, from: number): number {
  let position = from;
  while (isWordPart(text, position)) position += 1;
  return position;
}

/** Skips letters that directly follow a number. */
function endOfJunk(text: string, from: number): number {
  return (classOf(codeAt(text, from)) & WORD_START) === 0 ? from : endOfWord(text, from);
}

function endOfDigits(text: string, from: number): number {
  let position = from;
  while ((classOf(codeAt(text, position)) & DIGIT) !== 0) position += 1;
  return position;
}

/** Skips digits, with single underscores between them. */
function endOfDecimal(text: string, from: number): number {
  let position = endOfDigits(text, from);
  while (
    position > from &&
    codeAt(text, position) === UNDERSCORE &&
    (classOf(codeAt(text, position + 1)) & DIGIT) !== 0
  )
    position = endOfDigits(text, position + 1);
  return position;
}

function endOfLine(text: string, from: number): number {
  let position = from;
  for (; position < text.length; position++) {
    const code = codeAt(text, position);
    if (code === NEWLINE || code === RETURN) break;
  }
  return position;
}

/** Returns the position after the comment, which may contain other block comments; `undefined` if it is not closed. */
function endOfComment(text: string, from: number): number | undefined {
  let depth = 1;
  let position = from + 2;
  while (position < text.length) {
    const code = codeAt(text, position);
    const next = codeAt(text, position + 1);
    if (code === SLASH && next === STAR) {
      depth += 1;
      position += 2;
    } else if (code === STAR && next === SLASH) {
      depth -= 1;
      position += 2;
      if (depth === 0) return position;
    } else position += 1;
  }
  return undefined;
}

/** Returns the position after the closing quote; a doubled quote does not close. */
function endOfQuotes(text: string, from: number, quote: '"' | "'"): number | undefined {
  let position = from;
  for (;;) {
    const found = text.indexOf(quote, position);
    if (found < 0) return undefined;
    if (text.charAt(found + 1) !== quote) return found + 1;
    position = found + 2;
  }
}

function endOfString(text: string, from: number): number | undefined {
  return endOfQuotes(text, from, "'");
}

/** Returns the position after the closing quote. Quotes cannot be escaped in bit strings. */
function endOfBits(text: string, from: number): number | undefined {
  const found = text.indexOf("'", from);
  return found < 0 ? undefined : found + 1;
}

function endOfEscapeString(text: string, from: number): number | undefined {
  for (let position = from; position < text.length; position++) {
    const code = codeAt(text, position);
    if (code === BACKSLASH) position += 1;
    else if (code === QUOTE) {
      if (codeAt(text, position + 1) !== QUOTE) return position + 1;
      position += 1;
    }
  }
  return undefined;
}

/**
 * Returns the position inside the continuation of a string that ended at `from`; `undefined` if it does not continue.
 */
function continuation(text: string, from: number): number | undefined {
  let newline = false;
  let position = from;
  for (;;) {
    const code = codeAt(text, position);
    if (code === NEWLINE || code === RETURN) newline = true;
    if (classOf(code) === SPACE) position += 1;
    else if (code === MINUS && codeAt(text, position + 1) === MINUS) position = endOfLine(text, position);
    else return newline && code === QUOTE ? position + 1 : undefined;
  }
}
