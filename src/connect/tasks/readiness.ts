import type { TaskEvent, TaskId } from '../task-assignment.ts';

/**
 * Maximum wait of a sink task's poll, in milliseconds, until the task is READY. It is long enough to find existing
 * records.
 */
const FIRST_POLL_MS = 50;

/** Reports once that a task is READY. */
export class Readiness {
  readonly #id: TaskId;
  readonly #onEvent: (event: TaskEvent) => void;
  #isReported = false;

  constructor(id: TaskId, onEvent: (event: TaskEvent) => void) {
    this.#id = id;
    this.#onEvent = onEvent;
  }

  /** Maximum wait of the next poll. */
  get pollMs(): number {
    return this.#isReported ? Infinity : FIRST_POLL_MS;
  }

  /** Called after each poll, once its records have been put or passed on. */
  report(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#onEvent({ id: this.#id, state: 'READY' });
  }
}
