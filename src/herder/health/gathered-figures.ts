import type { TaskFigures } from './verdict.ts';

/** Figures of a task, and whose it is. */
export interface PlacedFigures {
  readonly connector: string;
  readonly figures: TaskFigures;
}

/**
 * Asks another worker for the figures of its tasks. Rejects with a NotUnderstoodError when its answer says nothing of them, and
 * with another error when there was none in time.
 */
export type AskWorker = (worker: string) => Promise<readonly PlacedFigures[]>;

/** A worker has answered, and not as Sluice workers do. */
export class NotUnderstoodError extends Error {}

export interface Gathered {
  /** By `connector-task`. */
  readonly figures: ReadonlyMap<string, TaskFigures>;
  /** Workers of which nothing is known, and for how many milliseconds they have not answered. */
  readonly silentMs: ReadonlyMap<string, number>;
}

const MAX_WORKERS_ASKED = 100;
const MAX_REMEMBERED = 1000;

/** Asks the other workers, and remembers since when some do not answer. */
export class SilentWorkers {
  /** By `performance.now()`. */
  readonly #since = new Map<string, number>();

  /** Never rejects. */
  async ask(
    workers: readonly string[],
    ask: AskWorker,
  ): Promise<{ readonly placed: readonly PlacedFigures[]; readonly silentMs: ReadonlyMap<string, number> }> {
    const askedAt = performance.now();
    const asked = workers.slice(0, MAX_WORKERS_ASKED);
    const silentMs = new Map(workers.slice(MAX_WORKERS_ASKED).map((worker) => [worker, 0]));
    const answers = await Promise.allSettled(asked.map(ask));
    const placed = answers.flatMap((answer, index) => {
      const worker = asked[index] ?? '';
      if (answer.status === 'fulfilled') {
        this.#since.delete(worker);
        return answer.value;
      }
      silentMs.set(worker, answer.reason instanceof NotUnderstoodError ? 0 : this.#silentMs(worker, askedAt));
      return [];
    });
    return { placed, silentMs };
  }

  #silentMs(worker: string, askedAt: number): number {
    const since = this.#since.get(worker) ?? askedAt;
    this.#since.set(worker, since);
    const [oldest] = this.#since.keys();
    if (this.#since.size > MAX_REMEMBERED && oldest !== undefined) this.#since.delete(oldest);
    return performance.now() - since;
  }
}
