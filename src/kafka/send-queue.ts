import type { ProducedRecord } from './api.ts';

/** Records of one partition that travel together. Settled once, by the broker's answer or by the deadline. */
export interface PendingBatch {
  readonly records: readonly ProducedRecord[];
  /** Before compression. */
  readonly byteLength: number;
  readonly deadline: number;
  /** True once a request with it went out whose outcome may be unknown. */
  attempted: boolean;
  readonly settle: (failure?: Error) => void;
}

const NOT_IDEMPOTENT = -1;
const SEQUENCE_LIMIT = 2 ** 31;

/** What waits for one partition, oldest first. The head stays until it is settled, so that order survives retries. */
export class SendQueue {
  readonly topic: string;
  readonly partition: number;
  readonly batches: PendingBatch[] = [];
  /** Not before this time, after a retriable failure. */
  notBefore = 0;
  /** The head is on its way; a new leader must not get it before the old one has answered. */
  inFlight = false;
  /** Why the head is still here. */
  lastFailure: Error | undefined;
  #producerId = NOT_IDEMPOTENT;
  #nextSequence = 0;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  /** The number of the head's first record under this producer id; -1 without idempotence. */
  sequenceFor(producerId: number): number {
    if (producerId === NOT_IDEMPOTENT) return -1;
    if (producerId !== this.#producerId) {
      this.#producerId = producerId;
      this.#nextSequence = 0;
    }
    return this.#nextSequence;
  }

  /** Numbers are 32 bits wide and start over at 0 (org.apache.kafka.clients.producer.internals.TransactionManager). */
  advanceSequence(count: number): void {
    this.#nextSequence = (this.#nextSequence + count) % SEQUENCE_LIMIT;
  }

  /** The head was refused for its size: its halves take its place. */
  splitHead(): void {
    const [head] = this.batches;
    if (head === undefined) return;
    const middle = Math.ceil(head.records.length / 2);
    let open = 2;
    let firstFailure: Error | undefined;
    const settle = (failure?: Error): void => {
      firstFailure ??= failure;
      open -= 1;
      if (open === 0) head.settle(firstFailure);
    };
    const half = (records: readonly ProducedRecord[]): PendingBatch => ({
      records,
      byteLength: Math.ceil(head.byteLength / 2),
      deadline: head.deadline,
      attempted: false,
      settle,
    });
    this.batches.splice(0, 1, half(head.records.slice(0, middle)), half(head.records.slice(middle)));
  }
}
