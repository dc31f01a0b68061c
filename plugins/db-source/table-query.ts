import { quoteIdentifier, quoteLiteral, quoteTable } from '../database/index.ts';
import type { TablePosition } from './position.ts';
import type { TimeRange } from './notified-ranges.ts';
import type { TableOrder } from './table-order.ts';
import type { SourceTable } from './tables.ts';
import { XID_MODULUS } from './transaction-set.ts';

const MICROS_PER_DAY = 86_400_000_000n;

/** The bounds of a query for new rows. */
export interface QueryBounds {
  /** Length of the time range, which starts with the next existing row; `undefined` for all rows up to the current time. */
  readonly windowMs: number | undefined;
  /** Rows after this time (in microseconds) are read with the transaction that wrote them; `undefined` for none. */
  readonly writersFrom: bigint | undefined;
  /** Rows of transactions from this one on are also read with their transaction, regardless of their time. */
  readonly writtenFrom?: bigint | undefined;
  /** Limits the rows to those of transactions below this one. */
  readonly writtenBelow: bigint | undefined;
}

/**
 * The statements that read a table in order. Rows with the same value (ties) are ordered by the unique key, and a row comparison
 * with the last row ensures that no row is skipped or repeated. Without a unique key, ties are ordered by all columns, and
 * as many of them are skipped as were already read. Values are literals, so that each statement is planned for them.
 *
 * Results have the columns of the table and an additional column with the transaction that wrote the row, or NULL. The statements
 * run with the session's search path, because row-level security policies may need it. So that the path does not affect the
 * statements themselves, the names of their tables, functions, types and operators are qualified. The only exception is the
 * comparison of rows whose key has a type of an extension.
 */
export class TableQuery {
  readonly #order: TableOrder;
  readonly #source: string;
  readonly #holdBackMs: number;
  readonly #by: string;
  readonly #withoutZone: boolean;
  readonly #hasXmin: boolean;
  readonly #ordering: string;
  readonly #identity: readonly string[];

  constructor(table: SourceTable, order: TableOrder, holdBackMs: number) {
    this.#order = order;
    this.#source = table.source;
    this.#holdBackMs = table.hasXmin ? 0 : holdBackMs;
    this.#hasXmin = table.hasXmin;
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

  /** Selects the new rows after a position. */
  rows(position: TablePosition, reach: QueryBounds): string {
    const from = reach.writersFrom;
    const orRecent = reach.writtenFrom === undefined ? '' : ` OR ${writtenFrom(reach.writtenFrom)}`;
    const writer =
      from === undefined || !this.#hasXmin
        ? 'NULL'
        : `CASE WHEN ${this.#by} ${GREATER} ${this.#value(from)}${orRecent} THEN ${WRITER} END`;
    const conditions = [...this.#newConditions(position, reach), ...this.#windowEnd(position, reach, undefined)];
    return `SELECT t.*, ${writer} FROM ${this.#source}${this.#where(conditions)} ORDER BY ${this.#ordering}${this.#skipTies(position)}`;
  }

  /** Returns a condition that is true if there are new rows after a position. */
  hasNewRows(position: TablePosition, reach: QueryBounds): string {
    const conditions = [...this.#newConditions(position, reach), ...this.#nowEnd()];
    if (position.kind !== 'counted' || position.rowsAt === 0) return this.#exists(conditions);
    const tie = `${this.#by} ${EQUAL} ${this.#value(position.at)}`;
    const ties = `(SELECT pg_catalog.count(*) FROM ${this.#source} WHERE ${tie}) ${GREATER} ${String(position.rowsAt)}`;
    return `(${ties} OR ${this.#exists([`${this.#by} ${GREATER} ${this.#value(position.at)}`, ...this.#nowEnd()])})`;
  }

  /**
   * Selects the new rows after a position, and before them the rows after `from` and up to the position that were written by
   * transactions from `transaction` on. A single statement ensures that both are read in one snapshot. The last column contains a
   * sign followed by the transaction that wrote the row. The sign is `-` for a row before the position, `+` for a row after it,
   * and `=` for a row with the time of a position without a key.
   */
  lookBack(position: TablePosition, from: bigint, transaction: bigint, reach: QueryBounds): string {
    if (position.at === undefined) throw new Error('there are no late rows before anything was read');
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

  /** Selects the rows in a time range before a position that were written by transactions from `transaction` on. */
  inRange({ low, high, transaction }: TimeRange, position: TablePosition): string {
    const conditions = [
      `${this.#by} ${operator('>=')} ${this.#value(low)}`,
      `${this.#by} ${LESS_OR_EQUAL} ${this.#value(high)}`,
      `NOT (${this.#after(position)})`,
      writtenFrom(transaction),
    ];
    return `SELECT t.*, ${WRITER} FROM ${this.#source}${this.#where(conditions)} ORDER BY ${this.#ordering}`;
  }

  /**
   * Counts the rows after one position and up to another. All rows with the value of a position without a key count as rows
   * after it, even those that were already read.
   */
  count(after: TablePosition, notAfter: TablePosition): string {
    const conditions = [this.#after(after), `NOT (${this.#after(notAfter)})`];
    return `SELECT pg_catalog.count(*) FROM ${this.#source}${this.#where(conditions)}`;
  }

  /** Skips the rows with the position's time that were already read, but at most as many as still exist. */
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

  #newConditions(position: TablePosition, { writtenBelow }: QueryBounds): string[] {
    const conditions = [this.#after(position)];
    if (this.#order.kind === 'time') conditions.push(`${this.#by} ${GREATER} '-infinity'`);
    if (writtenBelow !== undefined) conditions.push(`NOT ${writtenFrom(writtenBelow)}`);
    return conditions;
  }

  #after(position: TablePosition): string {
    if (position.at === undefined) return `${this.#by} IS NOT NULL`;
    const value = this.#value(position.at);
    return position.kind === 'after'
      ? `${this.#keyTuple()} ${this.#tupleGreater()} ${this.#tupleValues(position)}`
      : `${this.#by} ${operator('>=')} ${value}`;
  }

  #keyTuple(): string {
    return `(${[this.#by, ...(this.#order.key ?? []).map(({ name }) => `t.${quoteIdentifier(name)}`)].join(', ')})`;
  }

  /**
   * The operator of a row comparison, which applies to all columns. It can be qualified only if all key columns have
   * built-in operators. PostgreSQL finds the operators of extensions by the search path.
   */
  #tupleGreater(): string {
    const isBuiltIn = (this.#order.key ?? []).every(({ operatorSchema }) => operatorSchema === 'pg_catalog');
    return isBuiltIn ? GREATER : '>';
  }

  #tupleValues(position: TablePosition & { kind: 'after' }): string {
    const types = (this.#order.key ?? []).map(({ baseType }) => baseType);
    const values = position.key.map(
      (text, index) => `${quoteLiteral(text)}::pg_catalog.text::${types[index] ?? 'pg_catalog.text'}`,
    );
    return `(${[this.#value(position.at), ...values].join(', ')})`;
  }

  /** As a separate condition, the current time is an index bound. As part of the window's bound, it would only be a filter. */
  #nowEnd(): string[] {
    if (this.#order.kind !== 'time') return [];
    const now = this.#withoutZone ? "(pg_catalog.now() AT TIME ZONE 'UTC')" : 'pg_catalog.now()';
    const end = this.#holdBackMs === 0 ? now : `(${now} ${operator('-')} ${milliseconds(this.#holdBackMs)})`;
    return [`${this.#by} ${LESS_OR_EQUAL} ${end}`];
  }

  /** The window starts with the next existing row, so that gaps are skipped. A single index lookup finds that row. */
  #windowEnd(position: TablePosition, reach: QueryBounds, atLeast: string | undefined): string[] {
    if (this.#order.kind !== 'time' || reach.windowMs === undefined) return this.#nowEnd();
    const isTied = position.kind === 'counted';
    const after = isTied ? `${this.#by} ${GREATER} ${this.#value(position.at)}` : this.#after(position);
    const least = `SELECT pg_catalog.min(${this.#by}) FROM ${this.#source}`;
    const first = `(${least}${this.#where([after, `${this.#by} ${GREATER} '-infinity'`])})`;
    const end = `(${first} ${PLUS} ${milliseconds(reach.windowMs)})`;
    // Even without later rows, there may be new rows with the time of the position.
    const notBefore = atLeast ?? (isTied ? this.#value(position.at) : undefined);
    const bound = notBefore === undefined ? end : `coalesce(${end}, ${notBefore})`;
    return [...this.#nowEnd(), `${this.#by} ${LESS_OR_EQUAL} ${bound}`];
  }

  #value(at: bigint): string {
    if (this.#order.kind === 'number') return `'${String(at)}'::${this.#order.column.baseType}`;
    // The time is split into days and microseconds of the day, because a product with an interval is only exact for small numbers.
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

/** A qualified operator. All of them have the same precedence, which is higher than that of unqualified comparisons. */
function operator(sign: string): string {
  return `OPERATOR(pg_catalog.${sign})`;
}

/**
 * Returns a condition that is false if the name now belongs to another table. When the change is detected, the rows of the new
 * table are read from the start, so the reader of the old table must not read them as well. PostgreSQL
 * locks the table in FROM before it evaluates this condition, so the name cannot be given to another table between the two.
 */
function identity({ oid, name }: SourceTable): string[] {
  if (oid === undefined) return [];
  const named = `${quoteLiteral(quoteTable(name))}::pg_catalog.regclass::pg_catalog.oid`;
  return [`${named} ${EQUAL} ${oid}::pg_catalog.oid`];
}

/** Returns a condition that is true if the row was written by this transaction or a later one. */
function writtenFrom(transaction: bigint): string {
  const low = String(transaction % XID_MODULUS);
  const writer = `${WRITER}::pg_catalog.int8`;
  const distance = `(((${writer} ${operator('-')} ${low}) ${PLUS} 4294967296) ${operator('&')} 4294967295)`;
  return `(${writer} ${GREATER} 2 AND ${distance} ${operator('<')} 2147483648)`;
}

/** As a product, because before PostgreSQL 15 the text of an interval cannot have 2,147,483,648 of a unit. */
function milliseconds(count: number): string {
  return `(${String(count)} ${operator('*')} interval '1 millisecond')`;
}
