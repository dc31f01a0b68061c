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

/** What waits for one partition, oldest first. The head stays until it is settled, so that order survives retries. */
export class SendQueue {
  readonly topic: string;
  readonly partition: number;
  readonly batches: PendingBatch[] = [];
  /** Idempotence: the number of the next record that is new to the broker. */
  nextSequence = 0;
  /** Not before this time, after a retriable failure. */
  notBefore = 0;
  /** The head is on its way; a new leader must not get it before the old one has answered. */
  inFlight = false;
  /** Why the head is still here. */
  lastFailure: Error | undefined;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
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
