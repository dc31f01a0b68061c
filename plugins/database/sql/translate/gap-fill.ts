import { quoteIdentifier } from '../quote.ts';
import type { TokenReader } from '../token-reader.ts';
import { nameOf, stringValue } from '../token-text.ts';
import { bucketOf, bucketWidth, intervalOf } from './durations.ts';
import { FunctionCalls } from './functions.ts';
import { Refused, type TranslationContext } from './translation.ts';

const GAP_FILL = 'TIME_BUCKET_GAPFILL';
const INTERPOLATE = 'INTERPOLATE';
/** Keywords outside parentheses that end the GROUP BY clause, and those that also end HAVING and WINDOW. */
const ENDS_GROUPING = /^(?:HAVING|WINDOW|ORDER|LIMIT|OFFSET|FETCH|FOR)$/;
const ENDS_ROWS = /^(?:ORDER|LIMIT|OFFSET|FETCH|FOR)$/;
const SET_OPERATIONS = /^(?:UNION|INTERSECT|EXCEPT)$/;

interface Item {
  readonly start: number;
  /** The expression in a form that is equal for equal expressions; see `#normalized`. */
  readonly written: string;
  readonly name: string;
  /** Column name in the common table expression of the grouped rows. */
  readonly column: string;
  /** The translated expression, before gaps are filled. */
  readonly expression: string;
  readonly kind: 'bucket' | 'key' | 'value';
  /** How to compute the value of a bucket without rows. */
  readonly fill: string | undefined;
}

/**
 * Translates a SELECT with `time_bucket_gapfill(ts, '10s')`. The query with `time_bucket` groups the rows,
 * `generate_series` produces all buckets between the first and last one of each group, and window functions fill in the
 * values according to `interpolate(value, PREV | NEXT | LINEAR | NULL | constant)`. Returns `undefined` for other
 * statements. Throws Refused for queries that cannot be translated.
 */
export function translateGapFill(reader: TokenReader, context: TranslationContext): string | undefined {
  if (!reader.tokens.some((token) => token.kind === 'word' && isCalled(reader.source(token), GAP_FILL)))
    return undefined;
  return new GapFill(reader, context).translated();
}

function isCalled(source: string, name: string): boolean {
  return source.length === name.length && source.toUpperCase() === name;
}

class GapFill {
  readonly #reader: TokenReader;
  readonly #calls: FunctionCalls;

  constructor(reader: TokenReader, context: TranslationContext) {
    this.#reader = reader;
    this.#calls = new FunctionCalls(reader, context, { namesItems: false });
  }

  translated(): string {
    const { length } = this.#reader.tokens;
    const select = this.#find(0, length, /^SELECT$/);
    const from = this.#find(select, length, /^FROM$/);
    const group = this.#find(from, length, /^GROUP$/);
    const groupEnd = this.#find(group, length, ENDS_GROUPING);
    const rowsEnd = this.#find(groupEnd, length, ENDS_ROWS);
    if (group === length || this.#find(0, length, SET_OPERATIONS) < length) throw unsupported();
    const groups = this.#parts(group + 2, groupEnd).map(([start, end]) => this.#normalized(start, end));
    const grouping = new Set(groups);
    const items = this.#parts(select + 1, from).map(([start, end], at) => this.#item(start, end, at, grouping));
    const positions = positionsByName(items);
    const hidden = groups
      .filter((written) => !positions.has(written) && !/^(?:\d+$|time_bucket_gapfill\b)/i.test(written))
      .map((expression, at) => ({ column: `k${String(at + 1)}`, expression }));
    const bucket = items.find(({ kind }) => kind === 'bucket');
    if (bucket === undefined) throw unsupported();
    const keys = [...items.filter(({ kind }) => kind === 'key'), ...hidden].map(({ column }) => column);
    const isGrouped = new Set([bucket.column, ...keys]);
    const listed = [...items, ...hidden].map(({ column, expression }) => `${expression} AS ${column}`);
    const grouped = [...items, ...hidden].flatMap(({ column }, at) => (isGrouped.has(column) ? [at + 1] : []));
    const rows =
      `${this.#calls.text(0, select + 1)} ${listed.join(', ')} ${this.#calls.text(from, group)} GROUP BY ${grouped.join(', ')}` +
      (groupEnd < rowsEnd ? ` ${this.#calls.text(groupEnd, rowsEnd)}` : '');
    return `${filled(rows, bucket.column, keys, items, this.#stepOf(bucket))}${this.#order(rowsEnd, positions)}`;
  }

  #item(start: number, end: number, at: number, groups: ReadonlySet<string>): Item {
    const { expressionEnd, alias } = this.#named(start, end);
    const called = this.#callOver(start, expressionEnd);
    const written = this.#normalized(start, expressionEnd);
    const item = {
      start,
      written,
      name:
        alias ??
        called?.toLowerCase() ??
        nameOf(this.#reader.text, this.#reader.tokens[expressionEnd - 1]) ??
        '?column?',
      column: `c${String(at + 1)}`,
      fill: undefined,
    };
    if (called === GAP_FILL) {
      const [time, width] = this.#arguments(start);
      if (time === undefined || width === undefined) throw unsupported();
      const expression = bucketOf(this.#calls.text(...time), bucketWidth(this.#reader, ...width));
      return { ...item, kind: 'bucket', expression };
    }
    if (called === INTERPOLATE) {
      const [value, how] = this.#arguments(start);
      if (value === undefined || how === undefined) throw unsupported();
      const fill = this.#reader.sourceBetween(...how);
      const text = stringValue(this.#reader.text, this.#reader.tokens[how[0]]);
      return { ...item, kind: 'value', expression: this.#calls.text(...value), fill: text ?? fill };
    }
    const isKey = [written, item.name, String(at + 1)].some((name) => groups.has(name));
    return { ...item, kind: isKey ? 'key' : 'value', expression: this.#calls.text(start, expressionEnd) };
  }

  #stepOf({ start }: Item): string {
    const [, width] = this.#arguments(start);
    if (width === undefined) throw unsupported();
    return intervalOf(bucketWidth(this.#reader, ...width));
  }

  /**
   * Returns ORDER BY and the following clauses. Columns in ORDER BY are replaced by their positions in the SELECT list.
   */
  #order(start: number, positions: ReadonlyMap<string, number>): string {
    const { length } = this.#reader.tokens;
    const isOrdered = /^order$/i.test(this.#reader.source(this.#reader.tokens[start]));
    const end = isOrdered ? this.#find(start + 1, length, ENDS_ROWS) : start;
    const ordered = isOrdered
      ? this.#parts(start + 2, end).map(([from, to]) => {
          let last = to;
          while (
            last > from &&
            /^(?:asc|desc|nulls|first|last)$/i.test(this.#reader.source(this.#reader.tokens[last - 1]))
          )
            last -= 1;
          const position = positions.get(this.#normalized(from, last));
          if (position === undefined) throw unsupported();
          return `${String(position)} ${this.#reader.sourceBetween(last, to)}`.trim();
        })
      : [];
    const rest = end < length ? ` ${this.#reader.sourceBetween(end, length)}` : '';
    return `${ordered.length === 0 ? '' : ` ORDER BY ${ordered.join(', ')}`}${rest}`;
  }

  /** Returns the end of an item's expression, and its alias. */
  #named(start: number, end: number): { expressionEnd: number; alias: string | undefined } {
    const alias = nameOf(this.#reader.text, this.#reader.tokens[end - 1]);
    const before = this.#reader.tokens[end - 2];
    if (alias === undefined || end - start < 2 || before === undefined) return { expressionEnd: end, alias: undefined };
    if (/^as$/i.test(this.#reader.source(before))) return { expressionEnd: end - 2, alias };
    const follows = before.kind === 'word' || before.kind === 'quoted' || this.#reader.source(before) === ')';
    return follows ? { expressionEnd: end - 1, alias } : { expressionEnd: end, alias: undefined };
  }

  /** Returns the name of the function if the range is a single call. */
  #callOver(start: number, end: number): string | undefined {
    return this.#calls.around.closing[start + 1] === end - 1 ? this.#calls.nameAt(start) : undefined;
  }

  #arguments(call: number): [number, number][] {
    return this.#parts(call + 2, this.#calls.around.closing[call + 1] ?? 0);
  }

  /** Returns a normalized text of the range, by which equal expressions can be found; a single name is folded. */
  #normalized(start: number, end: number): string {
    const { text, tokens } = this.#reader;
    const name = end - start === 1 ? nameOf(text, tokens[start]) : undefined;
    return (
      name ??
      tokens
        .slice(start, end)
        .map((token) => (token.kind === 'word' ? this.#reader.source(token).toLowerCase() : this.#reader.source(token)))
        .join(' ')
    );
  }

  #parts(start: number, end: number): [number, number][] {
    const parts: [number, number][] = [];
    for (let index = start, from = start; index < end; index = this.#after(index)) {
      const next = this.#after(index);
      if (this.#isComma(index)) from = index + 1;
      if (next >= end || this.#isComma(next)) parts.push([from, Math.min(next, end)]);
    }
    return parts;
  }

  #isComma(index: number): boolean {
    return this.#reader.source(this.#reader.tokens[index]) === ',';
  }

  #find(start: number, end: number, word: RegExp): number {
    let index = start;
    while (
      index < end &&
      !(
        this.#reader.tokens[index]?.kind === 'word' &&
        word.test(this.#reader.source(this.#reader.tokens[index]).toUpperCase())
      )
    ) {
      index = this.#after(index);
    }
    return Math.min(index, end);
  }

  /** Returns the position after a token, or after the parentheses that it opens. */
  #after(index: number): number {
    const token = this.#reader.tokens[index];
    const opens = token?.kind === 'punctuation' && this.#reader.source(token) === '(';
    return (opens ? (this.#calls.around.closing[index] ?? index) : index) + 1;
  }
}

/**
 * Returns the positions of the items by each name that GROUP BY and ORDER BY may use; the first item wins if a name is
 * ambiguous.
 */
function positionsByName(items: readonly Item[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [at, { name, written }] of items.entries()) {
    for (const called of [name, written, String(at + 1)]) if (!positions.has(called)) positions.set(called, at + 1);
  }
  return positions;
}

function unsupported(): Refused {
  return new Refused(
    'time_bucket_gapfill is supported in SELECT time_bucket_gapfill(ts, width), … FROM … GROUP BY …, ordered by output columns: ' +
      'write generate_series(…) LEFT JOIN for other queries',
  );
}

/**
 * Returns a query that adds a row for each missing bucket of each group, between the first and last bucket of that
 * group.
 */
function filled(rows: string, bucket: string, keys: readonly string[], items: readonly Item[], step: string): string {
  const series = keys.length === 0 ? '1' : `pg_catalog.dense_rank() OVER (ORDER BY ${keys.join(', ')})`;
  const values = items.filter(({ kind }) => kind === 'value');
  const counts = values.flatMap(({ column, fill }) =>
    fill === undefined
      ? []
      : [
          `, pg_catalog.count(r.${column}) OVER (PARTITION BY s.series ORDER BY s.${bucket}) AS ${column}_before`,
          `, pg_catalog.count(r.${column}) OVER (PARTITION BY s.series ORDER BY s.${bucket} DESC) AS ${column}_after`,
        ],
  );
  const named = items.map((item) => `${outputOf(item, bucket)} AS ${quoteIdentifier(item.name)}`);
  return (
    `WITH sluice_grouped AS (${rows}), sluice_rows AS (SELECT ${series} AS series, g.* FROM sluice_grouped AS g), ` +
    `sluice_buckets AS (SELECT ${['series', ...keys].join(', ')}, ` +
    `pg_catalog.generate_series(pg_catalog.min(${bucket}), pg_catalog.max(${bucket}), ${step}) AS ${bucket} ` +
    `FROM sluice_rows GROUP BY ${['series', ...keys].join(', ')}), ` +
    `sluice_filled AS (SELECT ${[`s.series`, `s.${bucket}`, ...keys.map((key) => `s.${key}`), ...values.map(({ column }) => `r.${column}`)].join(', ')}` +
    `${counts.join('')} FROM sluice_buckets AS s LEFT JOIN sluice_rows AS r ` +
    `ON r.series OPERATOR(pg_catalog.=) s.series AND r.${bucket} OPERATOR(pg_catalog.=) s.${bucket}) ` +
    `SELECT ${named.join(', ')} FROM sluice_filled`
  );
}

function outputOf({ column, fill }: Item, bucket: string): string {
  if (fill === undefined) return column;
  const before = `(PARTITION BY series, ${column}_before ORDER BY ${bucket})`;
  const after = `(PARTITION BY series, ${column}_after ORDER BY ${bucket} DESC)`;
  const previous = `pg_catalog.first_value(${column}) OVER ${before}`;
  const next = `pg_catalog.first_value(${column}) OVER ${after}`;
  switch (fill.toUpperCase()) {
    case 'NULL':
      return column;
    case 'PREV':
      return previous;
    case 'NEXT':
      return next;
    case 'LINEAR': {
      const seconds = (time: string): string => `EXTRACT(epoch FROM ${time})`;
      const start = seconds(`pg_catalog.first_value(${bucket}) OVER ${before}`);
      const end = seconds(`pg_catalog.first_value(${bucket}) OVER ${after}`);
      const part =
        `((${seconds(bucket)} OPERATOR(pg_catalog.-) ${start}) OPERATOR(pg_catalog./) ` +
        `(${end} OPERATOR(pg_catalog.-) ${start}))`;
      return (
        `CASE WHEN ${column} IS NOT NULL THEN ${column} ELSE ` +
        `${previous} OPERATOR(pg_catalog.+) ((${next} OPERATOR(pg_catalog.-) ${previous}) OPERATOR(pg_catalog.*) ${part}) END`
      );
    }
    default:
      if (!/^[-+]?[0-9.]+$/.test(fill))
        throw new Refused('interpolate requires PREV, NEXT, LINEAR, NULL or a number', '22023');
      return `COALESCE(${column}, ${fill})`;
  }
}
