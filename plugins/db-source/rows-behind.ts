import type { SnapshotOfTransactions } from './late-rows.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { firstTransactionBefore, Timeline } from './timeline.ts';
import { isWrittenFrom } from './transaction-set.ts';

/** More are merged, the nearest ones first. */
const MAX_STRETCHES = 16;
/** With more transactions met all are forgotten, and notices of them do not count. */
const MAX_TRANSACTIONS = 100_000;
/** Rows of one time whose keys are remembered. */
const MAX_TIES = 10_000;
/** The notice of a transaction that ended this long ago has arrived. */
const HEARD_AFTER_MICROS = 10_000_000n;
const MICROS_PER_SECOND = 1_000_000n;
const MAX_FAILURES = 3;
/** Notices that wait for a snapshot; more are merged. */
const MAX_HEARD = 64;
/** A notice can come from any user. If its transaction has not begun after this many snapshots, the notice is dropped. */
const MAX_SNAPSHOTS = 3;

/** A stretch of time, with both its ends, in microseconds, into which transactions from `transaction` on have inserted rows. */
export interface Stretch {
  readonly low: bigint;
  readonly high: bigint;
  readonly transaction: bigint;
  readonly failures?: number;
}

/** From where on a query read: rows of later times were sent, and of that very time those with these keys. */
export interface ReadFrom {
  readonly at: bigint;
  readonly tied: Set<string> | undefined;
}

interface Sent {
  from: ReadFrom | undefined;
  readonly stretches: Pick<Stretch, 'low' | 'high'>[];
}

/**
 * Rows that, by the notices of the database, were inserted far behind the position of a table, and which rows of their transactions were sent
 * already: a transaction may have inserted rows that were read on from the position as well.
 *
 * It knows that of transactions from a first one on, which moves on when notices of earlier ones have surely arrived. The rows of a
 * transaction are seen all at once or not at all, so that each stretch is read once for each of them.
 */
export class RowsBehind {
  readonly #timeline: Timeline;
  #knownFrom: bigint;
  #isForgetful = false;
  #stretches: Stretch[] = [];
  #heard: { readonly stretch: Stretch; readonly snapshots: number }[] = [];
  #advancedAt = 0n;
  #sent = new Map<number, Sent>();
  /** The oldest transactions at snapshots of the last seconds. */
  #oldest: { readonly at: bigint; readonly oldest: bigint }[] = [];

  constructor({ transactions, timeline }: SnapshotOfTransactions) {
    this.#knownFrom = transactions.next;
    this.#timeline = new Timeline(timeline);
  }

  /** What was sent of transactions from this one on is known. */
  get knownFrom(): bigint {
    return this.#knownFrom;
  }

  get isWaiting(): boolean {
    return this.#stretches.length > 0;
  }

  /** Something was heard of that waits for a snapshot. */
  get hasHeard(): boolean {
    return this.#heard.length > 0;
  }

  /** The same snapshot may come again. */
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
    const heard = this.#heard;
    this.#heard = [];
    for (const { stretch, snapshots } of heard) {
      if (stretch.transaction < transactions.next) this.#add(stretch);
      else if (snapshots + 1 < MAX_SNAPSHOTS) this.#heard.push({ stretch, snapshots: snapshots + 1 });
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

  /** A notice; one of a transaction that nothing is known of at the next snapshot has no effect. */
  hear(stretch: Stretch): void {
    if (this.#isForgetful) return;
    this.#heard.push({ stretch, snapshots: 0 });
    if (this.#heard.length <= MAX_HEARD) return;
    const [first, second] = this.#heard.splice(0, 2);
    if (first !== undefined && second !== undefined) {
      this.#heard.push({ stretch: joined(first.stretch, second.stretch), snapshots: 0 });
    }
  }

  #add(stretch: Stretch): void {
    if (this.#isForgetful || stretch.transaction < this.#knownFrom || stretch.low > stretch.high) return;
    const sorted = [...this.#stretches, stretch].sort((a, b) => (a.low < b.low ? -1 : 1));
    for (let index = 1; index < sorted.length;) {
      const [before, after] = [sorted[index - 1], sorted[index]];
      if (before !== undefined && after !== undefined && after.low <= before.high) {
        sorted.splice(index - 1, 2, joined(before, after));
      } else index++;
    }
    if (sorted.length > MAX_STRETCHES) joinNearest(sorted);
    this.#stretches = sorted;
  }

  /** The next stretch to read between two times, if any; what lies outside of them is not read. */
  take(low: bigint, high: bigint): Stretch | undefined {
    for (let stretch = this.#stretches.shift(); stretch !== undefined; stretch = this.#stretches.shift()) {
      const cut = {
        ...stretch,
        low: stretch.low > low ? stretch.low : low,
        high: stretch.high < high ? stretch.high : high,
      };
      if (cut.low <= cut.high) return cut;
    }
    return undefined;
  }

  /** A stretch could not be read to its end; it is read again from `low` on, but not for ever. */
  putBack(stretch: Stretch, low: bigint): void {
    const failures = (stretch.failures ?? 0) + 1;
    if (failures < MAX_FAILURES) this.#add({ ...stretch, low, failures });
  }

  /** Whether a row was sent that this transaction (as rows have it) had written. */
  wasSent(transaction: number, at: bigint, key: () => string): boolean {
    const sent = this.#sent.get(transaction);
    if (sent === undefined) return false;
    const { from, stretches } = sent;
    if (from !== undefined && (at > from.at || (at === from.at && from.tied?.has(key()) === true))) return true;
    return stretches.some(({ low, high }) => low <= at && at <= high);
  }

  /** A row of the transaction was sent by a query that read all rows from there on. */
  readOn(transaction: number, from: ReadFrom): void {
    const sent = this.#of(transaction);
    if (sent !== undefined) sent.from ??= from;
  }

  /** Of these transactions all rows of a stretch were sent. */
  readBehind(transactions: Iterable<number>, low: bigint, high: bigint): void {
    const stretch = { low, high };
    for (const transaction of transactions) this.#of(transaction)?.stretches.push(stretch);
  }

  #of(transaction: number): Sent | undefined {
    const known = this.#sent.get(transaction);
    if (known !== undefined) return known;
    if (this.#isForgetful || !isWrittenFrom(transaction, this.#knownFrom)) return undefined;
    if (this.#sent.size >= MAX_TRANSACTIONS) {
      this.#isForgetful = true;
      this.#stretches = [];
      this.#heard = [];
      this.#sent.clear();
      return undefined;
    }
    const sent: Sent = { from: undefined, stretches: [] };
    this.#sent.set(transaction, sent);
    return sent;
  }

  #forgetBefore(first: bigint): void {
    this.#knownFrom = first;
    for (const transaction of this.#sent.keys()) if (!isWrittenFrom(transaction, first)) this.#sent.delete(transaction);
    this.#stretches = this.#stretches.map((stretch) =>
      stretch.transaction < first ? { ...stretch, transaction: first } : stretch,
    );
  }
}

/** Remembers the key of a row that was sent of the time from which a query read. */
export function addTie({ tied }: ReadFrom, key: string): void {
  if (tied !== undefined && tied.size < MAX_TIES) tied.add(key);
}

function joined(a: Stretch, b: Stretch): Stretch {
  return {
    low: a.low < b.low ? a.low : b.low,
    high: a.high > b.high ? a.high : b.high,
    transaction: a.transaction < b.transaction ? a.transaction : b.transaction,
    failures: Math.max(a.failures ?? 0, b.failures ?? 0),
  };
}

function joinNearest(sorted: Stretch[]): void {
  const gaps = sorted.slice(1).map(({ low }, index) => low - (sorted[index]?.high ?? low));
  const least = gaps.reduce((best, gap, index) => (gap < (gaps[best] ?? gap) ? index : best), 0);
  const [a, b] = [sorted[least], sorted[least + 1]];
  if (a !== undefined && b !== undefined) sorted.splice(least, 2, joined(a, b));
}
