import type { StoredPosition } from './position.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { firstTransactionBefore, MAX_AGE, Timeline } from './timeline.ts';
import { isWrittenFrom, TransactionSet } from './transaction-set.ts';

/** A snapshot of a server that tells its transactions. */
export type SnapshotOfTransactions = DatabaseSnapshot & {
  readonly transactions: NonNullable<DatabaseSnapshot['transactions']>;
};

/**
 * What was sent of the recent past of one table, so that rows committed behind its position can be told from those sent.
 *
 * It holds that of the rows up to the position and after `from` those were sent that transactions below `transaction`, and those
 * of a set beside it, had written. That suffices because the rows of a transaction are seen all at once or not at all, of a
 * subtransaction too, and because the past is looked through, and read on from, in one snapshot.
 *
 * After a promotion of a standby none of that holds, and all rows after `from` count as not sent.
 */
export class LateRows {
  readonly #delayMicros: bigint;
  #transaction: bigint;
  #from: bigint;
  #sent: TransactionSet;
  readonly #timeline: Timeline;

  /** Takes up where a stored position ended, or begins now. */
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
    // A transaction that has not begun yet is another server's.
    if (this.#transaction > next) this.#forget(snapshot);
    this.enter(snapshot);
  }

  get timeline(): number | undefined {
    return this.#timeline.current;
  }

  /** All rows up to the position were sent that transactions below this one had written. */
  get transaction(): bigint {
    return this.#transaction;
  }

  /** Rows up to this time are not looked at again. */
  get from(): bigint {
    return this.#from;
  }

  /** Transactions beside those below `transaction` whose rows up to the position were sent, as they are now. */
  get sent(): (() => string) | undefined {
    return this.#sent.text();
  }

  /** A new snapshot would let much be forgotten. */
  get isCrowded(): boolean {
    return this.#sent.isCrowded;
  }

  /** Whether rows up to the position were sent that this transaction (as rows have it) had written. */
  wasSent(transaction: number): boolean {
    return !isWrittenFrom(transaction, this.#transaction) || this.#sent.has(transaction);
  }

  /** Called with each snapshot before anything is read in it. */
  enter(snapshot: DatabaseSnapshot): void {
    if (this.#timeline.enter(snapshot)) this.#forget(snapshot);
  }

  /** A server that was promoted may have lost, and got again, what was committed after its last transaction of the old primary. */
  #forget({ transactions, replayedMicros = this.#from + this.#delayMicros }: DatabaseSnapshot): void {
    if (transactions === undefined) return;
    this.#transaction = firstTransactionBefore(transactions.next);
    this.#sent = new TransactionSet(this.#transaction);
    const from = replayedMicros - this.#delayMicros;
    if (from < this.#from) this.#from = from;
  }

  /** A row after `from` was read on from the position. */
  readOn(transaction: number): void {
    if (isWrittenFrom(transaction, this.#transaction)) this.#sent.add(transaction);
  }

  /**
   * The past up to the position was looked through after `snapshot` was taken, and rows of the transactions `seen` were met; without
   * any it need not be, because the position lies before it.
   */
  settle({ nowMicros, transactions }: DatabaseSnapshot, seen: Iterable<number> = []): void {
    if (transactions === undefined) return;
    for (const transaction of seen) this.readOn(transaction);
    this.#transaction = transactions.oldest;
    this.#from = nowMicros - this.#delayMicros;
    this.#sent = this.#sent.from(this.#transaction);
  }
}
