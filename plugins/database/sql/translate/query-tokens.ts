import type { TokenReader } from '../token-reader.ts';

const QUERY_WORD = /^(?:SELECT|WITH|VALUES|TABLE|INSERT|UPDATE|DELETE)$/;
/** Keywords that end an entry of the FROM list, so that they are not aliases. */
const NO_ALIAS =
  /^(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|FOR|WINDOW|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|NATURAL|ON|USING|SET|RETURNING|TABLESAMPLE|UNION|INTERSECT|EXCEPT|WITH)$/;

/** Length of TABLESAMPLE; no longer keyword is looked for. */
const LONGEST_KEYWORD = 11;

/** The tokens of a statement by their index, with the structure of its parentheses. */
export class QueryTokens {
  readonly #reader: TokenReader;
  /** For each opening parenthesis, the index of the closing one, or the number of tokens if it is missing. */
  readonly #closing: Int32Array;
  /** 1 if a query starts after this opening parenthesis. */
  readonly #enclosesQuery: Uint8Array;

  constructor(reader: TokenReader) {
    this.#reader = reader;
    const { length } = reader.tokens;
    this.#closing = new Int32Array(length).fill(length);
    this.#enclosesQuery = new Uint8Array(length + 1);
    const open: number[] = [];
    for (let index = 0; index < length; index++) {
      if (this.isSign(index, '(')) open.push(index);
      else if (this.isSign(index, ')')) this.#closing[open.pop() ?? index] = index;
    }
    for (let index = length - 1; index >= 0; index--) {
      if (this.isSign(index, '(')) this.#enclosesQuery[index] = this.startsQuery(index + 1) ? 1 : 0;
    }
  }

  /** Returns true if the token is the first keyword of a query, or a parenthesis around one. */
  startsQuery(index: number): boolean {
    return QUERY_WORD.test(this.word(index)) || this.enclosesQuery(index);
  }

  /** Returns true if the token is an opening parenthesis around a query. */
  enclosesQuery(index: number): boolean {
    return this.#enclosesQuery[index] === 1;
  }

  /** `IS [NOT] DISTINCT FROM` */
  isDistinctFrom(index: number): boolean {
    return this.word(index - 1) === 'DISTINCT' && /^(?:IS|NOT)$/.test(this.word(index - 2));
  }

  /** Returns the first matching token outside parentheses, or `end`. */
  find(start: number, end: number, fits: (index: number) => boolean): number {
    let index = start;
    while (index < end && !fits(index)) index = this.after(index);
    return Math.min(index, end);
  }

  /** Returns the position after a token, or after the parentheses that it opens. */
  after(index: number): number {
    return (this.isSign(index, '(') ? this.close(index) : index) + 1;
  }

  /** Returns the closing parenthesis of an opening one; the number of tokens if there is none. */
  close(open: number): number {
    return this.#closing[open] ?? this.#reader.tokens.length;
  }

  /** Returns a word of up to 11 characters in upper case, unless it follows a dot; an empty string for other tokens. */
  word(index: number): string {
    const token = this.#reader.tokens[index];
    if (token?.kind !== 'word' || token.end - token.start > LONGEST_KEYWORD) return '';
    return this.isSign(index - 1, '.') ? '' : this.#reader.source(token).toUpperCase();
  }

  isSign(index: number, sign: string): boolean {
    const token = this.#reader.tokens[index];
    const isOperator = token?.kind === 'punctuation' || token?.kind === 'operator';
    return isOperator && token.end - token.start === 1 && this.#reader.text.charAt(token.start) === sign;
  }

  name(index: number): string | undefined {
    this.#reader.position = index;
    return this.#reader.takeName();
  }

  /** Returns the parts of a qualified name; an empty list if there is no name at the index. */
  nameParts(index: number): readonly string[] {
    this.#reader.position = index;
    return this.#reader.takeNameParts() ?? [];
  }

  /** Returns the names in a list between parentheses. */
  names(open: number): readonly string[] {
    const names: string[] = [];
    for (let index = open + 1; index < this.close(open); index += 2) {
      const name = this.name(index);
      if (name === undefined) break;
      names.push(name);
    }
    return names;
  }

  /** `[AS] alias [(names)]` */
  alias(start: number, end: number): { alias: string | undefined; names: readonly string[]; next: number } {
    let position = start;
    if (this.word(position) === 'AS') position += 1;
    else if (NO_ALIAS.test(this.word(position))) return { alias: undefined, names: [], next: start };
    const alias = position < end ? this.name(position) : undefined;
    if (alias === undefined) return { alias, names: [], next: start };
    position += 1;
    if (!this.isSign(position, '(')) return { alias, names: [], next: position };
    return { alias, names: this.names(position), next: this.after(position) };
  }
}
