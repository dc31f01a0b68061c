import { eventLoopWatch } from './event-loop-watch.ts';

interface Operation {
  readonly what: string;
  readonly beganAt: Date;
}

/**
 * The current or last activity of a part of the worker, for the messages of timeouts and for `/health`. If several
 * operations are in progress, the oldest is named.
 */
export class StageTracker {
  readonly #running = new Set<Operation>();
  #last: (Operation & { readonly completedAt: Date }) | undefined;

  /** The stage lasts until the work has succeeded or failed. */
  async during<T>(what: string, work: () => Promise<T>): Promise<T> {
    const operation = { what, beganAt: new Date() };
    this.#running.add(operation);
    try {
      return await eventLoopWatch.during(what, work);
    } finally {
      this.#running.delete(operation);
      this.#last = { ...operation, completedAt: new Date() };
    }
  }

  /** Empty before the first stage. */
  describe(): string {
    const [current] = this.#running;
    if (current !== undefined) {
      return `The worker is currently ${current.what}, which began at ${current.beganAt.toISOString()}.`;
    }
    if (this.#last === undefined) return '';
    const { what, beganAt, completedAt } = this.#last;
    return `The last operation the worker completed was ${what}, which began at ${beganAt.toISOString()} and completed at ${completedAt.toISOString()}.`;
  }
}
