import type { TopicPartition } from '../../data/record.ts';
import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../error-codes.ts';
import { KafkaError } from '../errors.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';

export interface ProducerId {
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** As whom a producer writes; asked before each request that has batches. */
export interface ProducerIdentity {
  readonly idempotent: boolean;
  /** Of the transaction all batches belong to. */
  readonly transactionalId: string | null;
  /** The same object as long as numbers go on; `undefined`: not idempotent. */
  current(): Promise<ProducerId | undefined>;
  /** Resolves when batches for these partitions may be sent. */
  include(partitions: readonly TopicPartition[]): Promise<void>;
  /** The partition's epochs are used up. */
  renew(): void;
}

export const anonymous: ProducerIdentity = {
  idempotent: false,
  transactionalId: null,
  current: () => Promise.resolve(undefined),
  include: () => Promise.resolve(),
  renew: () => undefined,
};

const NO_TRANSACTION = { transactionalId: null, transactionTimeout: 60_000 };

/** An id that lasts as long as this producer, fetched before the first batch. */
export class IdempotentIdentity implements ProducerIdentity {
  readonly idempotent = true;
  readonly transactionalId = null;
  readonly #cluster: Cluster;
  #id: Promise<ProducerId> | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  current(): Promise<ProducerId> {
    this.#id ??= this.#fetch().catch((error: unknown) => {
      this.#id = undefined;
      throw error;
    });
    return this.#id;
  }

  async include(): Promise<void> {
    await Promise.resolve();
  }

  renew(): void {
    this.#id = undefined;
  }

  async #fetch(): Promise<ProducerId> {
    const answer = await this.#cluster.callAny(libraryCall(Apis.initProducerId, NO_TRANSACTION));
    if (answer.errorCode !== ErrorCode.none) throw KafkaError.ofCode(answer.errorCode, 'InitProducerId');
    return { producerId: Number(answer.producerId), producerEpoch: answer.producerEpoch };
  }
}
