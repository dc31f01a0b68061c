import type { Logger } from '../../observe/logger.ts';
import type { TopicPartition } from '../../data/record.ts';
import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';

export interface ProducerId {
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** The producer id, epoch and transaction under which batches are sent. */
export interface ProducerIdentity {
  readonly idempotent: boolean;
  readonly transactionalId: string | null;
  /**
   * Resolves with `undefined` if the producer is not idempotent. Otherwise, the object stays the same until a new id or
   * epoch is requested from the broker; then the sequence numbers of all partitions restart.
   */
  current(): Promise<ProducerId | undefined>;
  /** Adds partitions to the transaction. Resolves when their batches may be sent. */
  addPartitions(partitions: readonly TopicPartition[]): Promise<void>;
  /** Requests a new producer id, because the epochs of the current one are exhausted. */
  requestNewId(): void;
}

export const NON_IDEMPOTENT: ProducerIdentity = {
  idempotent: false,
  transactionalId: null,
  current: () => Promise.resolve(undefined),
  addPartitions: () => Promise.resolve(),
  requestNewId: () => undefined,
};

const NO_TRANSACTION = { transactionalId: null, transactionTimeout: 60_000 };

/** An idempotent producer without transactions. Its id is requested before the first batch. */
export class IdempotentIdentity implements ProducerIdentity {
  readonly idempotent = true;
  readonly transactionalId = null;
  readonly #cluster: Cluster;
  readonly #logger: Logger;
  #id: Promise<ProducerId> | undefined;

  constructor(cluster: Cluster, logger: Logger) {
    this.#cluster = cluster;
    this.#logger = logger;
  }

  current(): Promise<ProducerId> {
    this.#id ??= this.#fetch().catch((error: unknown) => {
      this.#id = undefined;
      throw error;
    });
    return this.#id;
  }

  async addPartitions(): Promise<void> {
    await Promise.resolve();
  }

  requestNewId(): void {
    this.#id = undefined;
  }

  async #fetch(): Promise<ProducerId> {
    const response = await this.#cluster.callAny(libraryCall(Apis.initProducerId, NO_TRANSACTION));
    if (response.errorCode !== ErrorCode.none) throw KafkaError.ofCode(response.errorCode, 'InitProducerId');
    const id = { producerId: Number(response.producerId), producerEpoch: response.producerEpoch };
    this.#logger.debug(id, 'Obtained a producer id');
    return id;
  }
}
