import type { StoredPosition } from './position.ts';
import type { DatabaseSnapshot } from './table-watch.ts';
import { Timeline } from './timeline.ts';

const MICROS_PER_SECOND = 1_000_000n;

/**
 * The number that a table had been read up to some time ago. A standby that is promoted may have lost the latest rows, and then its
 * sequence hands their numbers out again: the table is read again from there.
 */
export class RecentNumbers {
  readonly #delayMicros: bigint;
  readonly #timeline: Timeline;
  /** In order of time, about a second apart; the first one is at least as old as the delay. */
  #read: { readonly nowMicros: bigint; readonly at: bigint | undefined }[];

  constructor(delayMs: number, { nowMicros }: DatabaseSnapshot, { position, since, timeline }: StoredPosition) {
    this.#delayMicros = BigInt(delayMs) * 1000n;
    this.#timeline = new Timeline(timeline);
    this.#read = [{ nowMicros: nowMicros - this.#delayMicros, at: timeline === undefined ? position.at : since }];
  }

  /** All numbers up to this one were read before the delay; `undefined`: none were. */
  get since(): bigint | undefined {
    return this.#read[0]?.at;
  }

  get stored(): Pick<StoredPosition, 'since' | 'timeline'> {
    return { since: this.since, timeline: this.#timeline.current };
  }

  /** Takes up a snapshot; whether numbers after `since` may have been handed out again. */
  enter(snapshot: DatabaseSnapshot): boolean {
    return this.#timeline.enter(snapshot);
  }

  /** Numbers up to `at`, and no others, were read by a query as of this time. */
  note(nowMicros: bigint, at: bigint | undefined): void {
    const last = this.#read.at(-1);
    if (last?.nowMicros === nowMicros) this.#read[this.#read.length - 1] = { nowMicros, at };
    else if (last === undefined || nowMicros - last.nowMicros >= MICROS_PER_SECOND) this.#read.push({ nowMicros, at });
    const due = nowMicros - this.#delayMicros;
    while ((this.#read[1]?.nowMicros ?? nowMicros) <= due) this.#read.shift();
  }

  /** Takes up that reading went back to `since`. */
  goBack(nowMicros: bigint): void {
    this.#read = [{ nowMicros: nowMicros - this.#delayMicros, at: this.since }];
  }
}
