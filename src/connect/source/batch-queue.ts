import { toError } from '../../errors.ts';
import { PolledBatch } from './polled-batch.ts';

/**
 * Limit of the next batch in records. While a batch is being delivered, the records of further polls are collected into the
 * next batch. When the next batch is full, the task is not polled. Without this collection, each small poll would cost a
 * request to the broker and a wait for the response.
 */
const MAX_WAITING_RECORDS = 5_000;
const MAX_WAITING_BYTES = 1_048_576;

type Work = () => Promise<void>;

/** Delivers one batch after another, so that records stay in order. After a failure, no further batch is delivered. */
export class BatchQueue {
  readonly #deliver: (batch: PolledBatch) => Promise<void>;
  readonly #onFailure: () => void;
  /** Work that waits until no batch is being delivered. */
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

  /** Adds a batch. Resolves when another one may be added; rejects if the delivery of any batch has failed. */
  async add(batch: PolledBatch): Promise<void> {
    this.#waiting.append(batch);
    this.#next();
    if (this.#waiting.size >= MAX_WAITING_RECORDS || this.#waiting.byteLength >= MAX_WAITING_BYTES) await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Runs the work when no batch is being delivered. */
  between(work: Work): void {
    this.#between.push(work);
    this.#next();
  }

  /** Resolves when nothing is left to deliver, or when a delivery has failed. Never rejects. */
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
