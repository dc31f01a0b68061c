/** Counts of records over time; buckets without records are 0. */
export interface GroupHistogram {
  /** Start of the first bucket, in milliseconds since the epoch. */
  readonly from: number;
  readonly bucketMs: number;
  readonly counts: readonly number[];
}

const MAX_BUCKETS = 60;
const FIRST_BUCKET_MS = 1000;

/**
 * Counts the records of groups over time. All groups share one time axis of at most 60 buckets. If a time would need
 * more buckets, the length of all buckets is doubled until the time fits.
 */
export class GroupTimes {
  /** By group, then by the number of the bucket since the epoch. */
  readonly #counts = new Map<string, Map<number, number>>();
  #bucketMs = FIRST_BUCKET_MS;
  #first = Infinity;
  #last = -Infinity;

  /** A record without a time has a negative timestamp and is not counted. */
  add(group: string, timestamp: number): void {
    if (timestamp < 0) return;
    let bucket = Math.floor(timestamp / this.#bucketMs);
    while (Math.max(this.#last, bucket) - Math.min(this.#first, bucket) >= MAX_BUCKETS) {
      this.#widen();
      bucket = Math.floor(timestamp / this.#bucketMs);
    }
    this.#first = Math.min(this.#first, bucket);
    this.#last = Math.max(this.#last, bucket);
    let counts = this.#counts.get(group);
    if (counts === undefined) this.#counts.set(group, (counts = new Map<number, number>()));
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }

  /** `undefined`: no record of the group has a time. */
  histogram(group: string): GroupHistogram | undefined {
    const counts = this.#counts.get(group);
    if (counts === undefined) return undefined;
    return {
      from: this.#first * this.#bucketMs,
      bucketMs: this.#bucketMs,
      counts: Array.from({ length: this.#last - this.#first + 1 }, (_, at) => counts.get(this.#first + at) ?? 0),
    };
  }

  #widen(): void {
    this.#bucketMs *= 2;
    this.#first = Math.floor(this.#first / 2);
    this.#last = Math.floor(this.#last / 2);
    for (const [group, counts] of this.#counts) {
      const wide = new Map<number, number>();
      for (const [bucket, count] of counts) {
        const half = Math.floor(bucket / 2);
        wide.set(half, (wide.get(half) ?? 0) + count);
      }
      this.#counts.set(group, wide);
    }
  }
}
