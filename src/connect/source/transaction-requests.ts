import type { SourceRecord } from '../../data/record.ts';
import { isRecord, type PolledPart } from './source-block.ts';
import type { SourceTransactions } from '../api.ts';
import type { TransactionEnd } from './polled-batch.ts';

/** Collects the requests of a task that defines transaction boundaries (Connect's WorkerTransactionContext). */
export class TransactionRequests implements SourceTransactions {
  readonly #commitOn = new Set<SourceRecord>();
  readonly #abortOn = new Set<SourceRecord>();
  #next: TransactionEnd['outcome'] | undefined;

  commit(record?: SourceRecord): void {
    if (record === undefined) this.#next ??= 'commit';
    else this.#commitOn.add(record);
  }

  abort(record?: SourceRecord): void {
    if (record === undefined) this.#next = 'abort';
    else this.#abortOn.add(record);
  }

  /** Returns the requested transaction ends within and after the records of one poll, and clears them. */
  endsWithin(sources: readonly PolledPart[]): TransactionEnd[] {
    const ends: TransactionEnd[] = [];
    if (this.#commitOn.size > 0 || this.#abortOn.size > 0) {
      sources.forEach((source, index) => {
        if (!isRecord(source)) return;
        if (this.#abortOn.has(source)) ends.push({ after: index + 1, outcome: 'abort' });
        else if (this.#commitOn.has(source)) ends.push({ after: index + 1, outcome: 'commit' });
      });
      this.#commitOn.clear();
      this.#abortOn.clear();
    }
    if (this.#next !== undefined) ends.push({ after: sources.length, outcome: this.#next });
    this.#next = undefined;
    return ends;
  }
}
