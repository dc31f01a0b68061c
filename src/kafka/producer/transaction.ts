import { Backoff } from '../../async/backoff.ts';
import { sleep } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../error-codes.ts';
import { KafkaError } from '../errors.ts';
import type { LibraryCall } from '../library/kafkajs-internals.ts';
import type { ProducerId, ProducerIdentity } from './producer-identity.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';
import { backoffOf, retry } from '../connections/retry.ts';

/** The coordinator is still writing the markers of the transaction before this one (Java's producer waits 20 ms). */
const CONCURRENT_MS = { first: 2, max: 20 };

/** Brokers speak of an old epoch where newer versions of these requests speak of fencing. */
const FENCED: ReadonlySet<number> = new Set([ErrorCode.invalidProducerEpoch, ErrorCode.producerFenced]);

/**
 * The coordinator's side of a transactional producer: who it is, which partitions are part of its transaction, and the
 * transaction's end (org.apache.kafka.clients.producer.internals.TransactionManager).
 */
export class Transaction implements ProducerIdentity {
  readonly idempotent = true;
  readonly transactionalId: string;
  readonly #cluster: Cluster;
  readonly #timeoutMs: number;
  readonly #maxBlockMs: number;
  readonly #stopped: () => boolean;
  readonly #included = new Set<string>();
  #id: ProducerId | undefined;

  constructor(
    cluster: Cluster,
    options: { readonly transactionalId: string; readonly timeoutMs: number; readonly maxBlockMs: number },
    stopped: () => boolean,
  ) {
    this.#cluster = cluster;
    this.transactionalId = options.transactionalId;
    this.#timeoutMs = options.timeoutMs;
    this.#maxBlockMs = options.maxBlockMs;
    this.#stopped = stopped;
  }

  /** Records may have been sent in the transaction that is open. */
  get isUsed(): boolean {
    return this.#included.size > 0;
  }

  /** The next epoch: ends what is open under older ones. */
  async init(): Promise<void> {
    this.#included.clear();
    const { transactionalId } = this;
    this.#id = await this.#persist(`Taking over the transactional id ${transactionalId}`, () =>
      initProducer(this.#cluster, transactionalId, this.#timeoutMs),
    );
  }

  current(): Promise<ProducerId> {
    if (this.#id === undefined) return Promise.reject(new Error('init must be called before records are sent'));
    return Promise.resolve(this.#id);
  }

  renew(): void {
    throw new Error('epochs of a transactional id are given by its coordinator');
  }

  async include(partitions: readonly TopicPartition[]): Promise<void> {
    const missing = partitions.filter(
      ({ topic, partition }) => !this.#included.has(topicPartitionKey(topic, partition)),
    );
    if (missing.length === 0) return;
    const identity = await this.#identity();
    const byTopic = new Map<string, number[]>();
    for (const { topic, partition } of missing) byTopic.set(topic, [...(byTopic.get(topic) ?? []), partition]);
    const topics = [...byTopic].map(([topic, numbers]) => ({ topic, partitions: numbers }));
    await this.#persist(`Adding partitions to the transaction of ${this.transactionalId}`, async () => {
      const { errors } = await call(
        this.#cluster,
        this.transactionalId,
        libraryCall(Apis.addPartitionsToTxn, { ...identity, topics }),
      );
      const results = errors.flatMap(({ topic, partitionErrors }) =>
        partitionErrors.map((result) => ({ topic, ...result })),
      );
      const failures = results.filter(({ errorCode }) => errorCode !== ErrorCode.none);
      const failed = failures.find(({ errorCode }) => errorCode !== ErrorCode.operationNotAttempted) ?? failures[0];
      if (failed !== undefined) throw this.#refusal(failed.errorCode, `Topic ${failed.topic}`);
    });
    for (const { topic, partition } of missing) this.#included.add(topicPartitionKey(topic, partition));
  }

  /** Nothing is asked of the coordinator when nothing was sent. */
  async end(outcome: 'commit' | 'abort'): Promise<void> {
    if (this.#included.size === 0) return;
    const identity = await this.#identity();
    const transactionResult = outcome === 'commit';
    await this.#persist(`The ${outcome} of the transaction of ${this.transactionalId}`, async () => {
      const { errorCode } = await call(
        this.#cluster,
        this.transactionalId,
        libraryCall(Apis.endTxn, { ...identity, transactionResult }),
      );
      if (errorCode !== ErrorCode.none) throw this.#refusal(errorCode);
    });
    this.#included.clear();
  }

  async #identity() {
    return { transactionalId: this.transactionalId, ...(await this.current()) };
  }

  #refusal(code: number, what?: string): KafkaError {
    return refusal(this.#cluster, this.transactionalId, code, what);
  }

  /** For as long as a producer may block: the coordinator may be away, loading, or busy with the last transaction. */
  async #persist<T>(what: string, action: () => Promise<T>): Promise<T> {
    const backoff = backoffOf(this.#cluster);
    return retry(
      what,
      backoff,
      this.#maxBlockMs,
      () => whenFree(action, this.#maxBlockMs, this.#stopped),
      this.#stopped,
    );
  }
}

/** The next epoch of a transactional id; whoever has an older one is fenced. Repeats while the id is busy or not to be had. */
export function fence(cluster: Cluster, transactionalId: string, stopped: () => boolean): Promise<ProducerId> {
  const { apiTimeoutMs } = cluster.config;
  const action = () => initProducer(cluster, transactionalId, FENCING_TIMEOUT_MS);
  return retry(
    `Fencing the transactional id ${transactionalId}`,
    backoffOf(cluster),
    apiTimeoutMs,
    () => whenFree(action, apiTimeoutMs, stopped),
    stopped,
  );
}

/** No transaction will be begun with it; Java's admin client takes the shortest, too. */
const FENCING_TIMEOUT_MS = 1;

async function initProducer(
  cluster: Cluster,
  transactionalId: string,
  transactionTimeout: number,
): Promise<ProducerId> {
  const request = libraryCall(Apis.initProducerId, { transactionalId, transactionTimeout });
  const { errorCode, producerId, producerEpoch } = await call(cluster, transactionalId, request);
  if (errorCode !== ErrorCode.none) throw refusal(cluster, transactionalId, errorCode);
  return { producerId: Number(producerId), producerEpoch };
}

function call<A>(cluster: Cluster, transactionalId: string, request: LibraryCall<A>): Promise<A> {
  return cluster.callTransactionCoordinator(transactionalId, request);
}

function refusal(cluster: Cluster, transactionalId: string, code: number, what?: string): KafkaError {
  if (COORDINATOR_MOVED.has(code)) cluster.forgetCoordinator(transactionalId, 'transaction');
  const where = what ?? `Transactional id ${transactionalId}`;
  if (!FENCED.has(code)) return KafkaError.ofCode(code, where);
  return new KafkaError(
    ErrorCode.producerFenced,
    `${where}: There is a newer producer with the same transactionalId which fences the current one.`,
  );
}

/** Repeats quickly while the transaction before is being ended. */
async function whenFree<T>(action: () => Promise<T>, timeoutMs: number, stopped: () => boolean): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  const backoff = new Backoff(CONCURRENT_MS.first, CONCURRENT_MS.max);
  for (;;) {
    try {
      return await action();
    } catch (error) {
      const isBusy = error instanceof KafkaError && error.code === ErrorCode.concurrentTransactions;
      const waitMs = backoff.nextMs();
      if (!isBusy || stopped() || Date.now() + waitMs > deadline) throw error;
      await sleep(waitMs);
    }
  }
}
