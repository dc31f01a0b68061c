import type { TaskId } from '../../connect/task-assignment.ts';
import { taskKey } from './task-key.ts';

/**
 * How long other work waits for a task. The limit is needed because a task may not start, or its first poll may take
 * long.
 */
const LIMIT_MS = 2000;

/**
 * Tasks that were assigned to this worker but do not deliver records yet. The next part of the work does not move while
 * one of them is awaited. `onAll` is called when no task is awaited any more.
 *
 *   A task: --expect--> awaited --note, or after the limit--> forgotten
 */
export class Arrivals {
  readonly #onAll: () => void;
  readonly #limitMs: number;
  readonly #awaited = new Map<string, NodeJS.Timeout>();

  constructor(onAll: () => void, limitMs = LIMIT_MS) {
    this.#onAll = onAll;
    this.#limitMs = limitMs;
  }

  get count(): number {
    return this.#awaited.size;
  }

  expect(tasks: readonly TaskId[]): void {
    for (const id of tasks) {
      clearTimeout(this.#awaited.get(taskKey(id)));
      const timer = setTimeout(() => {
        this.note(id);
      }, this.#limitMs).unref();
      this.#awaited.set(taskKey(id), timer);
    }
  }

  /** Called when the task delivers records, found none at its first poll, was paused or stopped, or has failed. */
  note(id: TaskId): void {
    const key = taskKey(id);
    const timer = this.#awaited.get(key);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#awaited.delete(key);
    if (this.#awaited.size === 0) this.#onAll();
  }

  close(): void {
    for (const timer of this.#awaited.values()) clearTimeout(timer);
    this.#awaited.clear();
  }
}
