import type { SnapshotOfTransactions } from './late-rows.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { firstTransactionBefore, Timeline } from './timeline.ts';
import { isWrittenFrom } from './transaction-set.ts';

/** Maximum number of ranges. If there are more, the two nearest ranges are merged. */
const MAX_RANGES = 16;
/** Maximum number of tracked transactions. If there are more, all transactions are forgotten, and their notifications are ignored. */
const MAX_TRANSACTIONS = 100_000;
/** Maximum number of recorded keys of rows with the same time. */
const MAX_TIES = 10_000;
/** The notifications of a transaction are assumed to have arrived this long after its end. */
const ARRIVED_AFTER_MICROS = 10_000_000n;
const MICROS_PER_SECOND = 1_000_000n;
const MAX_FAILURES = 3;
/** Maximum number of notifications that wait for a snapshot. If there are more, the oldest two are merged. */
const MAX_PENDING = 64;
/**
 * Any user can send notifications with an invalid transaction. A notification is dropped if its transaction has not started
 * after this number of snapshots.
 */
const MAX_SNAPSHOTS = 3;

/** An inclusive time range, in microseconds, into which transactions from `transaction` on have inserted rows. */
export interface TimeRange {
  readonly low: bigint;
  readonly high: bigint;
  readonly transaction: bigint;
  readonly failures?: number;
}

/** The start of a query. The query sent all rows with times after `at`, and the rows with the time `at` whose key is in `tied`. */
export interface ReadFrom {
  readonly at: bigint;
  readonly tied: Set<string> | undefined;
}

interface Sent {
  from: ReadFrom | undefined;
  readonly ranges: Pick<TimeRange, 'low' | 'high'>[];
}

/**
 * Tracks the time ranges before the position of a table into which rows were inserted, according to notifications. The
 * transaction of a notification may also have inserted rows after the position, which are read as usual. Therefore, for all
 * transactions from `knownFrom` on, this class also records which of their rows were sent. `knownFrom` advances when the
 * notifications of earlier transactions must have arrived. The rows of a transaction become visible at once, so each range is
 * read only once for a transaction.
 */
export class NotifiedRanges {
  readonly #timeline: Timeline;
  #knownFrom: bigint;
  #hasOverflowed = false;
  #ranges: TimeRange[] = [];
  #pending: { readonly range: TimeRange; readonly snapshots: number }[] = [];
  #advancedAt = 0n;
  #sent = new Map<number, Sent>();
  /** The oldest running transaction, recorded at most once per second for the last ten seconds. */
  #oldest: { readonly at: bigint; readonly oldest: bigint }[] = [];

  constructor({ transactions, timeline }: SnapshotOfTransactions) {
    this.#knownFrom = transactions.next;
    this.#timeline = new Timeline(timeline);
  }

  /** The first transaction from which on this class knows, for each transaction, which rows were sent. */
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

  /** Applies a snapshot. May be called repeatedly with the same snapshot. */
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
    if (this.#hasOverflowed) {
      this.#hasOverflowed = false;
      this.#oldest = [];
      this.#forgetBefore(transactions.next);
    }
    const last = this.#oldest.at(-1);
    if (last !== undefined && nowMicros - last.at < MICROS_PER_SECOND) return;
    this.#oldest.push({ at: nowMicros, oldest: transactions.oldest });
    let ended: bigint | undefined;
    while (this.#oldest[0] !== undefined && nowMicros - this.#oldest[0].at >= ARRIVED_AFTER_MICROS) {
      ended = this.#oldest.shift()?.oldest;
    }
    if (ended !== undefined && ended > this.#knownFrom) this.#forgetBefore(ended);
  }

  /** Adds a notification. It is ignored if its transaction is before `knownFrom` at the next snapshot. */
  notify(range: TimeRange): void {
    if (this.#hasOverflowed) return;
    this.#pending.push({ range, snapshots: 0 });
    if (this.#pending.length <= MAX_PENDING) return;
    const [first, second] = this.#pending.splice(0, 2);
    if (first !== undefined && second !== undefined) {
      this.#pending.push({ range: merged(first.range, second.range), snapshots: 0 });
    }
  }

  #add(range: TimeRange): void {
    if (this.#hasOverflowed || range.transaction < this.#knownFrom || range.low > range.high) return;
    const sorted = [...this.#ranges, range].sort((a, b) => (a.low < b.low ? -1 : 1));
    for (let index = 1; index < sorted.length;) {
      const [before, after] = [sorted[index - 1], sorted[index]];
      if (before !== undefined && after !== undefined && after.low <= before.high) {
        sorted.splice(index - 1, 2, merged(before, after));
      } else index++;
    }
    if (sorted.length > MAX_RANGES) mergeNearest(sorted);
    this.#ranges = sorted;
  }

  /** Removes and returns the next range between two times; `undefined` if there is none. Ranges outside these times are dropped. */
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

  /** Adds the unread part of a range, from `low` on, again. A range is dropped after a limited number of attempts. */
  requeue(range: TimeRange, low: bigint): void {
    const failures = (range.failures ?? 0) + 1;
    if (failures < MAX_FAILURES) this.#add({ ...range, low, failures });
  }

  /** Returns true if the row of a transaction (as stored in xmin) with this time and key was sent. */
  wasSent(transaction: number, at: bigint, key: () => string): boolean {
    const sent = this.#sent.get(transaction);
    if (sent === undefined) return false;
    const { from, ranges } = sent;
    if (from !== undefined && (at > from.at || (at === from.at && from.tied?.has(key()) === true))) return true;
    return ranges.some(({ low, high }) => low <= at && at <= high);
  }

  /** Records that a row of the transaction was sent by a query that read all rows from `from` on. */
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
    if (this.#hasOverflowed || !isWrittenFrom(transaction, this.#knownFrom)) return undefined;
    if (this.#sent.size >= MAX_TRANSACTIONS) {
      this.#hasOverflowed = true;
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

/** Records the key of a sent row whose time is the start of the query. */
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
