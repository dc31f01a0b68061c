import { quoteIdentifier, quoteLiteral } from '../../src/index.ts';
import type { TablePosition } from './position.ts';
import type { TableOrder } from './table-order.ts';
import type { SourceTable } from './tables.ts';

const MICROS_PER_DAY = 86_400_000_000n;
/** Transaction ids in rows have 32 bits and wrap around; those below 3 are not transactions. */
const XID_MODULUS = 4_294_967_296n;

/** What a query of new rows reaches to. */
export interface Reach {
  /** Length of time from the next existing row on; `undefined`: up to now. */
  readonly windowMs: number | undefined;
  /** Rows after this time are read with the transaction that wrote them; `undefined`: none are. */
  readonly writersFrom: bigint | undefined;
  /** Only rows of transactions below this one. */
  readonly writtenBelow: bigint | undefined;
}

/**
 * The statements by which a table is read in order, ties in order of the unique key: a row comparison with the last row read, so
 * that a tie is neither cut nor repeated. Without a unique key ties are ordered by all columns, and those read already are
 * counted off. Values are literals: each statement is planned for what it asks.
 *
 * Results have the table's columns, then one more: the transaction that wrote the row, or NULL.
 */
export class TableQuery {
  readonly #order: TableOrder;
  readonly #source: string;
  readonly #holdBackMs: number;
  readonly #by: string;
  readonly #withoutZone: boolean;
  readonly #tellsWriter: boolean;
  readonly #ordering: string;

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
        ? columns.map((column) => `${column}::text COLLATE "C"`)
        : order.key.map(({ name }) => `t.${quoteIdentifier(name)}`);
    this.#ordering = [this.#by, ...ties].join(', ');
  }

  /** New rows after a position. */
  rows(position: TablePosition, reach: Reach): string {
    const from = reach.writersFrom;
    const writer =
      from === undefined || !this.#tellsWriter
        ? 'NULL'
        : `CASE WHEN ${this.#by} > ${this.#value(from)} THEN ${WRITER} END`;
    const conditions = [...this.#newConditions(position, reach), ...this.#windowEnd(position, reach, undefined)];
    return `SELECT t.*, ${writer} FROM ${this.#source}${where(conditions)} ORDER BY ${this.#ordering}${this.#skipTies(position)}`;
  }

  /** A condition: there are new rows after a position. */
  isThereMore(position: TablePosition, reach: Reach): string {
    const conditions = [...this.#newConditions(position, reach), ...this.#nowEnd()];
    if (position.kind !== 'counted' || position.rowsAt === 0) return this.#exists(conditions);
    const tie = `${this.#by} = ${this.#value(position.at)}`;
    const ties = `(SELECT count(*) FROM ${this.#source} WHERE ${tie}) > ${String(position.rowsAt)}`;
    return `(${ties} OR ${this.#exists([`${this.#by} > ${this.#value(position.at)}`, ...this.#nowEnd()])})`;
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
    const after = isCounted ? `${this.#by} > ${at}` : this.#after(position);
    const tie = isCounted ? ` WHEN ${this.#by} = ${at} THEN '='` : '';
    const conditions = [
      `${this.#by} > ${this.#value(from)}`,
      `(${this.#after(position)} OR ${writtenFrom(transaction)})`,
      ...this.#windowEnd(position, reach, at),
    ];
    const sign = `CASE WHEN ${after} THEN '+'${tie} ELSE '-' END`;
    return `SELECT t.*, ${sign} || ${WRITER} FROM ${this.#source}${where(conditions)} ORDER BY ${this.#ordering}`;
  }

  /** Rows of the last time that were read; some may have been deleted since, and rows of later times must not be skipped. */
  #skipTies(position: TablePosition): string {
    if (position.kind !== 'counted' || position.rowsAt === 0) return '';
    const tie = `${this.#by} = ${this.#value(position.at)}`;
    return ` OFFSET (SELECT least(${String(position.rowsAt)}, count(*)) FROM ${this.#source} WHERE ${tie})`;
  }

  #exists(conditions: readonly string[]): string {
    return `EXISTS (SELECT FROM ${this.#source}${where(conditions)})`;
  }

  #newConditions(position: TablePosition, { writtenBelow }: Reach): string[] {
    const conditions = [this.#after(position)];
    if (this.#order.kind === 'time') conditions.push(`${this.#by} > '-infinity'`);
    if (writtenBelow !== undefined) conditions.push(`NOT ${writtenFrom(writtenBelow)}`);
    return conditions;
  }

  #after(position: TablePosition): string {
    if (position.at === undefined) return `${this.#by} IS NOT NULL`;
    const value = this.#value(position.at);
    return position.kind === 'after'
      ? `${this.#beside()} > ${this.#besideValues(position)}`
      : `${this.#by} >= ${value}`;
  }

  #beside(): string {
    return `(${[this.#by, ...(this.#order.key ?? []).map(({ name }) => `t.${quoteIdentifier(name)}`)].join(', ')})`;
  }

  #besideValues(position: TablePosition & { kind: 'after' }): string {
    const types = (this.#order.key ?? []).map(({ type }) => type);
    const values = position.key.map((text, index) => `${quoteLiteral(text)}::text::${types[index] ?? 'text'}`);
    return `(${[this.#value(position.at), ...values].join(', ')})`;
  }

  /** Now is a bound of the index here, and only a filter in the window's other bound. */
  #nowEnd(): string[] {
    if (this.#order.kind !== 'time') return [];
    const now = this.#withoutZone ? "(now() AT TIME ZONE 'UTC')" : 'now()';
    const back = this.#holdBackMs === 0 ? '' : ` - ${milliseconds(this.#holdBackMs)}`;
    return [`${this.#by} <= ${now}${back}`];
  }

  /** The window begins with the next row there is, which one look into the index tells: empty stretches are jumped. */
  #windowEnd(position: TablePosition, reach: Reach, atLeast: string | undefined): string[] {
    if (this.#order.kind !== 'time' || reach.windowMs === undefined) return this.#nowEnd();
    const isTied = position.kind === 'counted';
    const after = isTied ? `${this.#by} > ${this.#value(position.at)}` : this.#after(position);
    const first = `(SELECT min(${this.#by}) FROM ${this.#source}${where([after, `${this.#by} > '-infinity'`])})`;
    const end = `${first} + ${milliseconds(reach.windowMs)}`;
    // Ties of the last time may have come where no later row is.
    const least = atLeast ?? (isTied ? this.#value(position.at) : undefined);
    const bound = least === undefined ? end : `coalesce(${end}, ${least})`;
    return [...this.#nowEnd(), `${this.#by} <= ${bound}`];
  }

  #value(at: bigint): string {
    if (this.#order.kind === 'number') return `${String(at)}::${this.#order.column.type}`;
    // Days and microseconds of a day are exact where an interval is multiplied, which goes through a double.
    const micros = ((at % MICROS_PER_DAY) + MICROS_PER_DAY) % MICROS_PER_DAY;
    const days = (at - micros) / MICROS_PER_DAY;
    const type = this.#withoutZone ? 'timestamp' : 'timestamptz';
    return `(${type} 'epoch' + ${String(days)} * interval '1 day' + ${String(micros)} * interval '1 microsecond')`;
  }
}

const WRITER = 't.xmin::text';

/** The row was written by this transaction or a later one. */
function writtenFrom(transaction: bigint): string {
  const low = String(transaction % XID_MODULUS);
  return `(t.xmin::text::int8 > 2 AND ((t.xmin::text::int8 - ${low} + 4294967296) & 4294967295) < 2147483648)`;
}

/** The same of a transaction as rows have it. */
export function isWrittenFrom(writer: number, transaction: bigint): boolean {
  return writer > 2 && ((writer - Number(transaction % XID_MODULUS)) | 0) >= 0;
}

function milliseconds(count: number): string {
  return `interval '${String(count)} milliseconds'`;
}

function where(conditions: readonly string[]): string {
  return ` WHERE ${conditions.join(' AND ')}`;
}
