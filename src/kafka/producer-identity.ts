import type { Cluster } from './cluster.ts';
import { ErrorCode } from './error-codes.ts';
import { KafkaError } from './errors.ts';
import { Apis, libraryCall } from './protocol.ts';

export interface ProducerId {
  /** -1: not idempotent. */
  readonly producerId: number;
  readonly producerEpoch: number;
}

const NOT_IDEMPOTENT: ProducerId = { producerId: -1, producerEpoch: -1 };
const NO_TRANSACTION = { transactionalId: null, transactionTimeout: 60_000 };

/** The id under which an idempotent producer numbers its records; fetched before the first batch. */
export class ProducerIdentity {
  readonly #cluster: Cluster;
  readonly #idempotent: boolean;
  #id: ProducerId | undefined;

  constructor(cluster: Cluster, idempotent: boolean) {
    this.#cluster = cluster;
    this.#idempotent = idempotent;
  }

  async current(): Promise<ProducerId> {
    if (!this.#idempotent) return NOT_IDEMPOTENT;
    if (this.#id === undefined) {
      const answer = await this.#cluster.callAny(libraryCall(Apis.initProducerId, NO_TRANSACTION));
      if (answer.errorCode !== ErrorCode.none) throw KafkaError.ofCode(answer.errorCode, 'InitProducerId');
      this.#id = { producerId: Number(answer.producerId), producerEpoch: answer.producerEpoch };
    }
    return this.#id;
  }

  /** All sequence numbers start anew with the next id. */
  renew(): void {
    this.#id = undefined;
  }
}
