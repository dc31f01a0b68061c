import type { DatabaseSnapshot } from './table-watch.ts';
import { Timeline } from './timeline.ts';

/**
 * Determines which transactions' rows may be read if the order of rows must be preserved. A transaction is released when it is
 * below the oldest running one, or at the latest after the delay since it had started.
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
