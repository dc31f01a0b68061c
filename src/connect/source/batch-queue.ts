import { toError } from '../../errors.ts';
import { PolledBatch } from './polled-batch.ts';

/**
 * What polls give while a batch is on its way to the broker becomes one next batch, up to this size; then the task is not
 * polled. Small polls would cost a request and a wait for the broker each.
 */
const MAX_WAITING_RECORDS = 5_000;
const MAX_WAITING_BYTES = 1_048_576;

type Work = () => Promise<void>;

/** One batch is delivered after the other, so that records keep their order; the first failure is the end of it. */
export class BatchQueue {
  readonly #deliver: (batch: PolledBatch) => Promise<void>;
  readonly #onFailure: () => void;
  /** Work to be done between two batches. */
  readonly #between: Work[] = [];
  #waiting = new PolledBatch();
  #running: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(deliver: (batch: PolledBatch) => Promise<void>, onFailure: () => void) {
    this.#deliver = deliver;
    this.#onFailure = onFailure;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves when another batch may come; rejects with the failure of any. */
  async add(batch: PolledBatch): Promise<void> {
    this.#waiting.append(batch);
    this.#next();
    if (this.#waiting.size >= MAX_WAITING_RECORDS || this.#waiting.byteLength >= MAX_WAITING_BYTES) await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Does something when no batch is on its way. */
  between(work: Work): void {
    this.#between.push(work);
    this.#next();
  }

  /** Resolves when nothing waits any more. Never rejects. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #next(): void {
    if (this.#running !== undefined || this.#failure !== undefined) return;
    const work = this.#between.shift() ?? this.#nextBatch();
    if (work === undefined) return;
    this.#running = work()
      .catch((error: unknown) => {
        this.#failure = toError(error);
        this.#onFailure();
      })
      .finally(() => {
        this.#running = undefined;
        this.#next();
      });
  }

  #nextBatch(): Work | undefined {
    const batch = this.#waiting;
    if (batch.sources.length === 0) return undefined;
    this.#waiting = new PolledBatch();
    return () => this.#deliver(batch);
  }
}
