import { idle } from '../../async/sleep.ts';
import type { TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import { ErrorCode, LEADER_MOVED, describeErrorCode } from '../errors/error-codes.ts';
import { ClosedError, KafkaError, RecordFormatError, isRetriable } from '../errors/kafka-errors.ts';
import { FetchBuffers } from './fetch-buffers.ts';
import { LogEndPoller } from './log-end-poller.ts';
import { fetchCall, type FetchedPartition, type FetchedTopic, type FetchPosition } from './fetch-protocol.ts';
import { NearestReplicas } from './nearest-replicas.ts';
import { ConsumerMetrics } from '../metrics/consumer-metrics.ts';
import type { PartitionBuffer } from './partition-buffer.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { unpackedLimit } from '../records/unpacked-limit.ts';
import { backoffOf } from '../connections/retry.ts';
import { Signal } from '../../async/signal.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';

/** Maximum wait of a fetch while other partitions of the broker are not requested because their buffers are full. */
const SHORT_WAIT_MS = 25;
/**
 * The records of a partition are copied from a response if they are smaller than the response divided by this factor. Without a
 * copy, a partition that is read slowly would retain the whole response.
 */
const COPY_FRACTION = 4;

/**
 * Fetches ahead of the caller. There is one loop per broker (the leader, or a replica in the client's rack). It requests the
 * partitions that have a position, are not paused and are not full, and adds the compressed batches to their buffers. `take`
 * decompresses as much as the caller requests.
 */
export class Fetcher {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  /**
   * Called when records are available, a position must be reset, or a partition could not be fetched. Not called if a
   * whole request failed with a retriable error.
   */
  readonly #onProgress: () => void;
  readonly #metrics: ConsumerMetrics;
  readonly #buffers = new FetchBuffers();
  readonly #loops = new Map<number, Signal>();
  readonly #nearest: NearestReplicas;
  readonly #ends: LogEndPoller;
  #failure: Error | undefined;
  #stopped = false;

  constructor(
    cluster: Cluster,
    metadata: TopicMetadata,
    config: ConsumerConfig,
    onProgress: () => void,
    logger: Logger,
    metrics = new ConsumerMetrics(config.connection.metricWindow),
  ) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#config = config;
    this.#onProgress = onProgress;
    this.#metrics = metrics;
    this.#logger = logger;
    this.#nearest = new NearestReplicas(config.connection.metadataMaxAgeMs);
    this.#ends = new LogEndPoller(cluster, metadata, () => this.#buffers.all, logger);
  }

  get partitions(): Iterable<PartitionBuffer> {
    return this.#buffers.all;
  }

  get(partition: TopicPartition): PartitionBuffer | undefined {
    return this.#buffers.get(partition);
  }

  /** Replaces the assignment. Partitions that stay keep their buffers. */
  assign(partitions: readonly TopicPartition[]): void {
    this.#buffers.assign(partitions);
    this.#nearest.keep(partitions);
    if (!this.#stopped) this.#ends.start();
    this.wake();
  }

  /** While `withheld` is true, the records of the partition are fetched, but not returned. */
  withhold(partition: TopicPartition, withheld: boolean): void {
    const buffer = this.get(partition);
    if (buffer !== undefined) buffer.withheld = withheld;
  }

  /** Starts fetching again; called after positions, pauses, leaders or buffers changed. */
  wake(): void {
    if (this.#stopped) return;
    for (const partition of this.#buffers.all) {
      const topicId = this.#metadata.topicId(partition.topic);
      partition.updateLeader({ topicId, leaderEpoch: this.#metadata.leaderEpochOf(partition) });
      const node = this.#nodeOf(partition);
      if (node !== undefined && !this.#loops.has(node)) this.#startLoop(node);
    }
    for (const signal of this.#loops.values()) signal.notify();
  }

  /** See `FetchBuffers.take`, whose `moved` is returned. A failure is thrown by the next poll. */
  take(into: RecordBlock[], max: number): boolean {
    const { moved, failure } = this.#buffers.take(into, max);
    this.#failure = failure ?? this.#failure;
    if (moved) for (const signal of this.#loops.values()) signal.notify();
    return moved;
  }

  /** Returns and clears the last failure. Fetching continues, so the consumer recovers once the cause is fixed. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) this.wake();
    return failure;
  }

  stop(): void {
    this.#stopped = true;
    this.#ends.stop();
    for (const signal of this.#loops.values()) signal.notify();
  }

  /** Returns the broker to fetch from, or `undefined` while the partition has no leader. */
  #nodeOf(partition: TopicPartition): number | undefined {
    const leader = this.#metadata.leaderOf(partition);
    return leader === undefined ? undefined : this.#nearest.nodeOf(partition, leader);
  }

  #startLoop(node: number): void {
    const signal = new Signal();
    this.#loops.set(node, signal);
    this.#logger.debug({ node }, 'Started fetching from a broker');
    this.#fetchFrom(node, signal).catch((error: unknown) => {
      this.#loops.delete(node);
      this.#handleFailure(error);
    });
  }

  async #fetchFrom(node: number, signal: Signal): Promise<void> {
    const backoff = backoffOf(this.#cluster);
    for (;;) {
      const local = this.#readFrom(node);
      if (local.length === 0 || this.#stopped) break;
      const ready = this.#failure === undefined ? local.filter(({ isReady }) => isReady) : [];
      const freeBytes = this.#freeBytes(local);
      const wanted = ready.filter((buffer) => this.#hasCapacity(buffer, freeBytes));
      if (wanted.length === 0) {
        await signal.wait();
        continue;
      }
      const maxWaitMs = wanted.length < ready.length ? SHORT_WAIT_MS : Infinity;
      const healthy = await this.#fetchOnce(node, wanted, freeBytes, maxWaitMs);
      if (healthy) backoff.reset();
      else if (!this.#stopped) await idle(backoff.nextMs());
    }
    this.#loops.delete(node);
    this.#logger.debug({ node }, 'Stopped fetching from a broker');
  }

  /** Returns the partitions to fetch from this broker. Starts loops for partitions that moved to other brokers. */
  #readFrom(node: number): readonly PartitionBuffer[] {
    const local: PartitionBuffer[] = [];
    for (const buffer of this.#buffers.all) {
      const from = this.#nodeOf(buffer);
      if (from === node) local.push(buffer);
      else if (from !== undefined && !this.#stopped && !this.#loops.has(from)) this.#startLoop(from);
    }
    return local;
  }

  #hasCapacity(buffer: PartitionBuffer, freeBytes: number): boolean {
    return !buffer.hasBuffered || (buffer.bufferedBytes < this.#config.maxPartitionBytes && freeBytes > 0);
  }

  /**
   * Each broker gets an equal share of `fetch.max.bytes`. Buffers of paused partitions are not counted, so that they do not
   * block the other partitions.
   */
  #freeBytes(local: readonly PartitionBuffer[]): number {
    let usedBytes = 0;
    for (const buffer of local) if (!buffer.paused) usedBytes += buffer.bufferedBytes;
    return Math.floor(this.#config.maxFetchBytes / Math.max(1, this.#loops.size)) - usedBytes;
  }

  /** Returns false if the loop must back off before the next attempt. */
  async #fetchOnce(node: number, wanted: readonly PartitionBuffer[], bytes: number, waitMs: number): Promise<boolean> {
    const { maxFetchWaitMs, minFetchBytes, maxPartitionBytes, isolation } = this.#config;
    const requested = new Map(wanted.map((buffer) => [buffer, buffer.positionVersion]));
    const call = fetchCall({
      maxWaitMs: Math.min(maxFetchWaitMs, waitMs),
      minBytes: minFetchBytes,
      maxBytes: Math.max(bytes, Math.min(maxPartitionBytes, this.#config.maxFetchBytes)),
      maxPartitionBytes,
      readCommitted: isolation === 'read_committed',
      rackId: this.#config.rackId ?? '',
      topics: positionsOf(wanted),
    });
    const sentAt = performance.now();
    try {
      const response = await this.#cluster.callNode(node, 'fetch', call);
      if (response.errorCode !== ErrorCode.none) throw KafkaError.ofCode(response.errorCode, 'Fetch');
      this.#metrics.fetched(sizeOf(response.partitions), sentAt);
      return this.#accept(response.partitions, requested);
    } catch (error) {
      this.#nearest.forgetNode(node);
      if (this.#stopped || error instanceof ClosedError) return false;
      this.#logger.debug({ node, reason: toError(error).message }, 'Fetch request failed');
      this.#handleFailure(error);
      return false;
    }
  }

  #accept(answered: readonly FetchedPartition[], requested: ReadonlyMap<PartitionBuffer, number>): boolean {
    let healthy = true;
    let progress = false;
    const answeredBytes = sizeOf(answered);
    for (const fetched of answered) {
      const buffer = this.get(fetched);
      // Responses to requests sent before a seek or a new assignment are ignored.
      if (buffer === undefined || requested.get(buffer) !== buffer.positionVersion) continue;
      const { highWatermark, lastStableOffset } = fetched;
      const readableEnd = this.#config.isolation === 'read_committed' ? lastStableOffset : highWatermark;
      if (highWatermark >= 0) buffer.updateEnds(highWatermark, readableEnd);
      if (fetched.errorCode !== ErrorCode.none) {
        healthy = this.#handleError(buffer, fetched.errorCode) && healthy;
        progress = true;
      } else if (fetched.preferredReplica >= 0) {
        this.#readFromReplica(buffer, fetched.preferredReplica);
      } else if (fetched.records.length > 0) {
        const records = retained(fetched.records, answeredBytes);
        const { checkCrcs, isolation, maxPartitionBytes } = this.#config;
        const aborted = isolation === 'read_committed' ? fetched.aborted : undefined;
        buffer.add(records, { checkCrcs, aborted, maxUnpackedBytes: unpackedLimit(maxPartitionBytes) });
        progress = true;
      }
    }
    if (progress) this.#onProgress();
    return healthy;
  }

  /** Handles a response in which the leader returned a preferred replica instead of records. */
  #readFromReplica(buffer: PartitionBuffer, node: number): void {
    const leader = this.#metadata.leaderOf(buffer);
    if (leader === undefined) return;
    const { topic, partition } = buffer;
    this.#logger.debug({ topic, partition, node, leader }, 'Reading from the preferred replica');
    this.#nearest.prefer(buffer, node, leader);
    this.wake();
  }

  #handleError(buffer: PartitionBuffer, code: number): boolean {
    const { topic, partition, fetchOffset } = buffer;
    const where = `Topic ${topic}, partition ${String(partition)}, offset ${String(fetchOffset)}`;
    const wasElsewhere = this.#nearest.forget(buffer);
    const fields = { topic, partition, offset: fetchOffset, error: describeErrorCode(code).name };
    this.#logger.debug(fields, 'Fetch of a partition failed');
    if (code === ErrorCode.offsetOutOfRange) {
      // A follower may lag, so only the error code of the leader is final.
      if (wasElsewhere) this.wake();
      else buffer.markOutOfRange();
      return true;
    }
    if (LEADER_MOVED.has(code)) {
      this.#metadata.requestUpdate();
      return false;
    }
    if (code === ErrorCode.topicAuthorizationFailed) this.#failure = KafkaError.ofCode(code, where);
    else if (code === ErrorCode.corruptMessage)
      this.#failure = new RecordFormatError(`${where}: the broker reported corrupt records`);
    else this.#logger.warn({ err: KafkaError.ofCode(code, where) }, 'Failed to fetch a partition; retrying');
    return false;
  }

  #handleFailure(error: unknown): void {
    this.#metadata.requestUpdate();
    if (isRetriable(error)) return;
    this.#failure = toError(error);
    this.#onProgress();
  }
}

/** Groups the fetch positions of partitions by topic. */
function positionsOf(buffers: readonly PartitionBuffer[]): ReadonlyMap<string, FetchedTopic> {
  const topics = new Map<string, FetchedTopic & { positions: FetchPosition[] }>();
  for (const { topic, partition, fetchOffset = 0, identity } of buffers) {
    const { topicId, leaderEpoch } = identity;
    const position = { partition, fetchOffset, leaderEpoch };
    const known = topics.get(topic);
    if (known === undefined) topics.set(topic, { id: topicId, positions: [position] });
    else known.positions.push(position);
  }
  return topics;
}

function sizeOf(partitions: readonly FetchedPartition[]): number {
  return partitions.reduce((sum, { records }) => sum + records.length, 0);
}

/** Copies a small part of a response, because a view would retain the whole response until its slowest partition is read. */
function retained(records: Buffer, answeredBytes: number): Buffer {
  return records.length * COPY_FRACTION >= answeredBytes ? records : Buffer.from(records);
}
