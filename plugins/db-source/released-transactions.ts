import type { DatabaseSnapshot } from './table-watch.ts';
import { Timeline } from './timeline.ts';

/**
 * Determines the transactions whose rows may be read if the order of rows must be preserved. A transaction is released as soon as
 * no earlier transaction is running. If an earlier one keeps running, the transaction is released when the delay has passed since
 * the first snapshot in which the transaction had started.
 */
export class ReleasedTransactions {
  readonly #timeline = new Timeline();
  #seen: { readonly at: bigint; readonly next: bigint }[] = [];
  #released = 0n;

  below(snapshot: DatabaseSnapshot, delayMs: number): bigint | undefined {
    const { nowMicros, transactions } = snapshot;
    if (transactions === undefined) return undefined;
    if (this.#timeline.enter(snapshot)) {
      this.#seen = [];
      this.#released = 0n;
    }
    if (this.#seen.at(-1)?.at !== nowMicros) this.#seen.push({ at: nowMicros, next: transactions.next });
    const due = nowMicros - BigInt(delayMs) * 1000n;
    while (this.#seen[0] !== undefined && this.#seen[0].at <= due) this.#released = this.#seen.shift()?.next ?? 0n;
    return this.#released > transactions.oldest ? this.#released : transactions.oldest;
  }
}
