import type { PackedRecords } from '../../data/packed-records.ts';
import type { SendFailure } from '../api.ts';
import { recordsOf, type RecordList } from '../records/record-batch-writer.ts';
import type { ProducerId } from './producer-identity.ts';

/** What becomes of the records of one call: resolves, once, when the broker or a deadline has decided on all of them. */
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

  /** One more batch of the call is on its way. */
  begin(): void {
    this.#open += 1;
  }

  end(failure?: SendFailure): void {
    if (failure !== undefined) this.#failures.push(failure);
    this.#open -= 1;
    if (this.#open === 0) this.#resolve(this.#failures);
  }
}

/** Under which producer and number a batch was sent first, and will be sent again, so that the broker knows it by them. */
interface Stamp {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

/** Records of one partition that travel together. */
export interface PendingBatch {
  readonly records: RecordList;
  /** The packed records, as they were handed over, that these are part of. */
  readonly packed: PackedRecords | undefined;
  /** Before compression. */
  readonly byteLength: number;
  readonly deadline: number;
  readonly delivery: Delivery;
  /** Without one it has not been sent yet, or is sent without idempotence. */
  stamp: Stamp | undefined;
  inFlight: boolean;
}

const NOT_IDEMPOTENT: Stamp = { producerId: -1, producerEpoch: -1, baseSequence: -1 };
const SEQUENCE_LIMIT = 2 ** 31;
const LAST_EPOCH = 2 ** 15 - 1;

/**
 * What waits for one partition, oldest first; batches stay until they are settled, so that order survives retries.
 *
 * Numbers of an idempotent producer (org.apache.kafka.clients.producer.internals.TransactionManager):
 *   running --a sent batch is given up--> gap --nothing sent is left, or the broker misses what was given up--> running
 *   running, gap --the broker misses what the oldest batch should follow--> lost --nothing is in flight--> running
 * In a gap nothing new gets a number, as it is not known whether the broker has what was given up. After a gap or a loss
 * numbers start at 0 in the next epoch, which the partition's leader takes without being told before.
 */
export class SendQueue {
  readonly topic: string;
  readonly partition: number;
  readonly batches: PendingBatch[] = [];
  /** Not before this time, after a retriable failure. */
  notBefore = 0;
  /** Why the oldest batch was not stored yet; `undefined`: it has not failed, or a batch was stored since. */
  lastFailure: Error | undefined;
  #inFlight = 0;
  #numbering: 'running' | 'gap' | 'lost' = 'running';
  /** As the broker gave it; epochs of this partition may be ahead of it. */
  #producer: ProducerId | undefined;
  #producerEpoch = 0;
  #nextSequence = 0;
  /** The broker has stored a batch of this producer; from a producer that it does not know it takes any number as the first. */
  #isKnown = false;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /**
   * The batch that may be sent now. Without idempotence one at a time; with it several may follow each other, once the broker knows
   * the producer, but those that are sent again go alone (the broker refuses what comes before its turn).
   */
  next(idempotent: boolean): PendingBatch | undefined {
    if (this.#numbering !== 'running') this.#startOver();
    if (!idempotent) return this.#inFlight === 0 ? this.batches[0] : undefined;
    if (this.#numbering === 'lost' || (!this.#isKnown && this.#inFlight > 0)) return undefined;
    const candidate = this.batches.find(({ inFlight }) => !inFlight);
    if (candidate?.stamp !== undefined) return candidate === this.batches[0] ? candidate : undefined;
    return this.#numbering === 'gap' ? undefined : candidate;
  }

  /** The batch goes out. False: this producer has no epochs left. */
  depart(batch: PendingBatch, producer: ProducerId | undefined): boolean {
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

  /** An answer came for it, or none will. */
  arrive(batch: PendingBatch): void {
    batch.inFlight = false;
    this.#inFlight -= 1;
  }

  /** The broker has it. */
  stored(batch: PendingBatch): void {
    if (batch.stamp !== undefined && batch.stamp.producerId === this.#producer?.producerId) this.#isKnown = true;
    if (!this.#take(batch)) return;
    this.notBefore = 0;
    this.lastFailure = undefined;
    batch.delivery.end();
  }

  /** It is given up; whether the broker has it is unknown. */
  drop(batch: PendingBatch, error: Error): void {
    if (!this.#take(batch)) return;
    this.notBefore = 0;
    if (batch.stamp !== undefined && this.#numbering === 'running') this.#numbering = 'gap';
    batch.delivery.end({ records: recordsOf(batch.records), packed: batch.packed, error });
  }

  /** The broker does not have what comes before the oldest batch by its number: none of the others can have got in. */
  numbersLost(): void {
    this.#numbering = 'lost';
  }

  isOldest(batch: PendingBatch): boolean {
    return this.batches[0] === batch;
  }

  /** All batches are given up, and numbers start over with the next producer id or epoch. */
  clear(error: Error): void {
    for (const batch of [...this.batches]) this.drop(batch, error);
    this.#numbering = 'running';
    this.#producer = undefined;
  }

  /** The batch was refused for its size: its halves take its place, and its numbers. */
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

  #take(batch: PendingBatch): boolean {
    const at = this.batches.indexOf(batch);
    if (at >= 0) this.batches.splice(at, 1);
    return at >= 0;
  }

  #startOver(): void {
    if (this.#inFlight > 0) return;
    const sent = this.batches.filter(({ stamp }) => stamp !== undefined);
    if (this.#numbering === 'gap' && sent.length > 0) return;
    for (const batch of sent) batch.stamp = undefined;
    this.#numbering = 'running';
    this.#producerEpoch += 1;
    this.#nextSequence = 0;
  }
}

/** What goes into the batch's header. */
export function stampOf({ stamp }: PendingBatch): Stamp {
  return stamp ?? NOT_IDEMPOTENT;
}
