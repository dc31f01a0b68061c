import type { Logger } from '../../observe/logger.ts';
import { Backoff } from '../../async/backoff.ts';
import { sleep } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition, topicPartitionText } from '../../data/record.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import type { LibraryCall } from '../library/kafkajs-internals.ts';
import type { ProducerId, ProducerIdentity } from './producer-identity.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';
import { backoffOf, retry } from '../connections/retry.ts';

/** Back-off while the coordinator writes the markers of the previous transaction (Java's producer waits 20 ms). */
const CONCURRENT_MS = { first: 2, max: 20 };

/** Older brokers return INVALID_PRODUCER_EPOCH instead of PRODUCER_FENCED. */
const FENCED: ReadonlySet<number> = new Set([ErrorCode.invalidProducerEpoch, ErrorCode.producerFenced]);

/**
 * The requests of a transactional producer to its coordinator: producer id, partitions of the transaction, commit and abort
 * (org.apache.kafka.clients.producer.internals.TransactionManager).
 */
export class Transaction implements ProducerIdentity {
  readonly idempotent = true;
  readonly transactionalId: string;
  readonly #cluster: Cluster;
  readonly #timeoutMs: number;
  readonly #maxBlockMs: number;
  readonly #isStopped: () => boolean;
  readonly #logger: Logger;
  readonly #partitions = new Set<string>();
  #id: ProducerId | undefined;

  constructor(
    cluster: Cluster,
    options: { readonly transactionalId: string; readonly timeoutMs: number; readonly maxBlockMs: number },
    isStopped: () => boolean,
    logger: Logger,
  ) {
    this.#logger = logger;
    this.#cluster = cluster;
    this.transactionalId = options.transactionalId;
    this.#timeoutMs = options.timeoutMs;
    this.#maxBlockMs = options.maxBlockMs;
    this.#isStopped = isStopped;
  }

  /** True if records may have been sent in the open transaction. */
  get hasPartitions(): boolean {
    return this.#partitions.size > 0;
  }

  /** Requests the next epoch. The coordinator aborts open transactions of earlier epochs. */
  async init(): Promise<void> {
    this.#partitions.clear();
    const { transactionalId } = this;
    this.#id = await this.#retry(`Initializing the transactional id ${transactionalId}`, () =>
      initProducer(this.#cluster, transactionalId, this.#timeoutMs),
    );
    this.#debug({}, 'Initialized the producer id');
  }

  current(): Promise<ProducerId> {
    if (this.#id === undefined) return Promise.reject(new Error('init must be called before records are sent'));
    return Promise.resolve(this.#id);
  }

  requestNewId(): void {
    throw new Error('The epochs of a transactional id are assigned by its coordinator');
  }

  async addPartitions(partitions: readonly TopicPartition[]): Promise<void> {
    const missing = partitions.filter(
      ({ topic, partition }) => !this.#partitions.has(topicPartitionKey(topic, partition)),
    );
    if (missing.length === 0) return;
    const identity = await this.#identity();
    const byTopic = new Map<string, number[]>();
    for (const { topic, partition } of missing) byTopic.set(topic, [...(byTopic.get(topic) ?? []), partition]);
    const topics = [...byTopic].map(([topic, numbers]) => ({ topic, partitions: numbers }));
    await this.#retry(`Adding partitions to the transaction of ${this.transactionalId}`, async () => {
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
      if (failed !== undefined) throw this.#error(failed.errorCode, `Topic ${failed.topic}`);
    });
    for (const { topic, partition } of missing) this.#partitions.add(topicPartitionKey(topic, partition));
    this.#debug({ partitions: missing.map(topicPartitionText) }, 'Added partitions to the transaction');
  }

  /** Commits or aborts the transaction. Sends no request if the transaction has no partitions. */
  async end(outcome: 'commit' | 'abort'): Promise<void> {
    if (this.#partitions.size === 0) return;
    const identity = await this.#identity();
    const transactionResult = outcome === 'commit';
    await this.#retry(`The ${outcome} of the transaction of ${this.transactionalId}`, async () => {
      const { errorCode } = await call(
        this.#cluster,
        this.transactionalId,
        libraryCall(Apis.endTxn, { ...identity, transactionResult }),
      );
      if (errorCode !== ErrorCode.none) throw this.#error(errorCode);
    });
    this.#debug({}, outcome === 'commit' ? 'Committed the transaction' : 'Aborted the transaction');
    this.#partitions.clear();
  }

  #debug(fields: object, message: string): void {
    this.#logger.debug({ transactionalId: this.transactionalId, ...this.#id, ...fields }, message);
  }

  async #identity() {
    return { transactionalId: this.transactionalId, ...(await this.current()) };
  }

  #error(code: number, what?: string): KafkaError {
    return errorOf(this.#cluster, this.transactionalId, code, what);
  }

  /** Retries for up to `max.block.ms` while the coordinator is unreachable, loading, or completing the previous transaction. */
  async #retry<T>(what: string, action: () => Promise<T>): Promise<T> {
    const backoff = backoffOf(this.#cluster);
    return retry(
      what,
      backoff,
      this.#maxBlockMs,
      () => retryConcurrent(action, this.#maxBlockMs, this.#isStopped),
      this.#isStopped,
    );
  }
}

/**
 * Requests the next epoch of a transactional id, which fences earlier producers. Retries on concurrent transactions and retriable
 * errors. No transaction is started with this epoch, but the coordinator also uses the transaction timeout as the time limit
 * for replicating the epoch. It is therefore the request timeout, as in Java's admin client (KAFKA-16047).
 */
export function fence(cluster: Cluster, transactionalId: string, isStopped: () => boolean): Promise<ProducerId> {
  const { apiTimeoutMs, requestTimeoutMs } = cluster.config;
  const action = () => initProducer(cluster, transactionalId, requestTimeoutMs);
  return retry(
    `Fencing the transactional id ${transactionalId}`,
    backoffOf(cluster),
    apiTimeoutMs,
    () => retryConcurrent(action, apiTimeoutMs, isStopped),
    isStopped,
  );
}

async function initProducer(
  cluster: Cluster,
  transactionalId: string,
  transactionTimeout: number,
): Promise<ProducerId> {
  const request = libraryCall(Apis.initProducerId, { transactionalId, transactionTimeout });
  const { errorCode, producerId, producerEpoch } = await call(cluster, transactionalId, request);
  if (errorCode !== ErrorCode.none) throw errorOf(cluster, transactionalId, errorCode);
  return { producerId: Number(producerId), producerEpoch };
}

function call<A>(cluster: Cluster, transactionalId: string, request: LibraryCall<A>): Promise<A> {
  return cluster.callTransactionCoordinator(transactionalId, request);
}

function errorOf(cluster: Cluster, transactionalId: string, code: number, what?: string): KafkaError {
  if (COORDINATOR_MOVED.has(code)) cluster.forgetCoordinator(transactionalId, 'transaction');
  const where = what ?? `Transactional id ${transactionalId}`;
  if (!FENCED.has(code)) return KafkaError.ofCode(code, where);
  return new KafkaError(
    ErrorCode.producerFenced,
    `${where}: There is a newer producer with the same transactionalId which fences the current one.`,
  );
}

/** Retries with a short back-off while the coordinator completes the previous transaction. */
async function retryConcurrent<T>(action: () => Promise<T>, timeoutMs: number, isStopped: () => boolean): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  const backoff = new Backoff(CONCURRENT_MS.first, CONCURRENT_MS.max);
  for (;;) {
    try {
      return await action();
    } catch (error) {
      const isBusy = error instanceof KafkaError && error.code === ErrorCode.concurrentTransactions;
      const waitMs = backoff.nextMs();
      if (!isBusy || isStopped() || Date.now() + waitMs > deadline) throw error;
      await sleep(waitMs);
    }
  }
}
