import type { Backoff } from '../../async/backoff.ts';
import { topicPartitionKey } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { PackedRecords } from '../../data/packed-records.ts';
import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode, LEADER_MOVED } from '../errors/error-codes.ts';
import { ClosedError, MalformedResponseError, KafkaError, isRetriable } from '../errors/kafka-errors.ts';
import type { ProducerMetrics } from '../metrics/producer-metrics.ts';
import { produceCall, type ProduceResponse } from './produce-protocol.ts';
import type { ProducerConfig } from '../config/producer-config.ts';
import type { ProducerId, ProducerIdentity } from './producer-identity.ts';
import { writeBatch, type RecordList } from '../records/record-batch-writer.ts';
import { backoffOf } from '../connections/retry.ts';
import { SendQueue, stampOf, type Delivery, type PendingBatch } from './send-queue.ts';
import { Signal } from '../../async/signal.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';

/** Error codes that mean that the broker lost track of the sequence numbers. */
const SEQUENCE_LOST: ReadonlySet<number> = new Set([
  ErrorCode.outOfOrderSequence,
  ErrorCode.unknownProducerId,
  ErrorCode.invalidProducerEpoch,
]);

const EXPIRY_CHECK_MS = 500;

interface Lane {
  readonly leader: number;
  readonly signal: Signal;
  readonly backoff: Backoff;
  inFlight: number;
  /** After a failure, the time at which all failed batches may be retried, in milliseconds since the epoch. */
  retryAt: number;
}

interface SenderParts {
  readonly cluster: Cluster;
  readonly metadata: TopicMetadata;
  readonly config: ProducerConfig;
  readonly identity: ProducerIdentity;
  readonly metrics: ProducerMetrics;
  readonly logger: Logger;
}

interface NewBatch {
  readonly topic: string;
  readonly partition: number;
  readonly records: RecordList;
  readonly packed: PackedRecords | undefined;
  readonly byteLength: number;
}

/** The batches of one request, at most one per partition. */
type RequestBatches = readonly (readonly [SendQueue, PendingBatch])[];

/**
 * Delivers batches. One loop per leader keeps up to `max.in.flight.requests.per.connection` requests in flight, but
 * never more than five, each with at most one batch per partition. A batch that failed with a retriable error stays in
 * its queue and is retried until its deadline.
 */
export class BatchSender {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #config: ProducerConfig;
  readonly #logger: Logger;
  readonly #identity: ProducerIdentity;
  readonly #metrics: ProducerMetrics;
  readonly #queues = new Map<string, SendQueue>();
  readonly #lanes = new Map<number, Lane>();
  #expiryTimer: NodeJS.Timeout | undefined;

  constructor(parts: SenderParts) {
    this.#cluster = parts.cluster;
    this.#metadata = parts.metadata;
    this.#config = parts.config;
    this.#identity = parts.identity;
    this.#metrics = parts.metrics;
    this.#logger = parts.logger;
  }

  /**
   * Adds a batch to its queue. `delivery` is notified when the batch completes. The caller must call `wake` after the last
   * batch.
   */
  enqueue({ topic, partition, records, packed, byteLength }: NewBatch, delivery: Delivery): void {
    const key = topicPartitionKey(topic, partition);
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, (queue = new SendQueue(topic, partition)));
    const deadline = Date.now() + this.#config.deliveryTimeoutMs;
    delivery.begin();
    queue.batches.push({ records, packed, byteLength, deadline, delivery, stamp: undefined, inFlight: false });
  }

  wake(): void {
    for (const queue of this.#queues.values()) {
      if (queue.batches.length === 0) continue;
      this.#watchDeadlines();
      const leader = this.#metadata.leaderOf(queue);
      if (leader === undefined) this.#metadata.requestUpdate();
      else if (!this.#lanes.has(leader)) this.#open(leader);
    }
    for (const { signal } of this.#lanes.values()) signal.notify();
  }

  /** Fails all undelivered batches, as required when a transaction fails. */
  clear(error: Error): void {
    for (const queue of this.#queues.values()) queue.clear(error);
  }

  stop(): void {
    clearTimeout(this.#expiryTimer);
    this.clear(new ClosedError('The producer'));
    this.#queues.clear();
    for (const { signal } of this.#lanes.values()) signal.notify();
  }

  #open(leader: number): void {
    const backoff = backoffOf(this.#cluster);
    const lane: Lane = { leader, signal: new Signal(), backoff, inFlight: 0, retryAt: 0 };
    this.#lanes.set(leader, lane);
    this.#run(lane)
      .catch((error: unknown) => {
        this.#logger.error({ err: error, leader }, 'Sender loop failed unexpectedly');
      })
      .finally(() => {
        this.#lanes.delete(leader);
      });
  }

  async #run(lane: Lane): Promise<void> {
    const { maxInFlight, maxRequestBytes } = this.#config;
    for (;;) {
      const led = [...this.#queues.values()].filter((queue) => this.#metadata.leaderOf(queue) === lane.leader);
      if (led.length === 0 && lane.inFlight === 0) return;
      const now = Date.now();
      const due =
        lane.inFlight < maxInFlight ? led.filter((queue) => queue.notBefore <= now && this.#hasNext(queue)) : [];
      if (due.length > 0) {
        await this.#sendFirst(lane, fitting(due, this.#identity.idempotent, maxRequestBytes));
        continue;
      }
      const delayed = led.filter(({ batches, notBefore }) => batches.length > 0 && notBefore > now);
      const next = Math.min(...delayed.map(({ notBefore }) => notBefore));
      await lane.signal.wait(delayed.length === 0 ? undefined : next - now);
    }
  }

  #hasNext(queue: SendQueue): boolean {
    return queue.next(this.#identity.idempotent) !== undefined;
  }

  /** Sends one request with the next batch of each queue. Resolves when the next request may be sent. */
  async #sendFirst(lane: Lane, queues: readonly SendQueue[]): Promise<void> {
    let producer: ProducerId | undefined;
    try {
      producer = await this.#identity.current();
      await this.#identity.addPartitions(queues);
    } catch (error) {
      for (const queue of queues) {
        const batch = queue.next(this.#identity.idempotent);
        if (batch !== undefined) this.#failed(queue, batch, toError(error), lane);
      }
      return;
    }
    const batches: (readonly [SendQueue, PendingBatch])[] = [];
    for (const queue of queues) {
      const batch = queue.next(this.#identity.idempotent);
      if (batch === undefined) continue;
      if (queue.markSent(batch, producer)) batches.push([queue, batch]);
      else this.#identity.requestNewId();
    }
    if (batches.length === 0) return;
    lane.inFlight += 1;
    void this.#deliver(lane, batches).finally(() => {
      lane.inFlight -= 1;
      lane.signal.notify();
      if (batches.some(([queue]) => this.#metadata.leaderOf(queue) !== lane.leader)) this.wake();
    });
  }

  /** Never rejects. */
  async #deliver(lane: Lane, batches: RequestBatches): Promise<void> {
    const { acks, compression, connection } = this.#config;
    let response: ProduceResponse | undefined;
    let failure: Error | undefined;
    const sentAt = performance.now();
    try {
      const { transactionalId } = this.#identity;
      const written = encoded(batches, compression, this.#isTransactional);
      this.#metrics.sent(written);
      const call = produceCall(written, { acks, timeoutMs: connection.requestTimeoutMs, transactionalId });
      response = await this.#cluster.callNode(lane.leader, 'produce', call);
    } catch (error) {
      failure = toError(error);
      if (isRetriable(error)) this.#metadata.requestUpdate();
    }
    this.#metrics.settled(sentAt);
    for (const [queue, batch] of batches) queue.markCompleted(batch);
    if (failure !== undefined) for (const [queue, batch] of batches) this.#failed(queue, batch, failure, lane);
    else if (acks === 0 || response === undefined) for (const [queue, batch] of batches) queue.stored(batch);
    else this.#handleResponse(response, batches, lane);
  }

  #handleResponse(response: ProduceResponse, batches: RequestBatches, lane: Lane): void {
    let healthy = true;
    const open = new Map(
      batches.map(([queue, batch]) => [topicPartitionKey(queue.topic, queue.partition), { queue, batch }]),
    );
    for (const { topic, partition, errorCode } of response.partitions) {
      const key = topicPartitionKey(topic, partition);
      const loaded = open.get(key);
      if (loaded === undefined) continue;
      open.delete(key);
      const { queue, batch } = loaded;
      if (errorCode === ErrorCode.none || errorCode === ErrorCode.duplicateSequence) queue.stored(batch);
      else {
        healthy = false;
        this.#handleError(queue, batch, errorCode, lane);
      }
    }
    for (const { queue, batch } of open.values()) {
      healthy = false;
      this.#failed(
        queue,
        batch,
        new MalformedResponseError('The Produce response does not contain the partition'),
        lane,
      );
    }
    if (healthy) lane.backoff.reset();
  }

  #handleError(queue: SendQueue, batch: PendingBatch, code: number, lane: Lane): void {
    const tooLarge = code === ErrorCode.messageTooLarge || code === ErrorCode.recordListTooLarge;
    if (tooLarge && batch.records.length > 1) {
      this.#metrics.split();
      queue.split(batch);
      const { topic, partition } = queue;
      this.#logger.debug({ topic, partition, records: batch.records.length }, 'Split a batch that was too large');
      return;
    }
    const error = KafkaError.ofCode(code, `Topic ${queue.topic}, partition ${String(queue.partition)}`);
    if (LEADER_MOVED.has(code)) this.#metadata.requestUpdate();
    if (this.#identity.idempotent && SEQUENCE_LOST.has(code)) {
      // An earlier batch has failed. It will be retried first, and this batch after it.
      if (!queue.isOldest(batch)) return;
      if (!this.#isTransactional) {
        this.#logger.warn(
          { err: error },
          'The broker lost track of this producer; continuing with the next producer epoch',
        );
        queue.sequenceLost();
        this.#delay(queue, error, lane);
        return;
      }
    }
    this.#failed(queue, batch, error, lane);
  }

  #failed(queue: SendQueue, batch: PendingBatch, error: Error, lane: Lane): void {
    // After a malformed response, it is unknown whether the broker stored the batch. This is the same situation as without a
    // response.
    if (isRetriable(error) || error instanceof MalformedResponseError) {
      this.#metrics.retried(queue.topic, batch.records.length);
      this.#delay(queue, error, lane);
    } else this.#drop(queue, batch, error);
  }

  #drop(queue: SendQueue, batch: PendingBatch, error: Error): void {
    this.#metrics.failed(queue.topic, batch.records.length);
    const { topic, partition } = queue;
    this.#logger.debug({ topic, partition, records: batch.records.length, reason: error.message }, 'A batch failed');
    if (this.#isTransactional) this.clear(error);
    else queue.drop(batch, error);
  }

  #delay(queue: SendQueue, error: Error, lane: Lane): void {
    const now = Date.now();
    if (lane.retryAt <= now) lane.retryAt = now + lane.backoff.nextMs();
    queue.notBefore = lane.retryAt;
    queue.lastFailure = error;
    const { topic, partition } = queue;
    this.#logger.debug({ topic, partition, retryInMs: lane.retryAt - now, reason: error.message }, 'Retrying a batch');
  }

  get #isTransactional(): boolean {
    return this.#identity.transactionalId !== null;
  }

  /** Fails batches whose deadline has passed, even while no broker is reachable or no leader is known. */
  #watchDeadlines(): void {
    this.#expiryTimer ??= setTimeout(() => {
      this.#expiryTimer = undefined;
      const now = Date.now();
      for (const queue of this.#queues.values()) {
        for (let [head] = queue.batches; head !== undefined && head.deadline <= now; [head] = queue.batches) {
          this.#drop(queue, head, queue.expiryOf(head, this.#config.deliveryTimeoutMs));
        }
      }
      this.wake();
    }, EXPIRY_CHECK_MS);
  }
}

/** Returns the queues whose next batches fit into one request, but at least one queue. */
function fitting(due: readonly SendQueue[], idempotent: boolean, maxBytes: number): SendQueue[] {
  const chosen: SendQueue[] = [];
  let bytes = 0;
  for (const queue of due) {
    bytes += queue.next(idempotent)?.byteLength ?? 0;
    if (chosen.length > 0 && bytes > maxBytes) break;
    chosen.push(queue);
  }
  return chosen;
}

function encoded(batches: RequestBatches, compression: ProducerConfig['compression'], transactional: boolean) {
  const nowMs = Date.now();
  return batches.map(([queue, batch]) => {
    const { topic, partition } = queue;
    const options = { ...stampOf(batch), topic, compression, nowMs, transactional };
    return { topic, partition, bytes: writeBatch(batch.records, options), count: batch.records.length };
  });
}
