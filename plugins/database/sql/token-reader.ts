import type { TableName } from '../../../src/data/row-batch.ts';
import { type Token, tokenize } from './lexer.ts';
import { keywordOf, nameOf, stringValue } from './token-text.ts';

/** A statement as tokens and a place in it. `take…` moves on when it finds what it names, and not otherwise. */
export class TokenReader {
  readonly text: string;
  readonly tokens: readonly Token[];
  position = 0;

  constructor(text: string, tokens: readonly Token[] = tokenize(text)) {
    this.text = text;
    this.tokens = tokens;
  }

  get atEnd(): boolean {
    return this.position >= this.tokens.length;
  }

  get current(): Token | undefined {
    return this.tokens[this.position];
  }

  /** Source of a token, the current one when none is named. */
  source(token = this.current): string {
    return token === undefined ? '' : this.text.slice(token.start, token.end);
  }

  /** The keyword `ahead` tokens further on, in upper case. */
  keyword(ahead = 0): string | undefined {
    return keywordOf(this.text, this.tokens[this.position + ahead]);
  }

  /** Whether the next words are these. */
  isWords(...words: readonly string[]): boolean {
    return words.every((word, index) => this.keyword(index) === word);
  }

  takeWords(...words: readonly string[]): boolean {
    if (!this.isWords(...words)) return false;
    this.position += words.length;
    return true;
  }

  /** Takes the first of these words that stands here. */
  takeOneOf(...words: readonly string[]): string | undefined {
    const word = this.keyword();
    if (word === undefined || !words.includes(word)) return undefined;
    this.position += 1;
    return word;
  }

  /** Punctuation or an operator. */
  isSign(sign: string, ahead = 0): boolean {
    const token = this.tokens[this.position + ahead];
    return (token?.kind === 'punctuation' || token?.kind === 'operator') && this.source(token) === sign;
  }

  takeSign(sign: string): boolean {
    if (!this.isSign(sign)) return false;
    this.position += 1;
    return true;
  }

  takeName(): string | undefined {
    const name = nameOf(this.text, this.current);
    if (name !== undefined) this.position += 1;
    return name;
  }

  /** `a`, `a.b` or `a.b.c`, outermost first; nothing is taken where no name stands. */
  takeNameParts(): string[] | undefined {
    const start = this.position;
    const parts: string[] = [];
    do {
      const part = this.takeName();
      if (part === undefined) {
        this.position = start;
        return undefined;
      }
      parts.push(part);
    } while (this.takeSign('.'));
    return parts;
  }

  takeString(): string | undefined {
    const value = stringValue(this.text, this.current);
    if (value !== undefined) this.position += 1;
    return value;
  }

  /** From an opening parenthesis to behind the one that closes it; false where none stands or none closes. */
  skipParentheses(): boolean {
    if (!this.isSign('(')) return false;
    let depth = 0;
    for (let position = this.position; position < this.tokens.length; position++) {
      const token = this.tokens[position];
      if (token?.kind !== 'punctuation') continue;
      const sign = this.source(token);
      if (sign === '(') depth += 1;
      else if (sign === ')' && --depth === 0) {
        this.position = position + 1;
        return true;
      }
    }
    return false;
  }

  /** What stands between tokens, as written; `end` is exclusive. */
  sourceBetween(start: number, end: number): string {
    const first = this.tokens[start];
    const last = this.tokens[end - 1];
    return first === undefined || last === undefined || end <= start ? '' : this.text.slice(first.start, last.end);
  }

  /** The text with the tokens from `start` to before `end` replaced. */
  replace(start: number, end: number, replacement: string): string {
    const first = this.tokens[start];
    const last = this.tokens[end - 1];
    if (first === undefined || last === undefined) return this.text;
    return this.text.slice(0, first.start) + replacement + this.text.slice(last.end);
  }
}

/**
 * The table that the parts of a name mean. Where the original has `database.table` and `database.schema.table`, a first
 * part that is the current database is left out; `undefined` for a table of another database.
 */
export function tableOfParts(parts: readonly string[], database: string): TableName | undefined {
  const [first = '', second, third, ...more] = parts;
  if (second === undefined) return { name: first };
  if (third === undefined) return first === database ? { name: second } : { schema: first, name: second };
  return more.length === 0 && first === database ? { schema: second, name: third } : undefined;
}
