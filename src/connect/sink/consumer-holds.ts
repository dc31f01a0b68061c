import type { TopicPartition } from '../../data/record.ts';
import type { RecordBlock, Consumer } from '../../kafka/api.ts';
import type { Throttle } from '../pipeline/throttle.ts';
import type { TaskReading } from '../tasks/task-runner.ts';

/** Reasons for pausing a sink task: a request of the user, a pending retry of `put` or of a commit, or a rate limit. */
type Hold = 'request' | 'retry' | 'rate';

const DEFAULT_RETRY_DELAY_MS = 3000;

type HeldConsumer = Pick<Consumer, 'pause' | 'resume' | 'assignment' | 'isInGroup' | 'lags'>;

/** Pauses the partitions of a consumer as long as there is at least one reason (see Hold). */
export class ConsumerHolds {
  readonly #consumer: HeldConsumer;
  readonly #throttle: Throttle;
  readonly #holds = new Set<Hold>();
  /** Milliseconds between a failed `put` and its retry. */
  retryDelayMs = DEFAULT_RETRY_DELAY_MS;
  #retryAtMs = 0;

  constructor(consumer: HeldConsumer, throttle: Throttle) {
    this.#consumer = consumer;
    this.#throttle = throttle;
  }

  has(hold: Hold): boolean {
    return this.#holds.has(hold);
  }

  reading(): Pick<TaskReading, 'isInGroup' | 'isPaused' | 'isBehind'> {
    return {
      isInGroup: this.#consumer.isInGroup,
      isPaused: this.#holds.has('request') || this.#holds.has('rate'),
      isBehind: this.#consumer.lags().some(({ lag = 0 }) => lag > 0),
    };
  }

  add(hold: Hold): void {
    if (this.#holds.size === 0) this.#consumer.pause(this.#consumer.assignment());
    this.#holds.add(hold);
  }

  remove(hold: Hold): void {
    if (this.#holds.delete(hold) && this.#holds.size === 0) this.#consumer.resume(this.#consumer.assignment());
  }

  /** Pauses the task until a retry, which is due at this time in milliseconds since the epoch. */
  retryAt(retryAtMs: number): void {
    this.#retryAtMs = retryAtMs;
    this.add('retry');
  }

  /** True if `put` may be called, because no retry is pending or the retry is due. */
  get mayPut(): boolean {
    return !this.#holds.has('retry') || Date.now() >= this.#retryAtMs;
  }

  /** Pauses newly assigned partitions if the task is paused. */
  assigned(partitions: readonly TopicPartition[]): void {
    if (this.#holds.size > 0) this.#consumer.pause(partitions);
  }

  /** Maximum number of records of the next poll; `undefined` if there is no limit. */
  get pollMax(): number | undefined {
    return this.#throttle.pollMax;
  }

  /**
   * Pauses or resumes the task according to the rate limit. Returns when the retry is due or the pause by the rate limit ends,
   * in milliseconds since the epoch; `Infinity` if there is neither.
   */
  untilMs(): number {
    const untilAllowed = this.#byRateLimit();
    return this.#holds.has('retry') ? Math.min(this.#retryAtMs, untilAllowed) : untilAllowed;
  }

  #byRateLimit(): number {
    const isOther = this.#holds.has('request') || this.#holds.has('retry');
    if (isOther) this.#throttle.released();
    const waitMs = isOther ? 0 : this.#throttle.waitMs();
    if (waitMs === 0) {
      this.remove('rate');
      return Infinity;
    }
    this.add('rate');
    return Date.now() + waitMs;
  }
}

/** Total size of the values in bytes, without keys and headers. */
export function valueBytes(blocks: readonly RecordBlock[]): number {
  let bytes = 0;
  for (const { count, valueStarts, valueEnds } of blocks) {
    for (let at = 0; at < count; at++) bytes += Math.max(0, (valueEnds[at] ?? 0) - (valueStarts[at] ?? 0));
  }
  return bytes;
}
