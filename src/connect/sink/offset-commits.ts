import type { Consumer, PartitionPosition } from '../../kafka/api.ts';
import type { Logger } from '../../observe/logger.ts';
import type { TaskMeasures } from '../tasks/task-measures.ts';

/**
 * Minimum milliseconds between a failed commit and the next commit that the task requests. Periodic commits and those
 * that a caller waits for are not delayed. Further failures within this time are counted instead of logged.
 */
const BACKOFF_MS = 1_000;

/** The offset commits of one sink task. */
export class OffsetCommits {
  readonly #consumer: Pick<Consumer, 'commit'>;
  readonly #measures: TaskMeasures;
  readonly #logger: Logger;
  readonly #onCommitted: (positions: readonly PartitionPosition[], ms: number) => void;
  #inFlight: Promise<boolean> | undefined;
  #retryAtMs = 0;
  #nextLogMs = 0;
  #unlogged = 0;

  constructor(
    consumer: Pick<Consumer, 'commit'>,
    { measures, logger }: { readonly measures: TaskMeasures; readonly logger: Logger },
    onCommitted: (positions: readonly PartitionPosition[], ms: number) => void,
  ) {
    this.#consumer = consumer;
    this.#measures = measures;
    this.#logger = logger;
    this.#onCommitted = onCommitted;
  }

  get inFlight(): Promise<boolean> | undefined {
    return this.#inFlight;
  }

  /** Earliest time of the next requested commit, in milliseconds since the epoch; 0 unless the last commit failed. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** Commits the offsets. Resolves with true if they are committed. Never rejects. */
  commit(positions: readonly PartitionPosition[]): Promise<boolean> {
    const startedAt = this.#measures.now();
    this.#measures.sink.commitBegun();
    this.#inFlight = this.#consumer
      .commit(positions)
      .then(
        () => {
          this.#retryAtMs = 0;
          this.#measures.committed(startedAt);
          this.#measures.sink.commitCompleted();
          this.#onCommitted(positions, this.#measures.now() - startedAt);
          return true;
        },
        (error: unknown) => {
          this.#failed(error);
          return false;
        },
      )
      .finally(() => {
        this.#inFlight = undefined;
      });
    return this.#inFlight;
  }

  #failed(error: unknown): void {
    this.#measures.commitFailed();
    const now = Date.now();
    this.#retryAtMs = now + BACKOFF_MS;
    if (now < this.#nextLogMs) {
      this.#unlogged += 1;
      return;
    }
    const fields = this.#unlogged === 0 ? {} : { unloggedFailures: this.#unlogged };
    this.#logger.warn(
      { err: error, ...fields },
      'Offset commit failed; the offsets will be included in the next commit',
    );
    this.#nextLogMs = now + BACKOFF_MS;
    this.#unlogged = 0;
  }
}
