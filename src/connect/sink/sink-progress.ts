import type { WaitingInTask } from '../api.ts';
import type { Throttle } from '../pipeline/throttle.ts';
import type { TaskProgress } from '../tasks/task-runner.ts';

/** Whether the records that a sink task was given get on. */
export class SinkProgress {
  readonly #throttle: Pick<Throttle, 'heldLatelyMs'>;
  #waitingSince: number | undefined;
  #deliveredAtMs: number | undefined;
  #retries = 0;
  #retriesInRow = 0;
  #lastError: string | undefined;

  constructor(throttle: Pick<Throttle, 'heldLatelyMs'>) {
    this.#throttle = throttle;
  }

  /** Records are there for `put`. */
  taken(): void {
    this.#waitingSince ??= performance.now();
  }

  /** `put` has returned. */
  put(records: number, isEmpty: boolean): void {
    if (records > 0) {
      this.#deliveredAtMs = Date.now();
      this.#waitingSince = performance.now();
    }
    this.#retriesInRow = 0;
    if (isEmpty) this.#waitingSince = undefined;
  }

  retried(error: Error): void {
    this.#retries++;
    this.#retriesInRow++;
    this.#lastError = error.message;
  }

  /** `count`: records for `put`; `inTask`: what the task says that it holds. */
  values(count: number, inTask: WaitingInTask | undefined): TaskProgress {
    const forPutMs = this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
    const isForPut = forPutMs > 0;
    return {
      waiting: count + (inTask?.records ?? 0),
      waitedMs: inTask === undefined ? forPutMs : inTask.waitedMs,
      deliveredAtMs: this.#deliveredAtMs,
      retries: this.#retries,
      throttledMs: this.#throttle.heldLatelyMs(),
      cause: inTask?.cause ?? (isForPut ? this.#causeOfPut() : undefined),
    };
  }

  #causeOfPut(): string {
    if (this.#retriesInRow === 0) return 'put() of the task has not returned';
    const times = `${String(this.#retriesInRow)} time${this.#retriesInRow === 1 ? '' : 's'}`;
    return `the task has asked for its records again ${times}, the last time with: ${this.#lastError ?? ''}`;
  }
}
