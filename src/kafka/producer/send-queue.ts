import type { PackedRecords } from '../../data/packed-records.ts';
import type { SendFailure } from '../api.ts';
import { ClosedError, TimeoutError } from '../errors/kafka-errors.ts';
import { recordsOf, type RecordList } from '../records/record-batch-writer.ts';
import type { ProducerId } from './producer-identity.ts';

/** Tracks the batches of one `send`. `done` resolves when all of them are acknowledged or have failed. */
export class Delivery {
  readonly done: Promise<readonly SendFailure[]>;
  readonly #failures: SendFailure[] = [];
  #open = 0;
  #resolve: (failures: readonly SendFailure[]) => void = () => undefined;

  constructor() {
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  begin(): void {
    this.#open += 1;
  }

  end(failure?: SendFailure): void {
    if (failure !== undefined) this.#failures.push(failure);
    this.#open -= 1;
    if (this.#open === 0) this.#resolve(this.#failures);
  }
}

/**
 * Producer id, epoch and base sequence of a batch. Retries use the same values, so that the broker can detect
 * duplicates. After a loss (see SendQueue), the batch gets other values, because the broker has not stored it.
 */
interface ProducerStamp {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

export interface PendingBatch {
  readonly records: RecordList;
  readonly packed: PackedRecords | undefined;
  readonly byteLength: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly delivery: Delivery;
  /** `undefined` before the first send, after a loss of the sequence, and without idempotence. */
  stamp: ProducerStamp | undefined;
  inFlight: boolean;
}

const NOT_IDEMPOTENT: ProducerStamp = { producerId: -1, producerEpoch: -1, baseSequence: -1 };
const SEQUENCE_LIMIT = 2 ** 31;
const LAST_EPOCH = 2 ** 15 - 1;

/**
 * Pending batches of one partition, oldest first. Batches stay in the queue until they complete, so that retries preserve the
 * order.
 *
 * Sequence numbers of an idempotent producer (org.apache.kafka.clients.producer.internals.TransactionManager):
 *   valid --a sent batch is dropped--> gap --no sent batch is left--> valid
 *   valid, gap --the broker misses the predecessor of the oldest batch--> lost --nothing is in flight--> valid
 * In a gap, no new batch receives a sequence number, because it is unknown whether the broker has stored the dropped batch. After a
 * gap or a loss, the numbers restart at 0 in the next producer epoch, which the partition leader accepts without prior notice.
 */
export class SendQueue {
  readonly topic: string;
  readonly partition: number;
  readonly batches: PendingBatch[] = [];
  /** No batch is sent before this time, in milliseconds since the epoch. */
  notBefore = 0;
  /** The last retriable failure of a batch of this queue; `undefined` if a batch has been stored since. */
  lastFailure: Error | undefined;
  #inFlight = 0;
  #sequence: 'valid' | 'gap' | 'lost' = 'valid';
  /** The current producer id. The epoch of this partition may be newer than the epoch in this object. */
  #producer: ProducerId | undefined;
  #producerEpoch = 0;
  #nextSequence = 0;
  /** Set once the broker has stored a batch of this producer. Before that, the broker accepts any sequence number as the first. */
  #isKnown = false;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /**
   * Returns the batch that may be sent now. Without idempotence, only one batch is in flight. With idempotence, several may be
   * in flight once the broker knows the producer. Retries are sent one at a time, because the broker rejects out-of-order
   * sequence numbers.
   */
  next(idempotent: boolean): PendingBatch | undefined {
    if (this.#sequence !== 'valid') this.#restartSequence();
    if (!idempotent) return this.#inFlight === 0 ? this.batches[0] : undefined;
    if (this.#sequence === 'lost' || (!this.#isKnown && this.#inFlight > 0)) return undefined;
    const candidate = this.batches.find(({ inFlight }) => !inFlight);
    if (candidate?.stamp !== undefined) return candidate === this.batches[0] ? candidate : undefined;
    return this.#sequence === 'gap' ? undefined : candidate;
  }

  /** Marks the batch as sent. Returns false if the epochs of this producer are exhausted. */
  markSent(batch: PendingBatch, producer: ProducerId | undefined): boolean {
    if (batch.stamp === undefined && producer !== undefined) {
      if (producer !== this.#producer) {
        this.#producer = producer;
        this.#producerEpoch = producer.producerEpoch;
        this.#nextSequence = 0;
        this.#isKnown = false;
      }
      if (this.#producerEpoch > LAST_EPOCH) return false;
      const { producerId } = producer;
      batch.stamp = { producerId, producerEpoch: this.#producerEpoch, baseSequence: this.#nextSequence };
      this.#nextSequence = (this.#nextSequence + batch.records.length) % SEQUENCE_LIMIT;
    }
    batch.inFlight = true;
    this.#inFlight += 1;
    return true;
  }

  markCompleted(batch: PendingBatch): void {
    batch.inFlight = false;
    this.#inFlight -= 1;
  }

  stored(batch: PendingBatch): void {
    if (batch.stamp !== undefined && batch.stamp.producerId === this.#producer?.producerId) this.#isKnown = true;
    if (!this.#remove(batch)) return;
    this.notBefore = 0;
    this.lastFailure = undefined;
    batch.delivery.end();
  }

  /** Fails the batch, although the broker may have stored it. */
  drop(batch: PendingBatch, error: Error): void {
    if (!this.#remove(batch)) return;
    this.notBefore = 0;
    if (batch.stamp !== undefined && this.#sequence === 'valid') this.#sequence = 'gap';
    batch.delivery.end({ records: recordsOf(batch.records), packed: batch.packed, error });
  }

  /**
   * Called if the broker misses the predecessor of the oldest batch. It has then stored no batch of this queue either.
   */
  sequenceLost(): void {
    this.#sequence = 'lost';
  }

  /** Returns the error of a batch whose deadline has passed. */
  expiryOf({ records }: PendingBatch, timeoutMs: number): TimeoutError {
    const { topic, partition, lastFailure } = this;
    const reason = lastFailure === undefined || lastFailure instanceof ClosedError ? '' : ` (${lastFailure.message})`;
    return new TimeoutError(
      `Expiring ${String(records.length)} record(s) for ${topic}-${String(partition)}: ${String(timeoutMs)} ms ` +
        `has passed since batch creation${reason}`,
      { cause: lastFailure },
    );
  }

  isOldest(batch: PendingBatch): boolean {
    return this.batches[0] === batch;
  }

  /** Fails all batches. The sequence numbers restart with the next producer id or epoch. */
  clear(error: Error): void {
    for (const batch of [...this.batches]) this.drop(batch, error);
    this.#sequence = 'valid';
    this.#producer = undefined;
  }

  /** Replaces a batch that was too large by its two halves, which keep its sequence numbers. */
  split(batch: PendingBatch): void {
    const at = this.batches.indexOf(batch);
    if (at < 0) return;
    const middle = Math.ceil(batch.records.length / 2);
    const { stamp, delivery, deadline, packed } = batch;
    const half = (records: RecordList, from: number): PendingBatch => ({
      records,
      packed,
      byteLength: Math.ceil(batch.byteLength / 2),
      deadline,
      delivery,
      stamp: stamp && { ...stamp, baseSequence: (stamp.baseSequence + from) % SEQUENCE_LIMIT },
      inFlight: false,
    });
    delivery.begin();
    this.batches.splice(at, 1, half(batch.records.slice(0, middle), 0), half(batch.records.slice(middle), middle));
  }

  #remove(batch: PendingBatch): boolean {
    const at = this.batches.indexOf(batch);
    if (at >= 0) this.batches.splice(at, 1);
    return at >= 0;
  }

  #restartSequence(): void {
    if (this.#inFlight > 0) return;
    const sent = this.batches.filter(({ stamp }) => stamp !== undefined);
    if (this.#sequence === 'gap' && sent.length > 0) return;
    for (const batch of sent) batch.stamp = undefined;
    this.#sequence = 'valid';
    this.#producerEpoch += 1;
    this.#nextSequence = 0;
  }
}

export function stampOf({ stamp }: PendingBatch): ProducerStamp {
  return stamp ?? NOT_IDEMPOTENT;
}
