import type { StoredPosition } from './position.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { firstTransactionBefore, MAX_AGE, Timeline } from './timeline.ts';
import { isWrittenFrom, TransactionSet } from './transaction-set.ts';

/** A snapshot of a server that provides transaction ids. */
export type SnapshotOfTransactions = DatabaseSnapshot & {
  readonly transactions: NonNullable<DatabaseSnapshot['transactions']>;
};

/**
 * Tracks which rows of a table's recent past were sent, to detect rows with a time before the position that are committed later.
 *
 * Invariant: A row after `from` and up to the position was sent if and only if its transaction is below `transaction` or in
 * the set `sent`. Transactions suffice because the rows of a transaction (or subtransaction) become visible at once, and
 * because the search of the past and the subsequent reading use the same snapshot. After the promotion of a standby, the
 * invariant does not hold, so all rows after `from` are treated as not sent.
 */
export class LateRows {
  readonly #delayMicros: bigint;
  #transaction: bigint;
  #from: bigint;
  #sent: TransactionSet;
  readonly #timeline: Timeline;

  /** Resumes from a stored position, or starts at the snapshot. */
  constructor(delayMs: number, snapshot: SnapshotOfTransactions, stored: StoredPosition | undefined) {
    this.#delayMicros = BigInt(delayMs) * 1000n;
    const { nowMicros, transactions } = snapshot;
    const { oldest, next } = transactions;
    const { transaction, position, from, sent, timeline } = stored ?? {};
    const wasStored = transaction !== undefined && next - transaction < MAX_AGE && position?.at !== undefined;
    this.#transaction = wasStored ? transaction : oldest;
    this.#sent = TransactionSet.parse(this.#transaction, wasStored ? (sent?.() ?? '') : '');
    const until = wasStored && position.at !== undefined && position.at < nowMicros ? position.at : nowMicros;
    this.#from = wasStored && from !== undefined ? from : until - this.#delayMicros;
    this.#timeline = new Timeline(wasStored ? timeline : undefined);
    // If the stored transaction has not started yet, the offset belongs to another server.
    if (this.#transaction > next) this.#reset(snapshot);
    this.enter(snapshot);
  }

  get timeline(): number | undefined {
    return this.#timeline.current;
  }

  /** All rows up to the position that were written by transactions below this one were sent. */
  get transaction(): bigint {
    return this.#transaction;
  }

  /** Rows up to this time (in microseconds since the epoch) are not searched again. */
  get from(): bigint {
    return this.#from;
  }

  /**
   * Returns a function that formats the set `sent` as text: the transactions from `transaction` on whose rows up to the
   * position were sent. `undefined` if the set is empty.
   */
  get sent(): (() => string) | undefined {
    return this.#sent.text();
  }

  /** True if a look back in a new snapshot is advisable, because it would remove many transactions from the set `sent`. */
  get isCrowded(): boolean {
    return this.#sent.isCrowded;
  }

  /** Returns true if rows of this transaction (as stored in xmin) up to the position were sent. */
  wasSent(transaction: number): boolean {
    return !isWrittenFrom(transaction, this.#transaction) || this.#sent.has(transaction);
  }

  /** Called with each snapshot before rows are read in it. */
  enter(snapshot: DatabaseSnapshot): void {
    if (this.#timeline.enter(snapshot)) this.#reset(snapshot);
  }

  /** Treats recent rows as not sent. A promoted server may have lost rows that were sent, and received other rows instead. */
  #reset({ transactions, replayedMicros = this.#from + this.#delayMicros }: DatabaseSnapshot): void {
    if (transactions === undefined) return;
    this.#transaction = firstTransactionBefore(transactions.next);
    this.#sent = new TransactionSet(this.#transaction);
    const from = replayedMicros - this.#delayMicros;
    if (from < this.#from) this.#from = from;
  }

  /** Records that a row of this transaction with a time after `from` was sent. */
  recordSent(transaction: number): void {
    if (isWrittenFrom(transaction, this.#transaction)) this.#sent.add(transaction);
  }

  /**
   * Called after the past up to the position was searched in `snapshot`. `seen` contains the transactions of the rows
   * that the search returned. It is empty if the position is before the recent past, so that no search was necessary.
   */
  settle({ nowMicros, transactions }: DatabaseSnapshot, seen: Iterable<number> = []): void {
    if (transactions === undefined) return;
    for (const transaction of seen) this.recordSent(transaction);
    this.#transaction = transactions.oldest;
    this.#from = nowMicros - this.#delayMicros;
    this.#sent = this.#sent.from(this.#transaction);
  }
}
