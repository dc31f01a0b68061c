import { quoteIdentifier, quoteTable, type Table, type TableColumn } from '../../src/index.ts';

/** Where reading of a table has come to. */
export type TablePosition =
  /** Nothing read yet: rows from this time on. Times are microseconds since the epoch in the server's own digits. */
  | { readonly kind: 'from'; readonly micros: string }
  /** With a unique key: the time and key of the last row, as the server's text. */
  | { readonly kind: 'after'; readonly micros: string; readonly key: readonly string[] }
  /** Without one: how many rows of exactly this time were read. */
  | { readonly kind: 'counted'; readonly micros: string; readonly rowsAtTime: number };

/** The time before which PostgreSQL has none. */
export const EARLIEST_MICROS = '-210866803200000000';

/** The column that rows are ordered by: the table's time column, else its first timestamp column. */
export function timeColumnOf(table: Table): TableColumn | undefined {
  return (
    table.columns.find(({ role }) => role === 'time') ?? table.columns.find(({ type }) => type.startsWith('timestamp'))
  );
}

/** The unique key without the time; `undefined` when nothing makes rows of one time different. */
export function keyColumnsOf(table: Table, time: TableColumn): TableColumn[] | undefined {
  if (table.key.length === 0) return undefined;
  return table.key
    .filter((name) => name !== time.name)
    .flatMap((name) => table.columns.find((column) => column.name === name) ?? []);
}

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly string[];
}

/**
 * The next rows of a table in order of time, ties in order of the unique key: a row comparison with the last row read, so that
 * a tie is neither cut nor repeated. A query covers `intervalMs` from the next existing row on (0: up to now), which jumps
 * empty stretches. Without a unique key ties are ordered by all columns, and those read already are counted off.
 *
 * The result has the table's columns, then the time in microseconds, then the key without the time.
 */
export class TableQuery {
  readonly #source: string;
  readonly #time: string;
  readonly #withoutZone: boolean;
  readonly #keyColumns: readonly TableColumn[] | undefined;
  readonly #select: string;
  readonly #order: string;
  readonly #interval: string | undefined;

  constructor(table: Table, time: TableColumn, intervalMs: number) {
    const columns = table.columns.map(({ name }) => `t.${quoteIdentifier(name)}`);
    this.#source = `${quoteTable(table.name)} t`;
    this.#time = `t.${quoteIdentifier(time.name)}`;
    this.#withoutZone = time.type.endsWith('without time zone');
    this.#keyColumns = keyColumnsOf(table, time);
    const key = (this.#keyColumns ?? []).map(({ name }) => `t.${quoteIdentifier(name)}`);
    const micros = `(extract(epoch from ${this.#time}) * 1000000)::int8`;
    this.#select = [...columns, micros, ...key].join(', ');
    const ties = this.#keyColumns === undefined ? columns.map((column) => `${column}::text collate "C"`) : key;
    this.#order = [this.#time, ...ties].join(', ');
    this.#interval = intervalMs === 0 ? undefined : `interval '${String(intervalMs)} milliseconds'`;
  }

  next(position: TablePosition, limit: number): Statement {
    const parameters = [position.micros, String(limit)];
    const start = this.#instant('$1');
    let after = `${this.#time} >= ${start}`;
    let firstNew = after;
    let offset = '';
    if (position.kind === 'after') {
      const key = this.#keyColumns ?? [];
      const values = key.map(({ type }, index) => `$${String(index + 3)}::text::${type}`);
      const columns = key.map(({ name }) => `t.${quoteIdentifier(name)}`);
      after = `(${[this.#time, ...columns].join(', ')}) > (${[start, ...values].join(', ')})`;
      firstNew = after;
      parameters.push(...position.key);
    } else if (position.kind === 'counted') {
      // Ties of the last time may still come; the window begins at the next time there is.
      firstNew = `${this.#time} > ${start}`;
      offset = ' offset $3::int8';
      parameters.push(String(position.rowsAtTime));
    }
    const real = `${this.#time} > '-infinity'`;
    const sql = `select ${this.#select} from ${this.#source} where ${after} and ${real} and ${this.#time} <= ${this.#end(firstNew, start)} order by ${this.#order} limit $2::int8${offset}`;
    return { sql, parameters };
  }

  #end(firstNew: string, start: string): string {
    const now = this.#withoutZone ? "(now() at time zone 'UTC')" : 'now()';
    if (this.#interval === undefined) return now;
    const first = `(select min(${this.#time}) from ${this.#source} where ${firstNew} and ${this.#time} > '-infinity')`;
    return `least(${now}, coalesce(${first}, ${start}) + ${this.#interval})`;
  }

  /** An instant from microseconds since the epoch, without going through a double. */
  #instant(parameter: string): string {
    const instant = `(timestamptz 'epoch' + (${parameter}::int8 / 1000000) * interval '1 second' + (${parameter}::int8 % 1000000) * interval '1 microsecond')`;
    return this.#withoutZone ? `(${instant} at time zone 'UTC')` : instant;
  }
}
