import type { RateLimit } from '../task-assignment.ts';
import { RecentTime } from './recent-time.ts';
import { TokenBucket } from './token-bucket.ts';

/** Period of the recent figures in seconds. */
const RECENT_SECONDS = 10;
/** One poll returns at most the number of records that the limit allows in this fraction of a second. */
const POLL_FRACTION_OF_SECOND = 0.5;
/** Maximum number of records of a poll while the size of records is unknown. */
const FIRST_RECORDS = 10;

/**
 * Limits the rate of a task by pausing it between polls.
 *
 * free --waitMs, if the limit is exceeded--> held --waitMs or released--> free
 */
export class Throttle {
  readonly #clock: () => number;
  readonly #held = new RecentTime(RECENT_SECONDS);
  #records: TokenBucket | undefined;
  #bytes: TokenBucket | undefined;
  #meanBytes: number | undefined;
  #heldSince: number | undefined;
  #heldMs = 0;

  constructor(limit: RateLimit, clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.set(limit);
  }

  get isOn(): boolean {
    return this.#records !== undefined || this.#bytes !== undefined;
  }

  set({ records, bytes }: RateLimit): void {
    const now = this.#clock();
    this.#records = changed(this.#records, records, now);
    this.#bytes = changed(this.#bytes, bytes, now);
    if (!this.isOn) this.released();
  }

  /** Maximum number of records of the next poll; `undefined` if there is no limit. */
  get pollMax(): number | undefined {
    if (!this.isOn) return undefined;
    const { perSecond: records = Infinity } = this.#records ?? {};
    const { perSecond: bytes } = this.#bytes ?? {};
    const byBytes = bytes === undefined ? Infinity : this.#recordsOf(bytes * POLL_FRACTION_OF_SECOND);
    return Math.max(1, Math.floor(Math.min(records * POLL_FRACTION_OF_SECOND, byBytes)));
  }

  /** Counts records that the task has received. */
  taken(records: number, bytes: number): void {
    if (records === 0) return;
    const now = this.#clock();
    this.#records?.take(records, now);
    this.#bytes?.take(bytes, now);
    this.#meanBytes = bytes / records;
  }

  /** Milliseconds for which the task must wait; 0 if it may continue. */
  waitMs(): number {
    if (!this.isOn) return 0;
    const now = this.#clock();
    const waitMs = Math.max(this.#records?.waitMs(now) ?? 0, this.#bytes?.waitMs(now) ?? 0);
    if (waitMs === 0) this.released();
    else this.#addHeldTime(now);
    return waitMs;
  }

  /** Called when the task no longer waits for the limit. */
  released(): void {
    if (this.#heldSince === undefined) return;
    this.#addHeldTime(this.#clock());
    this.#heldSince = undefined;
  }

  /** Milliseconds for which the task was held back within the last ten seconds. */
  heldLatelyMs(): number {
    const now = this.#clock();
    if (this.#heldSince !== undefined) this.#addHeldTime(now);
    return Math.round(this.#held.sum(now));
  }

  /** Milliseconds for which the task was held back since its start. */
  heldMs(): number {
    if (this.#heldSince !== undefined) this.#addHeldTime(this.#clock());
    return this.#heldMs;
  }

  #addHeldTime(now: number): void {
    const since = this.#heldSince ?? now;
    this.#held.add(since, now);
    this.#heldMs += now - since;
    this.#heldSince = now;
  }

  #recordsOf(bytes: number): number {
    if (this.#meanBytes === undefined) return FIRST_RECORDS;
    return bytes / Math.max(1, this.#meanBytes);
  }
}

function changed(bucket: TokenBucket | undefined, perSecond: number | undefined, now: number): TokenBucket | undefined {
  if (perSecond === undefined) return undefined;
  if (bucket === undefined) return new TokenBucket(perSecond, now);
  if (bucket.perSecond !== perSecond) bucket.setRate(perSecond, now);
  return bucket;
}
