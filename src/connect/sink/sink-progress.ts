import type { WaitingInTask } from '../api.ts';
import type { Throttle } from '../pipeline/throttle.ts';
import type { TaskProgress } from '../tasks/task-runner.ts';

type Stage = 'start' | 'conversion' | 'put';

const CAUSES: Readonly<Record<Stage, string>> = {
  start: 'start() of the task has not returned',
  conversion: 'the conversion of the records has not ended',
  put: 'put() of the task has not returned',
};

/** Tracks whether the records of a sink task make progress. */
export class SinkProgress {
  readonly #throttle: Pick<Throttle, 'heldLatelyMs' | 'heldMs'>;
  #stage: Stage | undefined;
  #waitingSince: number | undefined;
  #deliveredAtMs: number | undefined;
  #lastPutMs: number | undefined;
  #retries = 0;
  #retriesInRow = 0;
  #lastError: string | undefined;
  #nextTryAtMs = 0;

  constructor(throttle: Pick<Throttle, 'heldLatelyMs' | 'heldMs'>) {
    this.#throttle = throttle;
  }

  /** Called when a stage begins. From then on, the task counts as waiting until no records are left (see `rest`). */
  begin(stage: Stage): void {
    this.#stage = stage;
    this.#waitingSince ??= performance.now();
  }

  /** Called when no records are waiting. */
  rest(): void {
    this.#waitingSince = undefined;
    this.#retriesInRow = 0;
  }

  /**
   * Called when `put` has returned, or when waiting records were dropped. `isEmpty`: no records are waiting any more. Otherwise
   * the wait restarts if records were put.
   */
  put(records: number, isEmpty: boolean, ms = 0): void {
    if (records > 0) {
      this.#deliveredAtMs = Date.now();
      this.#lastPutMs = ms;
      this.#waitingSince = performance.now();
    }
    this.#retriesInRow = 0;
    if (isEmpty) this.rest();
  }

  retried(error: Error, nextTryAtMs: number): void {
    this.#retries++;
    this.#retriesInRow++;
    this.#lastError = error.message;
    this.#nextTryAtMs = nextTryAtMs;
  }

  /**
   * `count` is the number of records that are waiting for `put`. `inTask` is the wait that the task itself reports.
   */
  values(count: number, inTask: WaitingInTask | undefined): TaskProgress {
    const waitedMs = this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
    return {
      waiting: count + (inTask?.records ?? 0),
      waitedMs: inTask === undefined ? waitedMs : inTask.waitedMs,
      deliveredAtMs: this.#deliveredAtMs,
      lastPutMs: this.#lastPutMs,
      retries: this.#retries,
      throttledMs: this.#throttle.heldLatelyMs(),
      throttledTotalMs: this.#throttle.heldMs(),
      cause: inTask?.cause ?? (waitedMs > 0 ? this.#cause() : undefined),
    };
  }

  #cause(): string | undefined {
    if (this.#retriesInRow === 0) return this.#stage && CAUSES[this.#stage];
    const times = `${String(this.#retriesInRow)} time${this.#retriesInRow === 1 ? '' : 's'}`;
    const inMs = this.#nextTryAtMs - Date.now();
    const next = inMs > 0 ? `the next try is in ${String(Math.ceil(inMs / 1000))} s` : 'the next try is due';
    return `put() of the task has requested a retry ${times} in a row, ${next}, the last error was: ${this.#lastError ?? ''}`;
  }
}
