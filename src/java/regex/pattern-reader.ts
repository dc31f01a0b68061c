import { Flag, JavaRegexError, type Folding } from './syntax.ts';

const ASCII_BLANKS = new Set([0x20, 0x09, 0x0a, 0x0b, 0x0c, 0x0d]);
const BACKSLASH = 0x5c;
const HASH = 0x23;

/**
 * The characters of a pattern with a cursor. The cursor moves as in java.util.regex.Pattern, because error messages contain its
 * position. Characters after the end are zeros. With the flag `x`, blanks and comments are skipped.
 */
export class PatternReader {
  readonly pattern: string;
  readonly #chars: readonly number[];
  readonly length: number;
  cursor = 0;
  flags = 0;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.#chars = withoutQuotes([...pattern].map((char) => char.codePointAt(0) ?? 0));
    this.length = this.#chars.length;
  }

  has(flag: keyof typeof Flag): boolean {
    return (this.flags & Flag[flag]) !== 0;
  }

  get folding(): Folding {
    if (!this.has('caseInsensitive')) return 'none';
    return this.has('unicodeCase') ? 'unicode' : 'ascii';
  }

  at(index: number): number {
    return this.#chars[index] ?? 0;
  }

  get ended(): boolean {
    return this.cursor >= this.length;
  }

  peek(): number {
    const char = this.at(this.cursor);
    return this.has('comments') ? this.#peekPastComments(char) : char;
  }

  /** Advances by one and peeks. */
  next(): number {
    this.cursor++;
    return this.peek();
  }

  /** Advances by one and peeks without skipping blanks. */
  nextEscaped(): number {
    return this.at(++this.cursor);
  }

  /** Consumes one character. */
  read(): number {
    const char = this.at(this.cursor++);
    return this.has('comments') ? this.#readPastComments(char) : char;
  }

  /** Consumes two characters without skipping blanks, and returns the second. */
  skip(): number {
    this.cursor += 2;
    return this.at(this.cursor - 1);
  }

  unread(): void {
    this.cursor--;
  }

  fail(reason: string): never {
    const index = this.cursor - 1;
    const near = index >= 0 ? ` near index ${String(index)}` : '';
    const mark = index >= 0 && index < this.pattern.length ? `\n${' '.repeat(index)}^` : '';
    throw new JavaRegexError(`${reason}${near}\n${this.pattern}${mark}`);
  }

  isLineEnd(char: number): boolean {
    if (this.has('unixLines')) return char === 0x0a;
    return char === 0x0a || char === 0x0d || (char | 1) === 0x2029 || char === 0x85;
  }

  #peekPastComments(first: number): number {
    let char = first;
    while (ASCII_BLANKS.has(char) || char === HASH) {
      while (ASCII_BLANKS.has(char)) char = this.at(++this.cursor);
      if (char !== HASH) continue;
      do char = this.at(++this.cursor);
      while (char !== 0 && !this.isLineEnd(char));
      if (char === 0 && this.cursor > this.length) this.cursor = this.length;
    }
    return char;
  }

  #readPastComments(first: number): number {
    let char = first;
    while (ASCII_BLANKS.has(char) || char === HASH) {
      while (ASCII_BLANKS.has(char)) char = this.at(this.cursor++);
      if (char !== HASH) continue;
      do char = this.at(this.cursor++);
      while (char !== 0 && !this.isLineEnd(char));
      if (char === 0 && this.cursor > this.length) this.cursor = this.length + 1;
    }
    return char;
  }
}

const isAscii = (char: number) => char < 0x80;
const isAsciiLetter = (char: number) => isAscii(char) && /[a-zA-Z]/.test(String.fromCharCode(char));
const isAsciiDigit = (char: number) => char >= 0x30 && char <= 0x39;

/** Replaces `\Q…\E` with the quoted characters, which are escaped where necessary. */
function withoutQuotes(chars: readonly number[]): readonly number[] {
  let at = 0;
  while (at < chars.length - 1 && !(chars[at] === BACKSLASH && chars[at + 1] === 0x51)) {
    at += chars[at] === BACKSLASH ? 2 : 1;
  }
  if (at >= chars.length - 1) return chars;
  const plain = chars.slice(0, at);
  let quoted = true;
  let first = true;
  at += 2;
  while (at < chars.length) {
    const char = chars[at++] ?? 0;
    if (!isAscii(char) || isAsciiLetter(char)) {
      plain.push(char);
    } else if (isAsciiDigit(char)) {
      // A digit at the start of a quote is written as `\x3n`, so that it does not become part of an escape before the quote.
      if (first) plain.push(BACKSLASH, 0x78, 0x33);
      plain.push(char);
    } else if (char !== BACKSLASH) {
      if (quoted) plain.push(BACKSLASH);
      plain.push(char);
    } else if (quoted) {
      if (chars[at] === 0x45) {
        at++;
        quoted = false;
      } else {
        plain.push(BACKSLASH, BACKSLASH);
      }
    } else if (chars[at] === 0x51) {
      at++;
      quoted = true;
      first = true;
      continue;
    } else {
      plain.push(char);
      if (at < chars.length) plain.push(chars[at++] ?? 0);
    }
    first = false;
  }
  return plain;
}
