import type { StoredPosition } from './position.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { Timeline } from './timeline.ts';

const MICROS_PER_SECOND = 1_000_000n;

/**
 * Records the number up to which a table had been read `delayMs` milliseconds ago. A promoted standby may have lost the
 * latest rows. Its sequence then assigns their numbers again, so the table must be read again from the recorded number
 * on.
 */
export class RecentNumbers {
  readonly #delayMicros: bigint;
  readonly #timeline: Timeline;
  /** Entries in order of time, about a second apart. The first entry is at least as old as the delay. */
  #read: { readonly nowMicros: bigint; readonly at: bigint | undefined }[];

  constructor(delayMs: number, { nowMicros }: DatabaseSnapshot, { position, since, timeline }: StoredPosition) {
    this.#delayMicros = BigInt(delayMs) * 1000n;
    this.#timeline = new Timeline(timeline);
    this.#read = [{ nowMicros: nowMicros - this.#delayMicros, at: timeline === undefined ? position.at : since }];
  }

  /** The number up to which the table had been read at least one delay ago; `undefined` if nothing had been read then. */
  get since(): bigint | undefined {
    return this.#read[0]?.at;
  }

  get stored(): Pick<StoredPosition, 'since' | 'timeline'> {
    return { since: this.since, timeline: this.#timeline.current };
  }

  /** Applies a snapshot; returns whether numbers after `since` may have been assigned again. */
  enter(snapshot: DatabaseSnapshot): boolean {
    return this.#timeline.enter(snapshot);
  }

  /** Records that the table was read exactly up to the number `at` in a snapshot of the time `nowMicros`. */
  record(nowMicros: bigint, at: bigint | undefined): void {
    const last = this.#read.at(-1);
    if (last?.nowMicros === nowMicros) this.#read[this.#read.length - 1] = { nowMicros, at };
    else if (last === undefined || nowMicros - last.nowMicros >= MICROS_PER_SECOND) this.#read.push({ nowMicros, at });
    const due = nowMicros - this.#delayMicros;
    while ((this.#read[1]?.nowMicros ?? nowMicros) <= due) this.#read.shift();
  }

  /** Records that reading was reset to `since`. */
  rewind(nowMicros: bigint): void {
    this.#read = [{ nowMicros: nowMicros - this.#delayMicros, at: this.since }];
  }
}
