import type { SnapshotOfTransactions } from './late-rows.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { firstTransactionBefore, Timeline } from './timeline.ts';
import { isWrittenFrom } from './transaction-set.ts';

/** Further ranges are merged with the nearest one. */
const MAX_STRETCHES = 16;
/** If more transactions are seen, all are forgotten, and their notifications are ignored. */
const MAX_TRANSACTIONS = 100_000;
/** Limit for remembered keys of rows with the same time. */
const MAX_TIES = 10_000;
/** Notifications of transactions that ended this long ago have arrived. */
const HEARD_AFTER_MICROS = 10_000_000n;
const MICROS_PER_SECOND = 1_000_000n;
const MAX_FAILURES = 3;
/** Limit for notifications waiting for a snapshot; further ones are merged. */
const MAX_HEARD = 64;
/** Anyone can send notifications; one whose transaction has not started after this many snapshots is dropped. */
const MAX_SNAPSHOTS = 3;

/** An inclusive time range, in microseconds, into which transactions from `transaction` on have inserted rows. */
export interface TimeRange {
  readonly low: bigint;
  readonly high: bigint;
  readonly transaction: bigint;
  readonly failures?: number;
}

/** The start of a query: rows with later times were sent, and rows with this time if their key is in `tied`. */
export interface ReadFrom {
  readonly at: bigint;
  readonly tied: Set<string> | undefined;
}

interface Sent {
  from: ReadFrom | undefined;
  readonly ranges: Pick<TimeRange, 'low' | 'high'>[];
}

/**
 * Rows that, according to notifications, were inserted long before the position of a table, and which rows of their
 * transactions were already sent: a transaction may also have inserted rows that were read past the position. This is
 * known for transactions from `knownFrom` on, which advances once notifications of earlier ones must have arrived. The
 * rows of a transaction become visible at once, so each range is read once for each of them.
 */
export class NotifiedRanges {
  readonly #timeline: Timeline;
  #knownFrom: bigint;
  #isForgetful = false;
  #ranges: TimeRange[] = [];
  #pending: { readonly range: TimeRange; readonly snapshots: number }[] = [];
  #advancedAt = 0n;
  #sent = new Map<number, Sent>();
  /** The oldest running transactions in snapshots of the last seconds. */
  #oldest: { readonly at: bigint; readonly oldest: bigint }[] = [];

  constructor({ transactions, timeline }: SnapshotOfTransactions) {
    this.#knownFrom = transactions.next;
    this.#timeline = new Timeline(timeline);
  }

  /** For transactions from this one on, it is known which rows were sent. */
  get knownFrom(): bigint {
    return this.#knownFrom;
  }

  get hasRanges(): boolean {
    return this.#ranges.length > 0;
  }

  /** True if notifications are waiting for a snapshot. */
  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** May be called repeatedly with the same snapshot. */
  advance(snapshot: DatabaseSnapshot): void {
    const { nowMicros, transactions } = snapshot;
    if (transactions === undefined) return;
    if (this.#timeline.enter(snapshot)) {
      this.#sent.clear();
      this.#oldest = [];
      this.#advancedAt = 0n;
      this.#knownFrom = firstTransactionBefore(transactions.next);
    }
    if (nowMicros <= this.#advancedAt) return;
    this.#advancedAt = nowMicros;
    const pending = this.#pending;
    this.#pending = [];
    for (const { range, snapshots } of pending) {
      if (range.transaction < transactions.next) this.#add(range);
      else if (snapshots + 1 < MAX_SNAPSHOTS) this.#pending.push({ range, snapshots: snapshots + 1 });
    }
    if (this.#isForgetful) {
      this.#isForgetful = false;
      this.#oldest = [];
      this.#forgetBefore(transactions.next);
    }
    const last = this.#oldest.at(-1);
    if (last !== undefined && nowMicros - last.at < MICROS_PER_SECOND) return;
    this.#oldest.push({ at: nowMicros, oldest: transactions.oldest });
    let ended: bigint | undefined;
    while (this.#oldest[0] !== undefined && nowMicros - this.#oldest[0].at >= HEARD_AFTER_MICROS) {
      ended = this.#oldest.shift()?.oldest;
    }
    if (ended !== undefined && ended > this.#knownFrom) this.#forgetBefore(ended);
  }

  /** Adds a notification. It has no effect if nothing is known about its transaction at the next snapshot. */
  notify(range: TimeRange): void {
    if (this.#isForgetful) return;
    this.#pending.push({ range, snapshots: 0 });
    if (this.#pending.length <= MAX_HEARD) return;
    const [first, second] = this.#pending.splice(0, 2);
    if (first !== undefined && second !== undefined) {
      this.#pending.push({ range: merged(first.range, second.range), snapshots: 0 });
    }
  }

  #add(range: TimeRange): void {
    if (this.#isForgetful || range.transaction < this.#knownFrom || range.low > range.high) return;
    const sorted = [...this.#ranges, range].sort((a, b) => (a.low < b.low ? -1 : 1));
    for (let index = 1; index < sorted.length;) {
      const [before, after] = [sorted[index - 1], sorted[index]];
      if (before !== undefined && after !== undefined && after.low <= before.high) {
        sorted.splice(index - 1, 2, merged(before, after));
      } else index++;
    }
    if (sorted.length > MAX_STRETCHES) mergeNearest(sorted);
    this.#ranges = sorted;
  }

  /** The next range to read between two times, if any; ranges outside are not read. */
  take(low: bigint, high: bigint): TimeRange | undefined {
    for (let range = this.#ranges.shift(); range !== undefined; range = this.#ranges.shift()) {
      const cut = {
        ...range,
        low: range.low > low ? range.low : low,
        high: range.high < high ? range.high : high,
      };
      if (cut.low <= cut.high) return cut;
    }
    return undefined;
  }

  /** Requeues the part of a range from `low` on that could not be read, for a limited number of attempts. */
  requeue(range: TimeRange, low: bigint): void {
    const failures = (range.failures ?? 0) + 1;
    if (failures < MAX_FAILURES) this.#add({ ...range, low, failures });
  }

  /** Returns true if a row of this transaction (as stored in xmin) was sent. */
  wasSent(transaction: number, at: bigint, key: () => string): boolean {
    const sent = this.#sent.get(transaction);
    if (sent === undefined) return false;
    const { from, ranges } = sent;
    if (from !== undefined && (at > from.at || (at === from.at && from.tied?.has(key()) === true))) return true;
    return ranges.some(({ low, high }) => low <= at && at <= high);
  }

  /** Records that a row of the transaction was sent by a query that read all rows from there on. */
  recordReadFrom(transaction: number, from: ReadFrom): void {
    const sent = this.#of(transaction);
    if (sent !== undefined) sent.from ??= from;
  }

  /** Records that all rows of these transactions in a range were sent. */
  recordRange(transactions: Iterable<number>, low: bigint, high: bigint): void {
    const range = { low, high };
    for (const transaction of transactions) this.#of(transaction)?.ranges.push(range);
  }

  #of(transaction: number): Sent | undefined {
    const known = this.#sent.get(transaction);
    if (known !== undefined) return known;
    if (this.#isForgetful || !isWrittenFrom(transaction, this.#knownFrom)) return undefined;
    if (this.#sent.size >= MAX_TRANSACTIONS) {
      this.#isForgetful = true;
      this.#ranges = [];
      this.#pending = [];
      this.#sent.clear();
      return undefined;
    }
    const sent: Sent = { from: undefined, ranges: [] };
    this.#sent.set(transaction, sent);
    return sent;
  }

  #forgetBefore(first: bigint): void {
    this.#knownFrom = first;
    for (const transaction of this.#sent.keys()) if (!isWrittenFrom(transaction, first)) this.#sent.delete(transaction);
    this.#ranges = this.#ranges.map((range) => (range.transaction < first ? { ...range, transaction: first } : range));
  }
}

/** Records the key of a sent row that has the start time of the query. */
export function addTie({ tied }: ReadFrom, key: string): void {
  if (tied !== undefined && tied.size < MAX_TIES) tied.add(key);
}

function merged(a: TimeRange, b: TimeRange): TimeRange {
  return {
    low: a.low < b.low ? a.low : b.low,
    high: a.high > b.high ? a.high : b.high,
    transaction: a.transaction < b.transaction ? a.transaction : b.transaction,
    failures: Math.max(a.failures ?? 0, b.failures ?? 0),
  };
}

function mergeNearest(sorted: TimeRange[]): void {
  const gaps = sorted.slice(1).map(({ low }, index) => low - (sorted[index]?.high ?? low));
  const nearest = gaps.reduce((best, gap, index) => (gap < (gaps[best] ?? gap) ? index : best), 0);
  const [a, b] = [sorted[nearest], sorted[nearest + 1]];
  if (a !== undefined && b !== undefined) sorted.splice(nearest, 2, merged(a, b));
}
