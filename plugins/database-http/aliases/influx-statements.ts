import { ApiFailure } from '../route.ts';

/** A statement of InfluxQL; `other` is not supported here. `expires`: whether InfluxDB would delete rows by age. */
export type InfluxStatement =
  | { readonly kind: 'show-databases' }
  | { readonly kind: 'create-database'; readonly name: string; readonly expires: boolean }
  | { readonly kind: 'create-retention-policy'; readonly database: string; readonly expires: boolean }
  | { readonly kind: 'show-retention-policies'; readonly database: string }
  | { readonly kind: 'other' };

interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'sign';
  readonly text: string;
  /** Position in characters, counted from 1 as in InfluxDB. */
  readonly at: number;
}

/** Limit of a request in characters. The statements that clients send before they write are far shorter. */
const MAX_LENGTH = 100_000;
const MAX_STATEMENTS = 1_000;
const STATEMENTS = ['SELECT', 'DELETE', 'SHOW', 'CREATE', 'DROP', 'EXPLAIN', 'GRANT', 'REVOKE', 'ALTER', 'SET', 'KILL'];

/**
 * Parses the statements of a text, which are separated by semicolons. Throws an ApiFailure with status 400 and InfluxDB's message
 * for a syntax error. Errors in statements that are not supported here are not detected.
 */
export function readInfluxStatements(text: string): InfluxStatement[] {
  if (text.length > MAX_LENGTH) throw refusal(`a query has at most ${String(MAX_LENGTH)} characters here`);
  const statements: InfluxStatement[] = [];
  let tokens: Token[] = [];
  // InfluxDB reports the end of the text at this position.
  const end = { kind: 'sign', text: ';', at: text.length + 2 } as const;
  for (const token of [...tokensOf(text), end]) {
    if (token.kind !== 'sign' || token.text !== ';') {
      tokens.push(token);
      continue;
    }
    if (tokens.length > 0) statements.push(new StatementReader(tokens, token === end ? 'EOF' : ';', token.at).read());
    if (statements.length > MAX_STATEMENTS)
      throw refusal(`a query has at most ${String(MAX_STATEMENTS)} statements here`);
    tokens = [];
  }
  return statements;
}

/** Blanks, a line comment, a block comment, a quoted name, a string, a word or number, or a single character. */
const TOKEN =
  /\s+|--[^\n]*|\/\*[^*]*(?:\*(?!\/)[^*]*)*(?:\*\/)?|"((?:[^"\\]|\\[^])*)"|'((?:[^'\\]|\\[^])*)'|([\w.µ]+)|([^])/y;

function* tokensOf(text: string): Generator<Token> {
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
    const at = TOKEN.lastIndex + 1;
    const [, name, quoted, word, sign] = TOKEN.exec(text) ?? [];
    if (name !== undefined) yield { kind: 'name', text: name.replace(/\\([^])/g, '$1'), at };
    else if (quoted !== undefined) yield { kind: 'text', text: quoted, at };
    else if (word !== undefined) yield { kind: 'word', text: word, at };
    else if (sign === '"' || sign === "'")
      throw refusal(`error parsing query: the text in quotes from char ${String(at)} has no end`);
    else if (sign !== undefined) yield { kind: 'sign', text: sign, at };
  }
}

class StatementReader {
  readonly #tokens: readonly Token[];
  readonly #end: string;
  readonly #endAt: number;
  #next = 0;

  constructor(tokens: readonly Token[], end: string, endAt: number) {
    this.#tokens = tokens;
    this.#end = end;
    this.#endAt = endAt;
  }

  read(): InfluxStatement {
    const first = this.#tokens[0];
    if (first?.kind !== 'word' || !STATEMENTS.includes(first.text.toUpperCase()))
      throw this.#unexpected(STATEMENTS.join(', '));
    if (this.#take('SHOW', 'DATABASES')) return this.#ended({ kind: 'show-databases' });
    if (this.#take('SHOW', 'RETENTION', 'POLICIES')) {
      if (!this.#take('ON')) return { kind: 'other' };
      return this.#ended({ kind: 'show-retention-policies', database: this.#name() });
    }
    if (this.#take('CREATE', 'DATABASE')) {
      const name = this.#name();
      const expires = this.#take('WITH') && this.#settings();
      return this.#ended({ kind: 'create-database', name, expires });
    }
    if (this.#take('CREATE', 'RETENTION', 'POLICY')) {
      this.#name();
      if (!this.#take('ON')) throw this.#unexpected('ON');
      const database = this.#name();
      return this.#ended({ kind: 'create-retention-policy', database, expires: this.#settings() });
    }
    return { kind: 'other' };
  }

  /** Parses DURATION, REPLICATION, SHARD DURATION, NAME and DEFAULT. Returns whether there is a finite duration. */
  #settings(): boolean {
    const from = this.#next;
    let expires = false;
    for (;;) {
      if (this.#take('DURATION')) expires = !/^(?:inf|0s?)$/i.test(this.#value('duration'));
      else if (this.#take('SHARD', 'DURATION')) this.#value('duration');
      else if (this.#take('REPLICATION')) this.#value('integer');
      else if (this.#take('NAME')) this.#name();
      else if (!this.#take('DEFAULT')) break;
    }
    if (this.#next === from) throw this.#unexpected('DURATION, NAME, REPLICATION, SHARD');
    return expires;
  }

  #take(...words: readonly string[]): boolean {
    const fits = words.every((word, index) => {
      const token = this.#tokens[this.#next + index];
      return token?.kind === 'word' && token.text.toUpperCase() === word;
    });
    if (fits) this.#next += words.length;
    return fits;
  }

  #name(): string {
    const token = this.#tokens[this.#next];
    const isName = token?.kind === 'name' || (token?.kind === 'word' && /^[a-z_]\w*$/i.test(token.text));
    if (token === undefined || !isName) throw this.#unexpected('identifier');
    this.#next += 1;
    return token.text;
  }

  #value(expected: string): string {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'word') throw this.#unexpected(expected);
    this.#next += 1;
    return token.text;
  }

  #ended<S extends InfluxStatement>(statement: S): S {
    if (this.#next < this.#tokens.length) throw this.#unexpected(';');
    return statement;
  }

  #unexpected(expected: string): ApiFailure {
    const token = this.#tokens[this.#next];
    const found = token === undefined ? this.#end : token.text.slice(0, 100);
    const at = token?.at ?? this.#endAt;
    return refusal(`error parsing query: found ${found}, expected ${expected} at line 1, char ${String(at)}`);
  }
}

function refusal(message: string): ApiFailure {
  return new ApiFailure(400, message);
}
