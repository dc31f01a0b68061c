import { sleep } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { ConnectError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ProducedRecord, Producer, SendFailure } from '../api.ts';
import { BatchSender } from './batch-sender.ts';
import { Cluster } from '../cluster.ts';
import { requireWritable } from '../records/codecs.ts';
import { ErrorCode } from '../error-codes.ts';
import { ClosedError, KafkaError, TimeoutError, isRetriable } from '../errors.ts';
import { partitionOfKey } from './partitioner.ts';
import type { ProducerConfig } from '../config/producer-config.ts';
import { anonymous, IdempotentIdentity, type ProducerIdentity } from './producer-identity.ts';
import { serializedSize, sizeBound } from '../records/record-batch-writer.ts';
import { backoffOf, retry } from '../retry.ts';
import { Delivery } from './send-queue.ts';
import { TopicMetadata } from '../topic-metadata.ts';

/** Half of what brokers take as one batch by default (`max.message.bytes` 1 MB), whatever compression makes of it. */
const MAX_BATCH_BYTES = 512 * 1024;

/** What a producer may share with whoever made it. */
export interface ProducerDependencies {
  readonly cluster: Cluster;
  readonly identity: ProducerIdentity;
}

/** Producer of api.ts: partitions and batches what it is given; the sender delivers it in order, with retries. */
export class KafkaProducer implements Producer {
  readonly #config: ProducerConfig;
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #sender: BatchSender;
  readonly #topics = new Set<string>();
  readonly #open = new Set<Promise<unknown>>();
  #waiting: Promise<unknown> | undefined;
  #closed = false;

  constructor(config: ProducerConfig, { cluster, identity }: ProducerDependencies, logger: Logger) {
    requireWritable(config.compression);
    this.#config = config;
    this.#cluster = cluster;
    const metadata = new TopicMetadata(
      cluster,
      () => ({ topics: [...this.#topics], maxAgeMs: config.connection.metadataMaxAgeMs }),
      () => {
        this.#sender.wake();
      },
      logger,
    );
    this.#metadata = metadata;
    this.#sender = new BatchSender({ cluster, metadata, config, identity, logger });
  }

  /** One that writes without transactions. */
  static plain(config: ProducerConfig, logger: Logger): KafkaProducer {
    const cluster = new Cluster(config.connection, logger);
    const identity = config.idempotent ? new IdempotentIdentity(cluster) : anonymous;
    return new KafkaProducer(config, { cluster, identity }, logger);
  }

  async connect(): Promise<void> {
    const { apiTimeoutMs } = this.#config.connection;
    const connect = (): Promise<void> => this.#metadata.update();
    await retry('Connecting the producer', backoffOf(this.#cluster), apiTimeoutMs, connect, () => this.#closed);
    this.#metadata.start();
  }

  async send(records: readonly ProducedRecord[]): Promise<void> {
    const [failure] = await this.trySend(records);
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Records of one partition arrive in the order in which they were handed over, over all calls. Fails with KafkaError for
   * what the broker refuses, with TimeoutError after `delivery.timeout.ms`.
   */
  async trySend(records: readonly ProducedRecord[]): Promise<readonly SendFailure[]> {
    if (this.#closed) throw new ClosedError('The producer');
    if (records.length === 0) return [];
    this.#metadata.start();
    const failures: SendFailure[] = [];
    const known = await this.#ofKnownTopics(records, failures);
    const delivery = new Delivery();
    delivery.begin();
    this.#enqueue(known, delivery, failures);
    delivery.end();
    this.#open.add(delivery.done);
    failures.push(...(await delivery.done));
    this.#open.delete(delivery.done);
    return failures;
  }

  /** Waits for what was sent, as long as its deadlines allow. */
  async close(timeoutMs?: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const settled = Promise.all(this.#open);
    if (timeoutMs === undefined) await settled;
    else await within(settled, timeoutMs);
    this.#sender.stop();
    this.#metadata.stop();
    await this.#cluster.close();
  }

  #isKnown(topic: string): boolean {
    return this.#metadata.partitionCounts.has(topic);
  }

  /**
   * Waits for topics at their first use. Whoever calls meanwhile waits behind it, as in the Java producer, because nothing
   * may overtake what was handed over before.
   */
  async #ofKnownTopics(
    records: readonly ProducedRecord[],
    failures: SendFailure[],
  ): Promise<readonly ProducedRecord[]> {
    const before = this.#waiting;
    const unknown = this.#unknownTopics(records);
    if (before === undefined && unknown.size === 0) return records;
    const errors = new Map<string, Error>();
    const turn = (async () => {
      await before;
      for (const topic of unknown) {
        await this.#awaitTopic(topic).catch((error: unknown) => errors.set(topic, toError(error)));
      }
    })();
    this.#waiting = turn;
    await turn;
    if (this.#waiting === turn) this.#waiting = undefined;
    if (errors.size === 0) return records;
    for (const [topic, error] of errors) {
      failures.push({ records: records.filter((record) => record.topic === topic), error });
    }
    return records.filter(({ topic }) => !errors.has(topic));
  }

  #unknownTopics(records: readonly ProducedRecord[]): ReadonlySet<string> {
    const unknown = new Set<string>();
    let last: string | undefined;
    for (const { topic } of records) {
      if (topic === last) continue;
      last = topic;
      if (!this.#isKnown(topic)) unknown.add(topic);
    }
    return unknown;
  }

  /**
   * Brokers with `auto.create.topics.enable` create the topic now, as they do for Java's producer (it is how the topics of
   * a source connector without topic.creation.* settings come into being); never later, when it was deleted.
   */
  async #awaitTopic(topic: string): Promise<void> {
    const { maxBlockMs } = this.#config;
    this.#topics.add(topic);
    const deadline = Date.now() + maxBlockMs;
    const backoff = backoffOf(this.#cluster);
    while (!this.#isKnown(topic)) {
      const failure = await this.#metadata.update(true).then(
        () => this.#metadata.takeFailure(),
        (error: unknown) => error,
      );
      if (this.#isKnown(topic)) return;
      if (failure !== undefined && !isRetriable(failure)) {
        this.#topics.delete(topic);
        throw toError(failure);
      }
      if (this.#closed) throw new ClosedError('The producer');
      const waitMs = backoff.nextMs();
      if (Date.now() + waitMs > deadline) {
        this.#topics.delete(topic);
        throw new TimeoutError(`Topic ${topic} not present in metadata after ${String(maxBlockMs)} ms.`, {
          cause: failure,
        });
      }
      await sleep(waitMs);
    }
  }

  #enqueue(records: readonly ProducedRecord[], delivery: Delivery, failures: SendFailure[]): void {
    const { maxRequestBytes } = this.#config;
    const maxBatchBytes = Math.min(MAX_BATCH_BYTES, maxRequestBytes);
    const open = new Map<string, Map<number, OpenBatch>>();
    const partitionOf = this.#partitioner();
    let batch: OpenBatch | undefined;
    for (const record of records) {
      const { topic } = record;
      const size = sizeBound(record);
      let partition: number;
      try {
        if (size > maxRequestBytes) this.#requireFitting(record);
        partition = partitionOf(record);
      } catch (error) {
        failures.push({ records: [record], error: toError(error) });
        continue;
      }
      if (batch?.topic !== topic || batch.partition !== partition) batch = openBatch(open, topic, partition);
      if (batch.records.length > 0 && batch.byteLength + size > maxBatchBytes) {
        this.#sender.enqueue(batch, delivery);
        batch.records = [];
        batch.byteLength = 0;
      }
      batch.records.push(record);
      batch.byteLength += size;
    }
    for (const batches of open.values()) for (const last of batches.values()) this.#sender.enqueue(last, delivery);
    this.#sender.wake();
  }

  #requireFitting(record: ProducedRecord): void {
    const { maxRequestBytes } = this.#config;
    const size = serializedSize(record);
    if (size <= maxRequestBytes) return;
    throw new KafkaError(
      ErrorCode.messageTooLarge,
      `Topic ${record.topic}: The message is ${String(size)} bytes when serialized which is larger than ` +
        `${String(maxRequestBytes)}, which is the value of the max.request.size configuration.`,
    );
  }

  /** Java's default: by the key's hash; without a key one partition for the whole call, another for the next. */
  #partitioner(): (record: ProducedRecord) => number {
    const sticky = new Map<string, number>();
    return ({ topic, partition, key }) => {
      const count = this.#metadata.partitionCounts.get(topic) ?? 1;
      if (partition !== null) {
        if (partition >= 0 && partition < count) return partition;
        throw new ConnectError(
          `Topic ${topic}: Invalid partition given with record: ${String(partition)} is not in the range [0...${String(count)}).`,
        );
      }
      if (key !== null) return partitionOfKey(key, count);
      const chosen = sticky.get(topic) ?? this.#anyPartition(topic, count);
      sticky.set(topic, chosen);
      return chosen;
    };
  }

  /** One that has a leader, if any has. */
  #anyPartition(topic: string, count: number): number {
    const start = Math.floor(Math.random() * count);
    for (let step = 0; step < count; step++) {
      const partition = (start + step) % count;
      if (this.#metadata.leaderOf({ topic, partition }) !== undefined) return partition;
    }
    return start;
  }
}

interface OpenBatch {
  readonly topic: string;
  readonly partition: number;
  records: ProducedRecord[];
  byteLength: number;
}

function openBatch(open: Map<string, Map<number, OpenBatch>>, topic: string, partition: number): OpenBatch {
  let batches = open.get(topic);
  if (batches === undefined) open.set(topic, (batches = new Map<number, OpenBatch>()));
  let batch = batches.get(partition);
  if (batch === undefined) batches.set(partition, (batch = { topic, partition, records: [], byteLength: 0 }));
  return batch;
}
