import { topicPartitionKey } from '../data/record.ts';
import { ConnectError, toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ProducedRecord, Producer } from './api.ts';
import { BatchSender } from './batch-sender.ts';
import { Cluster } from './cluster.ts';
import { requireWritable } from './codecs.ts';
import { ErrorCode } from './error-codes.ts';
import { ClosedError, KafkaError, TimeoutError, isRetriable } from './errors.ts';
import { partitionOfKey } from './partitioner.ts';
import type { ProducerConfig } from './producer-config.ts';
import { serializedSize } from './record-batch-writer.ts';
import { Backoff, retry, sleep } from './retry.ts';
import { TopicMetadata } from './topic-metadata.ts';

/** Half of what brokers take as one batch by default (`max.message.bytes` 1 MB), whatever compression makes of it. */
const MAX_BATCH_BYTES = 512 * 1024;

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

  constructor(config: ProducerConfig, logger: Logger) {
    requireWritable(config.compression);
    this.#config = config;
    this.#cluster = new Cluster(config.connection, logger);
    this.#metadata = new TopicMetadata(
      this.#cluster,
      () => ({ topics: [...this.#topics], maxAgeMs: config.connection.metadataMaxAgeMs }),
      () => {
        this.#sender.wake();
      },
      logger,
    );
    this.#sender = new BatchSender(this.#cluster, this.#metadata, config, logger);
  }

  async connect(): Promise<void> {
    const { apiTimeoutMs } = this.#config.connection;
    const connect = (): Promise<void> => this.#metadata.update();
    await retry('Connecting the producer', Backoff.of(this.#cluster), apiTimeoutMs, connect, () => this.#closed);
    this.#metadata.start();
  }

  /**
   * Records of one partition arrive in the order in which they were handed over, over all calls. Rejects with KafkaError
   * for what the broker refuses, with TimeoutError after `delivery.timeout.ms`; other partitions' records may be stored.
   */
  async send(records: readonly ProducedRecord[]): Promise<void> {
    if (this.#closed) throw new ClosedError('The producer');
    if (records.length === 0) return;
    this.#metadata.start();
    const sizes = records.map((record) => this.#checkedSize(record));
    await this.#awaitTopics(new Set(records.map(({ topic }) => topic)));
    const outcomes = Promise.allSettled(this.#enqueue(records, sizes));
    this.#open.add(outcomes);
    const settled = await outcomes;
    this.#open.delete(outcomes);
    const failed = settled.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw toError(failed.reason);
  }

  /** Waits for what was sent, as long as its deadlines allow. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all(this.#open);
    this.#sender.stop();
    this.#metadata.stop();
    await this.#cluster.close();
  }

  #checkedSize(record: ProducedRecord): number {
    const size = serializedSize(record);
    if (size > this.#config.maxRequestBytes) {
      throw new KafkaError(
        ErrorCode.messageTooLarge,
        `Topic ${record.topic}: The message is ${String(size)} bytes when serialized which is larger than ` +
          `${String(this.#config.maxRequestBytes)}, which is the value of the max.request.size configuration.`,
      );
    }
    return size;
  }

  #isKnown(topic: string): boolean {
    return this.#metadata.partitionCounts.has(topic);
  }

  /**
   * Only at the first use of a topic. Whoever calls meanwhile waits behind it, as in the Java producer, because nothing
   * may overtake what was handed over before.
   */
  async #awaitTopics(topics: ReadonlySet<string>): Promise<void> {
    const before = this.#waiting;
    const unknown = [...topics].filter((topic) => !this.#isKnown(topic));
    if (before === undefined && unknown.length === 0) return;
    const turn = (async () => {
      await before;
      for (const topic of unknown) await this.#awaitTopic(topic);
    })();
    const settled = turn.catch(() => undefined);
    this.#waiting = settled;
    try {
      await turn;
    } finally {
      if (this.#waiting === settled) this.#waiting = undefined;
    }
  }

  /**
   * Brokers with `auto.create.topics.enable` create the topic now, as they do for Java's producer (it is how the topics of
   * a source connector without topic.creation.* settings come into being); never later, when it was deleted.
   */
  async #awaitTopic(topic: string): Promise<void> {
    const { maxBlockMs } = this.#config;
    this.#topics.add(topic);
    const deadline = Date.now() + maxBlockMs;
    const backoff = Backoff.of(this.#cluster);
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

  #enqueue(records: readonly ProducedRecord[], sizes: readonly number[]): Promise<void>[] {
    const maxBatchBytes = Math.min(MAX_BATCH_BYTES, this.#config.maxRequestBytes);
    const outcomes: Promise<void>[] = [];
    const open = new Map<string, OpenBatch>();
    const partitionOf = this.#partitioner();
    records.forEach((record, index) => {
      const { topic } = record;
      const partition = partitionOf(record);
      const size = sizes[index] ?? 0;
      const key = topicPartitionKey(topic, partition);
      let batch = open.get(key);
      if (batch === undefined || batch.byteLength + size > maxBatchBytes) {
        if (batch !== undefined) outcomes.push(this.#sender.enqueue(batch));
        batch = { topic, partition, records: [], byteLength: 0 };
        open.set(key, batch);
      }
      batch.records.push(record);
      batch.byteLength += size;
    });
    for (const batch of open.values()) outcomes.push(this.#sender.enqueue(batch));
    this.#sender.wake();
    return outcomes;
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
  readonly records: ProducedRecord[];
  byteLength: number;
}
