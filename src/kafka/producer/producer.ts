import { sleep } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { PackedRecords, RecordPacker } from '../../data/packed-records.ts';
import { ConnectError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ProducedRecord, Producer, SendFailure } from '../api.ts';
import { BatchSender } from './batch-sender.ts';
import { Cluster } from '../connections/cluster.ts';
import { requireWritable } from '../records/codecs.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { ClosedError, KafkaError, TimeoutError, isRetriable } from '../errors/kafka-errors.ts';
import { NetworkMetrics } from '../metrics/network-metrics.ts';
import { ProducerMetrics } from '../metrics/producer-metrics.ts';
import { OpenBatches } from './open-batches.ts';
import { partitionOfKey } from './partitioner.ts';
import type { ProducerConfig } from '../config/producer-config.ts';
import { NON_IDEMPOTENT, IdempotentIdentity, type ProducerIdentity } from './producer-identity.ts';
import { recordsOf, serializedSize, sizeBound } from '../records/record-batch-writer.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import { Delivery } from './send-queue.ts';
import { TopicMetadata } from '../connections/topic-metadata.ts';

/** Half of the default batch size limit of brokers (`message.max.bytes`, 1 MB). Compression is not taken into account. */
const MAX_BATCH_BYTES = 512 * 1024;

type Part = ProducedRecord | PackedRecords;
type Partitioner = (record: Pick<ProducedRecord, 'topic' | 'partition' | 'key'>) => number;

/** Assigns records to partitions and groups them into batches, which the sender delivers in order, with retries. */
export class KafkaProducer implements Producer {
  readonly #config: ProducerConfig;
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #sender: BatchSender;
  readonly #topics = new Set<string>();
  readonly #open = new Set<Promise<unknown>>();
  #waiting: Promise<unknown> | undefined;
  #closed = false;

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
    const metrics = new ProducerMetrics(config.connection.metricWindow);
    const network = cluster.metrics;
    if (network !== undefined) network.more = () => metrics.sets(network);
    this.#sender = new BatchSender({ cluster, metadata, config, identity, metrics, logger });
  }

  static plain(config: ProducerConfig, logger: Logger): KafkaProducer {
    const { clientId, metricWindow } = config.connection;
    const cluster = new Cluster(config.connection, logger, new NetworkMetrics('producer', clientId, metricWindow));
    const identity = config.idempotent ? new IdempotentIdentity(cluster, logger) : NON_IDEMPOTENT;
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
   * Preserves the order of records per partition across calls. A failure contains a KafkaError if the broker rejected the
   * records, and a TimeoutError if they were not delivered within `delivery.timeout.ms`.
   */
  async trySend(records: readonly Part[]): Promise<readonly SendFailure[]> {
    if (this.#closed) throw new ClosedError('The producer');
    if (records.length === 0) return [];
    this.#metadata.start();
    const failures: SendFailure[] = [];
    const known = await this.#awaitMetadata(records, failures);
    const delivery = new Delivery();
    delivery.begin();
    this.#enqueue(known, delivery, failures);
    delivery.end();
    this.#open.add(delivery.done);
    failures.push(...(await delivery.done));
    this.#open.delete(delivery.done);
    return failures;
  }

  /** Waits until all pending records have completed, or until their deadlines. `timeoutMs` is an upper limit of the wait. */
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
   * Waits for the metadata of topics that are used for the first time. Concurrent calls wait in order, as in the Java producer,
   * so that records are not reordered.
   */
  async #awaitMetadata(records: readonly Part[], failures: SendFailure[]): Promise<readonly Part[]> {
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
      failures.push(...failuresOf(records, topic, error));
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
   * Waits for the metadata of a topic. As with the Java producer, brokers with `auto.create.topics.enable` create it on first
   * use, but not after it was deleted. Source connectors without topic.creation.* settings rely on this.
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
      if (size > this.#config.maxRequestBytes) {
        const refusal = this.refusal(record);
        if (refusal !== undefined) throw refusal;
      }
      open.add(record, partitionOf(record), size, packed);
    } catch (error) {
      failures.push({ records: [record], packed, error: toError(error) });
    }
  }

  /** Passes packed records on unchanged if they fit into one batch and have no keys or only one possible partition. */
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
      if (packer === undefined) {
        packer = new RecordPacker(topic, packed.bytes.length / count, { headers: packed.headers });
        packers.set(partition, packer);
      }
      packer.add(key, value);
    }
    for (const [partition, packer] of packers)
      for (const part of packer.take()) open.addPacked(part, partition, packed);
  }

  refusal(record: ProducedRecord): Error | undefined {
    const { maxRequestBytes } = this.#config;
    if (sizeBound(record) <= maxRequestBytes) return undefined;
    const size = serializedSize(record);
    if (size <= maxRequestBytes) return undefined;
    return new KafkaError(
      ErrorCode.messageTooLarge,
      `Topic ${record.topic}: The message is ${String(size)} bytes when serialized which is larger than ` +
        `${String(maxRequestBytes)}, which is the value of the max.request.size configuration.`,
    );
  }

  /** Returns a partitioner for one call of `trySend`: by Java's hash of the key, or one random partition per topic. */
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
      const chosen = sticky.get(topic) ?? this.#randomPartition(topic, count);
      sticky.set(topic, chosen);
      return chosen;
    };
  }

  /** A random partition, preferably one with a leader. */
  #randomPartition(topic: string, count: number): number {
    const start = Math.floor(Math.random() * count);
    for (let step = 0; step < count; step++) {
      const partition = (start + step) % count;
      if (this.#metadata.leaderOf({ topic, partition }) !== undefined) return partition;
    }
    return start;
  }
}

/** Returns failures for all records of a topic. Each packed block is a separate failure. */
function failuresOf(parts: readonly Part[], topic: string, error: Error): SendFailure[] {
  const records: ProducedRecord[] = [];
  const failures: SendFailure[] = [];
  for (const part of parts) {
    if (part.topic !== topic) continue;
    if (part instanceof PackedRecords) failures.push({ records: recordsOf(part), packed: part, error });
    else records.push(part);
  }
  return records.length === 0 ? failures : [{ records, error }, ...failures];
}
