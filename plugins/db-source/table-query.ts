import { quoteIdentifier, quoteLiteral, quoteTable } from '../database/index.ts';
import type { TablePosition } from './position.ts';
import type { Stretch } from './rows-behind.ts';
import type { TableOrder } from './table-order.ts';
import type { SourceTable } from './tables.ts';
import { XID_MODULUS } from './transaction-set.ts';

const MICROS_PER_DAY = 86_400_000_000n;

/** What a query of new rows reaches to. */
export interface Reach {
  /** Length of time from the next existing row on; `undefined`: up to now. */
  readonly windowMs: number | undefined;
  /** Rows after this time are read with the transaction that wrote them; `undefined`: none are. */
  readonly writersFrom: bigint | undefined;
  /** So are rows of transactions from this one on, of whatever time. */
  readonly writtenFrom?: bigint | undefined;
  /** Only rows of transactions below this one. */
  readonly writtenBelow: bigint | undefined;
}

/**
 * The statements by which a table is read in order, ties in order of the unique key: a row comparison with the last row read, so
 * that a tie is neither cut nor repeated. Without a unique key ties are ordered by all columns, and those read already are
 * counted off. Values are literals: each statement is planned for what it asks.
 *
 * Results have the table's columns, then one more: the transaction that wrote the row, or NULL.
 *
 * They run with the search path of the session, which what a row is made by may need (row-level security), so that all that they
 * name themselves has its schema.
 */
export class TableQuery {
  readonly #order: TableOrder;
  readonly #source: string;
  readonly #holdBackMs: number;
  readonly #by: string;
  readonly #withoutZone: boolean;
  readonly #tellsWriter: boolean;
  readonly #ordering: string;
  readonly #identity: readonly string[];

  constructor(table: SourceTable, order: TableOrder, holdBackMs: number) {
    this.#order = order;
    this.#source = table.source;
    this.#holdBackMs = table.tellsWriter ? 0 : holdBackMs;
    this.#tellsWriter = table.tellsWriter;
    this.#by = `t.${quoteIdentifier(order.column.name)}`;
    this.#withoutZone = order.column.type.endsWith('without time zone');
    const columns = table.columns.map(({ name }) => `t.${quoteIdentifier(name)}`);
    const ties =
      order.key === undefined
        ? columns.map((column) => `${column}::pg_catalog.text COLLATE pg_catalog."C"`)
        : order.key.map(({ name }) => `t.${quoteIdentifier(name)}`);
    this.#ordering = [this.#by, ...ties].join(', ');
    this.#identity = identity(table);
  }

  /** New rows after a position. */
  rows(position: TablePosition, reach: Reach): string {
    const from = reach.writersFrom;
    const noted = reach.writtenFrom === undefined ? '' : ` OR ${writtenFrom(reach.writtenFrom)}`;
    const writer =
      from === undefined || !this.#tellsWriter
        ? 'NULL'
        : `CASE WHEN ${this.#by} ${GREATER} ${this.#value(from)}${noted} THEN ${WRITER} END`;
    const conditions = [...this.#newConditions(position, reach), ...this.#windowEnd(position, reach, undefined)];
    return `SELECT t.*, ${writer} FROM ${this.#source}${this.#where(conditions)} ORDER BY ${this.#ordering}${this.#skipTies(position)}`;
  }

  /** A condition: there are new rows after a position. */
  isThereMore(position: TablePosition, reach: Reach): string {
    const conditions = [...this.#newConditions(position, reach), ...this.#nowEnd()];
    if (position.kind !== 'counted' || position.rowsAt === 0) return this.#exists(conditions);
    const tie = `${this.#by} ${EQUAL} ${this.#value(position.at)}`;
    const ties = `(SELECT pg_catalog.count(*) FROM ${this.#source} WHERE ${tie}) ${GREATER} ${String(position.rowsAt)}`;
    return `(${ties} OR ${this.#exists([`${this.#by} ${GREATER} ${this.#value(position.at)}`, ...this.#nowEnd()])})`;
  }

  /**
   * New rows after a position, and before them rows after `from` that transactions from `transaction` on have written: in one
   * statement, so that one snapshot tells of all. The last column is a sign (`-` behind the position, `=` of the very time of one
   * without a key, `+` after it) and the transaction that wrote the row.
   */
  lookBack(position: TablePosition, from: bigint, transaction: bigint, reach: Reach): string {
    if (position.at === undefined) throw new Error('nothing can be late before anything was read');
    const at = this.#value(position.at);
    const isCounted = position.kind === 'counted';
    const after = isCounted ? `${this.#by} ${GREATER} ${at}` : this.#after(position);
    const tie = isCounted ? ` WHEN ${this.#by} ${EQUAL} ${at} THEN '='` : '';
    const conditions = [
      `${this.#by} ${GREATER} ${this.#value(from)}`,
      `(${this.#after(position)} OR ${writtenFrom(transaction)})`,
      ...this.#windowEnd(position, reach, at),
    ];
    const sign = `CASE WHEN ${after} THEN '+'${tie} ELSE '-' END`;
    return `SELECT t.*, (${sign}) ${operator('||')} ${WRITER} FROM ${this.#source}${this.#where(conditions)} ORDER BY ${this.#ordering}`;
  }

  /** Rows of a stretch of time behind a position that transactions from one on have written. */
  behind({ low, high, transaction }: Stretch, position: TablePosition): string {
    const conditions = [
      `${this.#by} ${operator('>=')} ${this.#value(low)}`,
      `${this.#by} ${LESS_OR_EQUAL} ${this.#value(high)}`,
      `NOT (${this.#after(position)})`,
      writtenFrom(transaction),
    ];
    return `SELECT t.*, ${WRITER} FROM ${this.#source}${this.#where(conditions)} ORDER BY ${this.#ordering}`;
  }

  /** How many rows are after one position and not after another. */
  count(after: TablePosition, notAfter: TablePosition): string {
    const conditions = [this.#after(after), `NOT (${this.#after(notAfter)})`];
    return `SELECT pg_catalog.count(*) FROM ${this.#source}${this.#where(conditions)}`;
  }

  /** Rows of the last time that were read; some may have been deleted since, and rows of later times must not be skipped. */
  #skipTies(position: TablePosition): string {
    if (position.kind !== 'counted' || position.rowsAt === 0) return '';
    const tie = `${this.#by} ${EQUAL} ${this.#value(position.at)}`;
    return ` OFFSET (SELECT least(${String(position.rowsAt)}, pg_catalog.count(*)) FROM ${this.#source} WHERE ${tie})`;
  }

  #where(conditions: readonly string[]): string {
    return ` WHERE ${[...this.#identity, ...conditions].join(' AND ')}`;
  }

  #exists(conditions: readonly string[]): string {
    return `EXISTS (SELECT FROM ${this.#source}${this.#where(conditions)})`;
  }

  #newConditions(position: TablePosition, { writtenBelow }: Reach): string[] {
    const conditions = [this.#after(position)];
    if (this.#order.kind === 'time') conditions.push(`${this.#by} ${GREATER} '-infinity'`);
    if (writtenBelow !== undefined) conditions.push(`NOT ${writtenFrom(writtenBelow)}`);
    return conditions;
  }

  #after(position: TablePosition): string {
    if (position.at === undefined) return `${this.#by} IS NOT NULL`;
    const value = this.#value(position.at);
    return position.kind === 'after'
      ? `${this.#beside()} ${this.#besideGreater()} ${this.#besideValues(position)}`
      : `${this.#by} ${operator('>=')} ${value}`;
  }

  #beside(): string {
    return `(${[this.#by, ...(this.#order.key ?? []).map(({ name }) => `t.${quoteIdentifier(name)}`)].join(', ')})`;
  }

  /** The operator of a comparison of rows is one for all columns: types with operators of an extension need the search path. */
  #besideGreater(): string {
    const isBuiltIn = (this.#order.key ?? []).every(({ operatorSchema }) => operatorSchema === 'pg_catalog');
    return isBuiltIn ? GREATER : '>';
  }

  #besideValues(position: TablePosition & { kind: 'after' }): string {
    const types = (this.#order.key ?? []).map(({ baseType }) => baseType);
    const values = position.key.map(
      (text, index) => `${quoteLiteral(text)}::pg_catalog.text::${types[index] ?? 'pg_catalog.text'}`,
    );
    return `(${[this.#value(position.at), ...values].join(', ')})`;
  }

  /** Now is a bound of the index here, and only a filter in the window's other bound. */
  #nowEnd(): string[] {
    if (this.#order.kind !== 'time') return [];
    const now = this.#withoutZone ? "(pg_catalog.now() AT TIME ZONE 'UTC')" : 'pg_catalog.now()';
    const end = this.#holdBackMs === 0 ? now : `(${now} ${operator('-')} ${milliseconds(this.#holdBackMs)})`;
    return [`${this.#by} ${LESS_OR_EQUAL} ${end}`];
  }

  /** The window begins with the next row there is, which one look into the index tells: empty stretches are jumped. */
  #windowEnd(position: TablePosition, reach: Reach, atLeast: string | undefined): string[] {
    if (this.#order.kind !== 'time' || reach.windowMs === undefined) return this.#nowEnd();
    const isTied = position.kind === 'counted';
    const after = isTied ? `${this.#by} ${GREATER} ${this.#value(position.at)}` : this.#after(position);
    const least = `SELECT pg_catalog.min(${this.#by}) FROM ${this.#source}`;
    const first = `(${least}${this.#where([after, `${this.#by} ${GREATER} '-infinity'`])})`;
    const end = `(${first} ${PLUS} ${milliseconds(reach.windowMs)})`;
    // Ties of the last time may have come where no later row is.
    const notBefore = atLeast ?? (isTied ? this.#value(position.at) : undefined);
    const bound = notBefore === undefined ? end : `coalesce(${end}, ${notBefore})`;
    return [...this.#nowEnd(), `${this.#by} ${LESS_OR_EQUAL} ${bound}`];
  }

  #value(at: bigint): string {
    if (this.#order.kind === 'number') return `'${String(at)}'::${this.#order.column.baseType}`;
    // Days and microseconds of a day are exact where an interval is multiplied, which goes through a double.
    const micros = ((at % MICROS_PER_DAY) + MICROS_PER_DAY) % MICROS_PER_DAY;
    const days = (at - micros) / MICROS_PER_DAY;
    const epoch = `'epoch'::pg_catalog.${this.#withoutZone ? 'timestamp' : 'timestamptz'}`;
    const times = (count: bigint, unit: string) => `(${String(count)} ${operator('*')} interval '1 ${unit}')`;
    return `((${epoch} ${PLUS} ${times(days, 'day')}) ${PLUS} ${times(micros, 'microsecond')})`;
  }
}

const WRITER = 't.xmin::pg_catalog.text';
const GREATER = operator('>');
const EQUAL = operator('=');
const LESS_OR_EQUAL = operator('<=');
const PLUS = operator('+');

/** All of them bind equally tightly, and tighter than comparisons do. */
function operator(sign: string): string {
  return `OPERATOR(pg_catalog.${sign})`;
}

/**
 * A condition that is false where another table has taken the name since: its rows are read from its beginning once the change is
 * noticed, and would be read twice if the reader of the old table read them too. The table is locked before the name is resolved.
 */
function identity({ oid, name }: SourceTable): string[] {
  if (oid === undefined) return [];
  const named = `${quoteLiteral(quoteTable(name))}::pg_catalog.regclass::pg_catalog.oid`;
  return [`${named} ${EQUAL} ${oid}::pg_catalog.oid`];
}

/** The row was written by this transaction or a later one. */
function writtenFrom(transaction: bigint): string {
  const low = String(transaction % XID_MODULUS);
  const writer = `${WRITER}::pg_catalog.int8`;
  const distance = `(((${writer} ${operator('-')} ${low}) ${PLUS} 4294967296) ${operator('&')} 4294967295)`;
  return `(${writer} ${GREATER} 2 AND ${distance} ${operator('<')} 2147483648)`;
}

function milliseconds(count: number): string {
  return `interval '${String(count)} milliseconds'`;
}
