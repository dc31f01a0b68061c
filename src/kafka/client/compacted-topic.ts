import { sleep } from '../../async/sleep.ts';
import { toError } from '../../errors.ts';
import type { TopicPartition } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CompactedTopic, CompactedTopicOptions, ConsumedRecord, ProducedRecord } from '../api.ts';
import { KafkaAdmin } from './admin.ts';
import { ensureCompactedTopic } from './compacted-topic-creation.ts';
import { KafkaConsumer } from '../consumer/consumer.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import { ClosedError } from '../errors/kafka-errors.ts';
import { KafkaProducer } from '../producer/producer.ts';
import type { ProducerConfig } from '../config/producer-config.ts';

const POLL_MS = 5000;
/**
 * Poll timeout while a caller waits for `readToEnd`. The position of an empty partition becomes known without a fetched
 * batch, and then `poll` does not return early.
 */
const WAITER_POLL_MS = 10;
const RETRY_MS = 1000;
const CLOSE_MS = 2000;
/**
 * Limits how long `stop` waits for pending records. Otherwise, while no broker is reachable, these records would delay the
 * shutdown of a worker by `delivery.timeout.ms` (two minutes).
 */
const PRODUCER_CLOSE_MS = 5000;

interface Waiter {
  readonly targets: ReadonlyMap<number, number>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Connect's KafkaBasedLog (org.apache.kafka.connect.util.KafkaBasedLog): a consumer without a group reads all partitions from the
 * beginning and keeps following them; a producer writes.
 */
export class KafkaCompactedTopic implements CompactedTopic {
  readonly #options: CompactedTopicOptions;
  readonly #consumer: KafkaConsumer;
  readonly #producer: KafkaProducer;
  readonly #adminConfig: ConsumerConfig['connection'];
  readonly #logger: Logger;
  readonly #waiters = new Set<Waiter>();
  /** Offsets before which all records were passed to `onRecord`, by partition. */
  readonly #delivered = new Map<number, number>();
  #partitions: readonly TopicPartition[] = [];
  #following: Promise<void> | undefined;
  #stopped = false;

  constructor(options: CompactedTopicOptions, consumer: ConsumerConfig, producer: ProducerConfig, logger: Logger) {
    this.#options = options;
    this.#logger = logger.child({ topic: options.topic });
    this.#consumer = new KafkaConsumer(consumer, this.#logger);
    this.#producer = KafkaProducer.plain(producer, this.#logger);
    this.#adminConfig = consumer.connection;
  }

  async start(): Promise<void> {
    try {
      await this.#open();
      // Reads only up to the first open transaction. The producer that can end this transaction may be started only after this
      // method has resolved.
      await this.#readTo('read_committed');
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #open(): Promise<void> {
    const { topic } = this.#options;
    const connecting = this.#producer.connect();
    const admin = new KafkaAdmin(this.#adminConfig, this.#logger);
    try {
      const [count] = await Promise.all([ensureCompactedTopic(admin, this.#options, this.#logger), connecting]);
      this.#partitions = Array.from({ length: count }, (_value, partition) => ({ topic, partition }));
    } finally {
      await connecting.catch(() => undefined);
      await admin.close();
    }
    this.#consumer.assign(this.#partitions);
    this.#following = this.#follow();
  }

  send(key: string | Uint8Array, value: Uint8Array | null): Promise<void> {
    return this.sendAll([{ key, value }]);
  }

  sendAll(records: readonly { key: string | Uint8Array; value: Uint8Array | null }[]): Promise<void> {
    const { topic } = this.#options;
    const produced = records.map(({ key, value }): ProducedRecord => ({
      topic,
      partition: null,
      key: typeof key === 'string' ? Buffer.from(key, 'utf8') : key,
      value,
      timestamp: null,
      headers: [],
    }));
    return this.#producer.send(produced);
  }

  /** Also waits for open transactions to end, because their records precede the end of the topic. */
  readToEnd(): Promise<void> {
    return this.#readTo('read_uncommitted');
  }

  async #readTo(isolation: ConsumerConfig['isolation']): Promise<void> {
    if (this.#stopped) throw new ClosedError(`Topic ${this.#options.topic}`);
    const ends = await this.#consumer.endOffsets(this.#partitions, isolation);
    const targets = new Map(ends.map(({ partition, offset }) => [partition, offset]));
    if (this.#hasReached(targets)) return;
    await new Promise<void>((resolve, reject) => {
      this.#waiters.add({ targets, resolve, reject });
      this.#consumer.wakeup();
    });
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#rejectWaiters(new ClosedError(`Topic ${this.#options.topic}`));
    await Promise.all([this.#consumer.close(CLOSE_MS), this.#producer.close(PRODUCER_CLOSE_MS)]);
    await this.#following;
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      try {
        const waitMs = this.#waiters.size > 0 ? WAITER_POLL_MS : POLL_MS;
        for (const record of await this.#consumer.poll(waitMs)) this.#deliver(record);
        this.#noteDelivered();
      } catch (error) {
        if (this.#stopped) return;
        this.#logger.error({ err: error }, 'Failed to read the topic; retrying');
        this.#rejectWaiters(toError(error));
        await sleep(RETRY_MS);
      }
    }
  }

  /** Copies key and value, because a view would keep the whole fetch response in memory. */
  #deliver(record: ConsumedRecord): void {
    const { partition, offset, key, value } = record;
    try {
      this.#options.onRecord({ ...record, key: key && Buffer.from(key), value: value && Buffer.from(value) });
    } catch (error) {
      this.#logger.error({ err: error, partition, offset }, 'Failed to process a record; skipping it');
    }
  }

  #noteDelivered(): void {
    for (const partition of this.#partitions) {
      const position = this.#consumer.position(partition);
      if (position !== undefined) this.#delivered.set(partition.partition, position);
    }
    for (const waiter of this.#waiters) {
      if (!this.#hasReached(waiter.targets)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  #hasReached(targets: ReadonlyMap<number, number>): boolean {
    for (const [partition, target] of targets) if ((this.#delivered.get(partition) ?? -1) < target) return false;
    return true;
  }

  #rejectWaiters(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }
}
