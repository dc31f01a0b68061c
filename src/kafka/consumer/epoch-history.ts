import { epochStarts, type EpochStart } from '../records/record-batch.ts';

/** Leaders change seldom; of a log with more changes the oldest are forgotten. */
const MAX_STARTS = 64;

/** Under which leader epochs the records of a partition were written that this consumer has read, as far as it knows. */
export class EpochHistory {
  /** Of the record before the first position. */
  #base: number | undefined;
  /** In the order of epochs and offsets. */
  #starts: EpochStart[] = [];

  restart(base: number | undefined): void {
    this.#base = base;
    this.#starts = [];
  }

  /** Takes in record batches that follow on those before. */
  read(batches: Buffer): void {
    const started = epochStarts(batches, this.#starts.at(-1)?.epoch ?? this.#base ?? -1);
    if (started.length > 0) this.#starts = [...this.#starts, ...started].slice(-MAX_STARTS);
  }

  /** Forgets what was read from an offset on. */
  cutAt(offset: number): void {
    this.#starts = this.#starts.filter(({ from }) => from < offset);
  }

  /** Epoch of the record before an offset; `undefined`: not known. */
  before(offset: number): number | undefined {
    return this.#starts.findLast(({ from }) => from < offset)?.epoch ?? this.#base;
  }
}
