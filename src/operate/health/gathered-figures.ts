import { BoundedMap } from '../../data/bounded-map.ts';
import { NotUnderstoodError } from '../workers/other-workers.ts';
import type { CommittedLag } from './committed-lags.ts';
import type { TaskFigures } from './verdict.ts';

/** Figures of a task, and its connector. */
export interface PlacedFigures {
  readonly connector: string;
  readonly figures: TaskFigures;
}

/** The figures of a worker's own connectors and tasks. */
export interface WorkerFigures {
  readonly tasks: readonly PlacedFigures[];
  /** Lags of its sinks that do not read. */
  readonly committed: readonly CommittedLag[];
}

/**
 * Requests the figures of another worker's tasks. Rejects with a NotUnderstoodError if the answer has no figures, and
 * with another error if there was no answer in time.
 */
export type AskWorker = (worker: string) => Promise<WorkerFigures>;

export interface Gathered {
  /** By `connector-task`. */
  readonly figures: ReadonlyMap<string, TaskFigures>;
  /** By connector. */
  readonly committed: ReadonlyMap<string, CommittedLag>;
  /** Workers that do not answer, and for how many milliseconds. */
  readonly silentMs: ReadonlyMap<string, number>;
}

const MAX_WORKERS_ASKED = 100;
const MAX_REMEMBERED = 1000;
/**
 * If a worker did not answer, and no further request was sent to it for this long, its silence is forgotten, because it
 * may have been reachable in the meantime.
 */
const MAX_UNASKED_MS = 300_000;

/** Requests the figures of the other workers, and remembers since when a worker does not answer. */
export class SilentWorkers {
  /** Times of `performance.now()`: when the first request without an answer began, and when the last one did. */
  readonly #known = new BoundedMap<string, { readonly since: number; readonly last: number }>(MAX_REMEMBERED);

  /**
   * Gathers the figures of these workers. The first 100 are asked; all others are reported as silent for 0 ms. Never
   * rejects.
   */
  async ask(
    workers: readonly string[],
    ask: AskWorker,
  ): Promise<WorkerFigures & { readonly silentMs: ReadonlyMap<string, number> }> {
    const askedAt = performance.now();
    const asked = workers.slice(0, MAX_WORKERS_ASKED);
    const silentMs = new Map(workers.slice(MAX_WORKERS_ASKED).map((worker) => [worker, 0]));
    const answers = await Promise.allSettled(asked.map(ask));
    const answered = answers.flatMap((answer, index) => {
      const worker = asked[index] ?? '';
      if (answer.status === 'fulfilled') {
        this.#known.delete(worker);
        return answer.value;
      }
      silentMs.set(worker, answer.reason instanceof NotUnderstoodError ? 0 : this.#silentMs(worker, askedAt));
      return [];
    });
    const tasks = answered.flatMap(({ tasks: placed }) => placed);
    return { tasks, committed: answered.flatMap(({ committed }) => committed), silentMs };
  }

  #silentMs(worker: string, askedAt: number): number {
    const known = this.#known.get(worker);
    const isStill = known !== undefined && askedAt - known.last < MAX_UNASKED_MS;
    const since = isStill ? known.since : askedAt;
    this.#known.set(worker, { since, last: askedAt });
    return performance.now() - since;
  }
}
