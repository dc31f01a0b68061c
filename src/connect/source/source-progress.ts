import type { WaitingInTask } from '../api.ts';
import type { SourceMeasures } from '../tasks/task-measures.ts';
import type { TaskProgress } from '../tasks/task-runner.ts';

type Stage = 'start' | 'poll' | 'conversion';

const CAUSES: Readonly<Record<Stage, string>> = {
  start: 'start() of the task has not returned',
  poll: 'poll() of the task has not returned',
  conversion: 'the conversion of the records has not ended',
};

interface RepeatedFailure {
  /** Time of the first failure (`performance.now()`). */
  readonly since: number;
  readonly what: string;
  times: number;
  error: string;
}

/** Tracks whether a source task returns records, and whether they make progress. */
export class SourceProgress {
  readonly #measures: Pick<SourceMeasures, 'waiting'>;
  #stage: Stage | undefined;
  #stageSince = 0;
  #retries = 0;
  #failing: RepeatedFailure | undefined;

  constructor(measures: Pick<SourceMeasures, 'waiting'>) {
    this.#measures = measures;
  }

  begin(stage: Stage): void {
    this.#stage = stage;
    this.#stageSince = performance.now();
  }

  /** Called when the stage has ended. */
  end(): void {
    this.#stage = undefined;
  }

  /** Called when a failed call will be retried. `what` names the call, as the subject of a sentence. */
  retried(what: string, error: Error): void {
    this.#retries++;
    if (this.#failing?.what !== what) {
      this.#failing = { since: performance.now(), what, times: 0, error: '' };
    }
    this.#failing.times++;
    this.#failing.error = error.message;
  }

  succeeded(what: string): void {
    if (this.#failing?.what === what) this.#failing = undefined;
  }

  /**
   * `inTask` is the wait that the task itself reports. `waitedMs` of the result is the longest wait. `cause` is the
   * first known cause whose wait is more than half as long, in this order: the task's report, repeated failures of a
   * call, the current stage, missing acknowledgements.
   */
  values(inTask: WaitingInTask | undefined): Omit<TaskProgress, 'throttledMs' | 'throttledTotalMs'> {
    const now = performance.now();
    const { waiting, waitedMs, deliveredAtMs } = this.#measures.waiting();
    const candidates: { readonly waitedMs: number; readonly cause: string | undefined }[] = [];
    if (inTask !== undefined) candidates.push({ waitedMs: inTask.waitedMs, cause: inTask.cause });
    const failing = this.#failing;
    if (failing !== undefined) {
      const times = `${String(failing.times)} time${failing.times === 1 ? '' : 's'}`;
      const cause = `${failing.what} has failed ${times} in a row and is retried, the last error was: ${failing.error}`;
      candidates.push({ waitedMs: now - failing.since, cause });
    }
    if (this.#stage !== undefined) candidates.push({ waitedMs: now - this.#stageSince, cause: CAUSES[this.#stage] });
    candidates.push({ waitedMs, cause: waitedMs > 0 ? 'Kafka has not acknowledged the records' : undefined });
    const longest = Math.max(...candidates.map((each) => each.waitedMs));
    const [chosen] = candidates.filter((each) => each.cause !== undefined && each.waitedMs > longest / 2);
    return {
      waiting: waiting + (inTask?.records ?? 0),
      waitedMs: longest,
      deliveredAtMs,
      retries: this.#retries,
      cause: chosen?.cause,
    };
  }
}
