import { isWrittenFrom, TransactionSet } from './transaction-set.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import type { StoredPosition } from './position.ts';

/** Half of what the numbering of transactions can tell apart. */
const MAX_AGE = 2n ** 31n;

/**
 * What was sent of the recent past of one table, so that rows committed behind its position can be told from those sent.
 *
 * It holds that of the rows up to the position and after `from` those were sent that transactions below `transaction`, and those
 * of a set beside it, had written. That suffices because the rows of a transaction are seen all at once or not at all, of a
 * subtransaction too, and because the past is looked through, and read on from, in one snapshot.
 */
export class LateRows {
  readonly #delayMicros: bigint;
  #transaction: bigint;
  #from: bigint;
  #sent: TransactionSet;

  /** Takes up where a stored position ended, or begins now. */
  constructor(delayMs: number, now: bigint, oldest: bigint, next: bigint, stored: StoredPosition | undefined) {
    this.#delayMicros = BigInt(delayMs) * 1000n;
    const { transaction, position, from, sent } = stored ?? {};
    // One that has not begun yet is another server's.
    const isKnown =
      transaction !== undefined && transaction <= next && next - transaction < MAX_AGE && position?.at !== undefined;
    this.#transaction = isKnown ? transaction : oldest;
    this.#sent = TransactionSet.parse(this.#transaction, isKnown ? (sent?.() ?? '') : '');
    const until = isKnown && position.at !== undefined && position.at < now ? position.at : now;
    this.#from = isKnown && from !== undefined ? from : until - this.#delayMicros;
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
