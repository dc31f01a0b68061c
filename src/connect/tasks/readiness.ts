import type { TaskEvent, TaskId } from '../task-assignment.ts';

/** In which a task finds something to deliver, if there is anything. */
const FIRST_POLL_MS = 50;

/** Reports once that a task is READY. */
export class Readiness {
  readonly #id: TaskId;
  readonly #onEvent: (event: TaskEvent) => void;
  #isTold = false;

  constructor(id: TaskId, onEvent: (event: TaskEvent) => void) {
    this.#id = id;
    this.#onEvent = onEvent;
  }

  /** For how long the next poll may wait at most. */
  get pollMs(): number {
    return this.#isTold ? Infinity : FIRST_POLL_MS;
  }

  /** Everything that was polled is delivered. */
  tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#onEvent({ id: this.#id, state: 'READY' });
  }
}
