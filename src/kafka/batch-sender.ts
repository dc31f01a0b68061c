import { topicPartitionKey } from '../data/record.ts';
import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ProducedRecord } from './api.ts';
import type { Cluster } from './cluster.ts';
import { ErrorCode, LEADER_MOVED } from './error-codes.ts';
import { ClosedError, KafkaError, TimeoutError, isRetriable } from './errors.ts';
import { produceCall, type ProduceAnswer } from './produce-protocol.ts';
import type { ProducerConfig } from './producer-config.ts';
import { ProducerIdentity } from './producer-identity.ts';
import { writeBatch } from './record-batch-writer.ts';
import { Backoff } from './retry.ts';
import { SendQueue, type PendingBatch } from './send-queue.ts';
import { Signal } from './signal.ts';
import type { TopicMetadata } from './topic-metadata.ts';

const SEQUENCE_LOST: ReadonlySet<number> = new Set([
  ErrorCode.outOfOrderSequence,
  ErrorCode.unknownProducerId,
  ErrorCode.invalidProducerEpoch,
]);

/**
 * Delivers batches: one loop per leader, one request at a time to each, and in it at most the oldest batch of each
 * partition. A batch that failed for a reason that passes stays at the head of its queue until its deadline.
 */
export class BatchSender {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #config: ProducerConfig;
  readonly #logger: Logger;
  readonly #identity: ProducerIdentity;
  readonly #queues = new Map<string, SendQueue>();
  readonly #loops = new Map<number, Signal>();
  #expiryTimer: NodeJS.Timeout | undefined;

  constructor(cluster: Cluster, metadata: TopicMetadata, config: ProducerConfig, logger: Logger) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#config = config;
    this.#logger = logger;
    this.#identity = new ProducerIdentity(cluster, config.idempotent);
  }

  /** Resolves when the broker has the batch. Call `wake` after the last one. */
  enqueue(batch: {
    topic: string;
    partition: number;
    records: readonly ProducedRecord[];
    byteLength: number;
  }): Promise<void> {
    const { topic, partition, records, byteLength } = batch;
    const key = topicPartitionKey(topic, partition);
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, (queue = new SendQueue(topic, partition)));
    const { batches } = queue;
    const deadline = Date.now() + this.#config.deliveryTimeoutMs;
    return new Promise((resolve, reject) => {
      const settle = (failure?: Error): void => {
        if (failure === undefined) resolve();
        else reject(failure);
      };
      batches.push({ records, byteLength, deadline, attempted: false, settle });
    });
  }

  wake(): void {
    for (const queue of this.#queues.values()) {
      if (queue.batches.length === 0) continue;
      this.#watchDeadlines();
      const leader = this.#metadata.leaderOf(queue);
      if (leader === undefined) this.#metadata.requestUpdate();
      else if (!this.#loops.has(leader)) this.#startLoop(leader);
    }
    for (const signal of this.#loops.values()) signal.notify();
  }

  /** Ends the loops; whoever is interested in an outcome has waited for it. */
  stop(): void {
    clearTimeout(this.#expiryTimer);
    this.#queues.clear();
    for (const signal of this.#loops.values()) signal.notify();
  }

  #startLoop(leader: number): void {
    const signal = new Signal();
    this.#loops.set(leader, signal);
    this.#sendTo(leader, signal).catch((error: unknown) => {
      this.#loops.delete(leader);
      this.#logger.error({ err: error, leader }, 'sending to a broker ended unexpectedly');
    });
  }

  async #sendTo(leader: number, signal: Signal): Promise<void> {
    const backoff = Backoff.of(this.#cluster);
    for (;;) {
      const led = [...this.#queues.values()].filter((queue) => this.#metadata.leaderOf(queue) === leader);
      if (led.length === 0) break;
      const waiting = led.filter(({ batches, inFlight }) => batches.length > 0 && !inFlight);
      const now = Date.now();
      const due = waiting.filter(({ notBefore }) => notBefore <= now);
      if (due.length === 0) {
        const next = Math.min(...waiting.map(({ notBefore }) => notBefore));
        await signal.wait(waiting.length === 0 ? undefined : next - now);
        continue;
      }
      await this.#sendOnce(leader, this.#fitting(due), backoff);
    }
    this.#loops.delete(leader);
  }

  /** As many as fit into one request, at least one. */
  #fitting(due: readonly SendQueue[]): SendQueue[] {
    const chosen: SendQueue[] = [];
    let bytes = 0;
    for (const queue of due) {
      bytes += queue.batches[0]?.byteLength ?? 0;
      if (chosen.length > 0 && bytes > this.#config.maxRequestBytes) break;
      chosen.push(queue);
    }
    return chosen;
  }

  async #sendOnce(leader: number, queues: readonly SendQueue[], backoff: Backoff): Promise<void> {
    const { acks, connection } = this.#config;
    const heads = new Map<SendQueue, PendingBatch>();
    try {
      for (const queue of queues) queue.inFlight = true;
      const identity = await this.#identity.current();
      const batches = queues.map((queue) => {
        const { topic, partition } = queue;
        const [head] = queue.batches;
        if (head === undefined) throw new Error('an empty queue is not due');
        heads.set(queue, head);
        const { compression } = this.#config;
        const baseSequence = queue.sequenceFor(identity.producerId);
        const options = { ...identity, topic, compression, nowMs: Date.now(), baseSequence };
        return { topic, partition, bytes: writeBatch(head.records, options) };
      });
      for (const head of heads.values()) head.attempted = true;
      const call = produceCall(batches, acks, connection.requestTimeoutMs);
      const answer = await this.#cluster.callNode(leader, 'produce', call);
      if (acks === 0) for (const queue of queues) this.#succeed(queue, heads.get(queue));
      else this.#settleAnswered(answer, heads, backoff);
    } catch (error) {
      if (isRetriable(error)) this.#metadata.requestUpdate();
      for (const queue of queues) this.#failed(queue, heads.get(queue) ?? queue.batches[0], toError(error), backoff);
    } finally {
      for (const queue of queues) queue.inFlight = false;
      if (queues.some((queue) => this.#metadata.leaderOf(queue) !== leader)) this.wake();
    }
  }

  #settleAnswered(answer: ProduceAnswer, heads: ReadonlyMap<SendQueue, PendingBatch>, backoff: Backoff): void {
    let healthy = true;
    for (const { topic, partition, errorCode } of answer.partitions) {
      const queue = this.#queues.get(topicPartitionKey(topic, partition));
      const head = queue === undefined ? undefined : heads.get(queue);
      if (queue === undefined || head === undefined) continue;
      if (errorCode === ErrorCode.none || errorCode === ErrorCode.duplicateSequence) this.#succeed(queue, head);
      else {
        healthy = false;
        this.#judge(queue, head, errorCode, backoff);
      }
    }
    if (healthy) backoff.reset();
  }

  #judge(queue: SendQueue, head: PendingBatch, code: number, backoff: Backoff): void {
    const error = KafkaError.ofCode(code, `Topic ${queue.topic}, partition ${String(queue.partition)}`);
    const tooLarge = code === ErrorCode.messageTooLarge || code === ErrorCode.recordListTooLarge;
    if (tooLarge && head.records.length > 1 && queue.batches[0] === head) {
      queue.splitHead();
      return;
    }
    if (LEADER_MOVED.has(code)) this.#metadata.requestUpdate();
    if (SEQUENCE_LOST.has(code) && this.#config.idempotent) {
      this.#logger.warn({ err: error }, 'the broker lost track of this producer, going on with a new producer id');
      this.#identity.renew();
      this.#failed(queue, head, new TimeoutError(error.message, { cause: error }), backoff);
      return;
    }
    this.#failed(queue, head, error, backoff);
  }

  #succeed(queue: SendQueue, head: PendingBatch | undefined): void {
    if (head === undefined || queue.batches[0] !== head) return;
    queue.batches.shift();
    queue.advanceSequence(head.records.length);
    queue.notBefore = 0;
    head.settle();
  }

  #failed(queue: SendQueue, head: PendingBatch | undefined, error: Error, backoff: Backoff): void {
    if (head === undefined || queue.batches[0] !== head) return;
    if (isRetriable(error)) {
      queue.notBefore = Date.now() + backoff.nextMs();
      queue.lastFailure = error;
      return;
    }
    this.#drop(queue, head, error);
  }

  #drop(queue: SendQueue, head: PendingBatch, error: Error): void {
    queue.batches.shift();
    queue.notBefore = 0;
    // Whether the broker has it is unknown, and with it the next sequence number.
    if (head.attempted) this.#identity.renew();
    head.settle(error);
  }

  /** Deadlines hold also while no broker answers and no leader is known. */
  #watchDeadlines(): void {
    this.#expiryTimer ??= setTimeout(() => {
      this.#expiryTimer = undefined;
      const now = Date.now();
      for (const queue of this.#queues.values()) {
        for (let [head] = queue.batches; head !== undefined && head.deadline <= now; [head] = queue.batches) {
          this.#drop(queue, head, this.#expired(queue, head));
        }
      }
      this.wake();
    }, EXPIRY_CHECK_MS);
  }

  #expired({ topic, partition, lastFailure }: SendQueue, { records }: PendingBatch): TimeoutError {
    const { deliveryTimeoutMs } = this.#config;
    const reason = lastFailure === undefined || lastFailure instanceof ClosedError ? '' : ` (${lastFailure.message})`;
    return new TimeoutError(
      `Expiring ${String(records.length)} record(s) for ${topic}-${String(partition)}: ${String(deliveryTimeoutMs)} ms ` +
        `has passed since batch creation${reason}`,
      { cause: lastFailure },
    );
  }
}

const EXPIRY_CHECK_MS = 500;
