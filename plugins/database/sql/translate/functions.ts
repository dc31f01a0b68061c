import { quoteIdentifier } from '../quote.ts';
import type { TokenReader } from '../token-reader.ts';
import { nameOf } from '../token-text.ts';
import { resolveTable } from './insert-head.ts';
import { bucketOf, bucketWidth } from './durations.ts';
import { walkQueries } from './queries.ts';
import type { Scope } from './scope.ts';
import { argumentsOf, isUnnamedItem, type Surroundings, surroundings } from './select-clauses.ts';
import { Refused, type TranslationContext } from './translation.ts';

/** Limit for nested calls, because each translation may repeat its argument three times. */
const MAX_DEPTH = 4;

/** The value of a column that an aggregate of the original database returns, or the time of that value. */
interface PickedValue {
  readonly order: '' | ' DESC';
  readonly skipsNulls: boolean;
  readonly isTime: boolean;
}

const PICKS: ReadonlyMap<string, PickedValue> = new Map([
  ['FIRST', { order: '', skipsNulls: true, isTime: false }],
  ['LAST', { order: ' DESC', skipsNulls: true, isTime: false }],
  ['FIRST_ROW', { order: '', skipsNulls: false, isTime: false }],
  ['LAST_ROW', { order: ' DESC', skipsNulls: false, isTime: false }],
  ['FIRSTTS', { order: '', skipsNulls: true, isTime: true }],
  ['LASTTS', { order: ' DESC', skipsNulls: true, isTime: true }],
  ['FIRST_ROW_TS', { order: '', skipsNulls: false, isTime: true }],
  ['LAST_ROW_TS', { order: ' DESC', skipsNulls: false, isTime: true }],
]);

/**
 * Translates the original database's functions in a query that PostgreSQL rejected: `first(x)`, `last(x)`,
 * `last_row(x)` and the like use the time column of the table; `time_bucket(ts, '10s')` and `database()` have direct
 * counterparts. The resulting expressions are fully qualified, so that the search path does not matter. Returns
 * `undefined` if there are no such calls. Throws Refused for calls that cannot be translated.
 */
export function translateFunctions(reader: TokenReader, context: TranslationContext): string | undefined {
  return new FunctionCalls(reader, context).translated();
}

export class FunctionCalls {
  readonly #reader: TokenReader;
  readonly around: Surroundings;
  /** The scope of each function call, by the index of its first token. */
  readonly #scopes = new Map<number, Scope>();
  readonly #namesItems: boolean;
  #count = 0;
  #depth = 0;

  /**
   * With `namesItems`, output columns that are function calls are labelled with the function's name, as in the original
   * database.
   */
  constructor(reader: TokenReader, context: TranslationContext, { namesItems = true } = {}) {
    this.#reader = reader;
    this.#namesItems = namesItems;
    this.around = surroundings(reader);
    walkQueries(reader, {
      table: (parts) => resolveTable(parts, context).table,
      token: (scope, index) => {
        if (this.nameAt(index) !== undefined) this.#scopes.set(index, scope);
      },
    });
  }

  translated(): string | undefined {
    const { tokens, text } = this.#reader;
    const translated = this.text(0, tokens.length);
    const last = tokens.at(-1);
    return this.#count === 0 || last === undefined ? undefined : translated + text.slice(last.end);
  }

  /** Returns the name, in upper case, of an unqualified function that is called at this token. */
  nameAt(index: number): string | undefined {
    const { tokens } = this.#reader;
    const token = tokens[index];
    if (token?.kind !== 'word' || token.end - token.start > 20) return undefined;
    if (this.#reader.source(tokens[index + 1]) !== '(' || this.#reader.source(tokens[index - 1]) === '.')
      return undefined;
    return this.#reader.source(token).toUpperCase();
  }

  /** Returns the source from `start` to `end` (exclusive), with calls replaced. */
  text(start: number, end: number): string {
    const { tokens, text } = this.#reader;
    let copied = tokens[start]?.start ?? 0;
    let result = '';
    if (this.#depth < MAX_DEPTH) {
      this.#depth += 1;
      for (let index = start; index < end; index++) {
        const replaced = this.#call(index);
        if (replaced === undefined) continue;
        this.#count += 1;
        const close = this.around.closing[index + 1] ?? end;
        result += text.slice(copied, tokens[index]?.start) + replaced;
        copied = tokens[close]?.end ?? copied;
        index = close;
      }
      this.#depth -= 1;
    }
    return result + text.slice(copied, tokens[end - 1]?.end ?? copied);
  }

  /** Returns the replacement of a call, labelled with the function's name if it is an output column. */
  #call(index: number): string | undefined {
    const name = this.nameAt(index);
    const expression = name === undefined ? undefined : this.#expression(name, index);
    const close = this.around.closing[index + 1] ?? 0;
    if (expression === undefined || name === undefined) return undefined;
    const isUnnamed = this.#namesItems && isUnnamedItem(this.#reader, this.around, index, close + 1);
    return isUnnamed ? `${expression} AS ${quoteIdentifier(name.toLowerCase())}` : expression;
  }

  #expression(name: string, index: number): string | undefined {
    const given = argumentsOf(this.#reader, this.around, index + 1);
    if (name === 'DATABASE') return given.length === 0 ? 'pg_catalog.current_database()' : undefined;
    const [first, second] = given;
    if (name === 'TIME_BUCKET') {
      if (first === undefined || second === undefined || given.length > 2) return undefined;
      // In the original database, the width is the second argument; in TimescaleDB's function, it is the first.
      const [widthStart, widthEnd] = second;
      return bucketOf(this.text(...first), bucketWidth(this.#reader, widthStart, widthEnd));
    }
    const pick = PICKS.get(name);
    return pick === undefined || first === undefined || given.length > 1 ? undefined : this.#picked(pick, index, first);
  }

  #picked({ order, skipsNulls, isTime }: PickedValue, index: number, [start, end]: [number, number]): string {
    const called = this.#reader.source(this.#reader.tokens[index]).toLowerCase();
    const column = this.#firstColumn(this.#scopes.get(index), start, end);
    if (column === undefined) {
      throw new Refused(
        `${called}() requires a column of a table with a time column: write (array_agg(x ORDER BY t DESC))[1]`,
        '42883',
      );
    }
    const value = this.text(start, end);
    const filter = skipsNulls ? ` FILTER (WHERE (${value}) IS NOT NULL)` : '';
    const time = column.time.map(quoteIdentifier).join('.');
    if (isTime) return `pg_catalog.${order === '' ? 'min' : 'max'}(${time})${filter}`;
    if (column.type?.endsWith('[]') === true) {
      throw new Refused(
        `${called}() of an array is not supported: write max(${time}), and select the row with that time`,
      );
    }
    return `(pg_catalog.array_agg(${value} ORDER BY ${time}${order} NULLS LAST)${filter})[1]`;
  }

  /** Returns the first column in the range, with the time column of its table. */
  #firstColumn(scope: Scope | undefined, start: number, end: number) {
    for (let index = start; index < end; index++) {
      if (nameOf(this.#reader.text, this.#reader.tokens[index]) === undefined) continue;
      this.#reader.position = index;
      const parts = this.#reader.takeNameParts();
      // The name is followed by a dot without another name, as in `m.*`.
      if (parts === undefined) continue;
      const time = scope?.timeBeside(parts);
      if (time !== undefined) return { time, type: scope?.column(parts)?.type };
      index = this.#reader.position - 1;
    }
    return undefined;
  }
}
