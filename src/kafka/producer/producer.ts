import { sleep } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { PackedRecords, RecordPacker } from '../../data/packed-records.ts';
import { ConnectError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ProducedRecord, Producer, SendFailure } from '../api.ts';
import { BatchSender } from './batch-sender.ts';
import { Cluster } from '../connections/cluster.ts';
import { requireWritable } from '../records/codecs.ts';
import { ErrorCode } from '../error-codes.ts';
import { ClosedError, KafkaError, TimeoutError, isRetriable } from '../errors.ts';
import { NetworkFigures } from '../metrics/network-figures.ts';
import { ProducerFigures } from '../metrics/producer-figures.ts';
import { OpenBatches } from './open-batches.ts';
import { partitionOfKey } from './partitioner.ts';
import type { ProducerConfig } from '../config/producer-config.ts';
import { anonymous, IdempotentIdentity, type ProducerIdentity } from './producer-identity.ts';
import { recordsOf, serializedSize, sizeBound } from '../records/record-batch-writer.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import { Delivery } from './send-queue.ts';
import { TopicMetadata } from '../connections/topic-metadata.ts';

/** Half of what brokers take as one batch by default (`max.message.bytes` 1 MB), whatever compression makes of it. */
const MAX_BATCH_BYTES = 512 * 1024;

type Part = ProducedRecord | PackedRecords;
type Partitioner = (record: Pick<ProducedRecord, 'topic' | 'partition' | 'key'>) => number;

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

  /** The caller may share `cluster` and `identity`. */
  constructor(config: ProducerConfig, cluster: Cluster, identity: ProducerIdentity, logger: Logger) {
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
    const figures = new ProducerFigures(config.connection.metricWindow);
    const network = cluster.figures;
    if (network !== undefined) network.more = () => figures.sets(network);
    this.#sender = new BatchSender({ cluster, metadata, config, identity, figures, logger });
  }

  /** One that writes without transactions. */
  static plain(config: ProducerConfig, logger: Logger): KafkaProducer {
    const { clientId, metricWindow } = config.connection;
    const cluster = new Cluster(config.connection, logger, new NetworkFigures('producer', clientId, metricWindow));
    const identity = config.idempotent ? new IdempotentIdentity(cluster) : anonymous;
    return new KafkaProducer(config, cluster, identity, logger);
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
  async trySend(records: readonly Part[]): Promise<readonly SendFailure[]> {
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
  async #ofKnownTopics(records: readonly Part[], failures: SendFailure[]): Promise<readonly Part[]> {
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
      failures.push(...givenUp(records, topic, error));
    }
    return records.filter(({ topic }) => !errors.has(topic));
  }

  #unknownTopics(records: readonly Part[]): ReadonlySet<string> {
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

  #enqueue(parts: readonly Part[], delivery: Delivery, failures: SendFailure[]): void {
    const open = new OpenBatches(this.#sender, delivery, Math.min(MAX_BATCH_BYTES, this.#config.maxRequestBytes));
    const partitionOf = this.#partitioner();
    for (const part of parts) {
      if (part instanceof PackedRecords) this.#enqueuePacked(part, open, partitionOf, failures);
      else this.#add(part, undefined, open, partitionOf, failures);
    }
    open.close();
    this.#sender.wake();
  }

  #add(
    record: ProducedRecord,
    packed: PackedRecords | undefined,
    open: OpenBatches,
    partitionOf: Partitioner,
    failures: SendFailure[],
  ): void {
    const size = sizeBound(record);
    try {
      if (size > this.#config.maxRequestBytes) this.#requireFitting(record);
      open.add(record, partitionOf(record), size, packed);
    } catch (error) {
      failures.push({ records: [record], packed, error: toError(error) });
    }
  }

  /** They stay as they are where all of them are of one partition and fit into one batch. */
  #enqueuePacked(packed: PackedRecords, open: OpenBatches, partitionOf: Partitioner, failures: SendFailure[]): void {
    const { topic } = packed;
    if (packed.bytes.length > open.maxBatchBytes) {
      for (const record of recordsOf(packed)) this.#add(record, packed, open, partitionOf, failures);
      return;
    }
    const count = this.#metadata.partitionCounts.get(topic) ?? 1;
    if (count === 1 || !packed.hasKeys) {
      const partition = count === 1 ? 0 : partitionOf({ topic, partition: null, key: null });
      open.addPacked(packed, partition, packed);
      return;
    }
    const packers = new Map<number, RecordPacker>();
    for (const { key, value } of packed.entries()) {
      const partition = partitionOf({ topic, partition: null, key });
      let packer = packers.get(partition);
      if (packer === undefined) packers.set(partition, (packer = new RecordPacker(topic, packed.bytes.length / count)));
      packer.add(key, value);
    }
    for (const [partition, packer] of packers)
      for (const part of packer.take()) open.addPacked(part, partition, packed);
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
  #partitioner(): Partitioner {
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

/** Those of one topic that are given up, records and packed ones apart. */
function givenUp(parts: readonly Part[], topic: string, error: Error): SendFailure[] {
  const records: ProducedRecord[] = [];
  const failures: SendFailure[] = [];
  for (const part of parts) {
    if (part.topic !== topic) continue;
    if (part instanceof PackedRecords) failures.push({ records: recordsOf(part), packed: part, error });
    else records.push(part);
  }
  return records.length === 0 ? failures : [{ records, error }, ...failures];
}
