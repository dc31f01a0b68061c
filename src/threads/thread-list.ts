import type { RunningThread } from './running-thread.ts';

/** The threads of this worker beside the main one, whatever they are for. Each has a number of its own. */
export class ThreadList {
  readonly #threads = new Set<RunningThread>();
  #lastNumber = 0;

  nextNumber(): number {
    return ++this.#lastNumber;
  }

  add(thread: RunningThread): void {
    this.#threads.add(thread);
  }

  remove(thread: RunningThread): void {
    this.#threads.delete(thread);
  }

  /** Those that have not ended, in the order of their numbers. */
  all(): readonly RunningThread[] {
    return [...this.#threads];
  }
}
