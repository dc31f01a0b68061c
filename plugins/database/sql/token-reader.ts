import type { TableName } from '../../../src/data/row-batch.ts';
import { type Token, tokenize } from './lexer.ts';
import { keywordOf, nameOf, stringValue } from './token-text.ts';

/** A cursor over the tokens of a statement. The `take…` methods advance only if the expected tokens are next. */
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

  source(token = this.current): string {
    return token === undefined ? '' : this.text.slice(token.start, token.end);
  }

  /** Returns the keyword `ahead` tokens after the current one, in upper case. */
  keyword(ahead = 0): string | undefined {
    return keywordOf(this.text, this.tokens[this.position + ahead]);
  }

  isWords(...words: readonly string[]): boolean {
    return words.every((word, index) => this.keyword(index) === word);
  }

  takeWords(...words: readonly string[]): boolean {
    if (!this.isWords(...words)) return false;
    this.position += words.length;
    return true;
  }

  /** Takes the current word if it is one of these. */
  takeOneOf(...words: readonly string[]): string | undefined {
    const word = this.keyword();
    if (word === undefined || !words.includes(word)) return undefined;
    this.position += 1;
    return word;
  }

  /** Returns true if the token is this punctuation or operator. */
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

  /** Takes `a`, `a.b` or `a.b.c`, outermost first. Takes nothing if there is no name. */
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

  /** Skips from an opening parenthesis past the matching closing one; returns false if either is missing. */
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

  /** Returns the source text of the tokens from `start` to `end` (exclusive). */
  sourceBetween(start: number, end: number): string {
    const first = this.tokens[start];
    const last = this.tokens[end - 1];
    return first === undefined || last === undefined || end <= start ? '' : this.text.slice(first.start, last.end);
  }

  /** Replaces the tokens from `start` to `end` (exclusive) in the text. */
  replace(start: number, end: number, replacement: string): string {
    const first = this.tokens[start];
    const last = this.tokens[end - 1];
    if (first === undefined || last === undefined) return this.text;
    return this.text.slice(0, first.start) + replacement + this.text.slice(last.end);
  }
}

/**
 * Resolves the parts of a name to a table. The original database's `database.table` and `database.schema.table` are
 * accepted if the database is the current one; returns `undefined` for a table in another database.
 */
export function tableOfParts(parts: readonly string[], database: string): TableName | undefined {
  const [first = '', second, third, ...more] = parts;
  if (second === undefined) return { name: first };
  if (third === undefined) return first === database ? { name: second } : { schema: first, name: second };
  return more.length === 0 && first === database ? { schema: second, name: third } : undefined;
}
