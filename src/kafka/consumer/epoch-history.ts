import { epochStarts, type EpochStart } from '../records/record-batch.ts';

/** Leader elections are rare; only the most recent epochs are kept. */
const MAX_STARTS = 64;

/** Leader epochs of the records that were read from a partition, as far as they are known. */
export class EpochHistory {
  /** Leader epoch of the record before the first position; `undefined` if unknown, or if older epochs were dropped. */
  #base: number | undefined;
  /** Ascending by epoch and by offset. */
  #starts: EpochStart[] = [];

  reset(base: number | undefined): void {
    this.#base = base;
    this.#starts = [];
  }

  /** Adds the epochs of consecutive record batches. */
  add(batches: Buffer): void {
    const started = epochStarts(batches, this.#starts.at(-1)?.epoch ?? this.#base ?? -1);
    if (started.length === 0) return;
    const starts = [...this.#starts, ...started];
    // The oldest epochs are dropped, so `#base` is no longer the epoch before the first remaining start.
    if (starts.length > MAX_STARTS) this.#base = undefined;
    this.#starts = starts.slice(-MAX_STARTS);
  }

  /** Removes the epochs that start at or after an offset. */
  truncateAt(offset: number): void {
    this.#starts = this.#starts.filter(({ from }) => from < offset);
  }

  /** Returns the leader epoch of the record before an offset, or `undefined` if it is unknown. */
  epochBefore(offset: number): number | undefined {
    return this.#starts.findLast(({ from }) => from < offset)?.epoch ?? this.#base;
  }
}
