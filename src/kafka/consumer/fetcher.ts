import { idle } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import { ErrorCode, LEADER_MOVED } from '../error-codes.ts';
import { ClosedError, KafkaError, RecordFormatError, isRetriable } from '../errors.ts';
import { EndWatch } from './end-watch.ts';
import { fetchCall, type FetchedPartition, type FetchedTopic, type FetchPosition } from './fetch-protocol.ts';
import { NearestReplicas } from './nearest-replicas.ts';
import { ConsumerFigures } from '../metrics/consumer-figures.ts';
import { PartitionBuffer } from './partition-buffer.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { unpackedLimit } from '../records/unpacked-limit.ts';
import { backoffOf } from '../connections/retry.ts';
import { Signal } from '../../async/signal.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';

/** While some partitions wait for the caller to take records, the others are not waited for this long at most. */
const SHORT_WAIT_MS = 25;
/** Bytes of unpacked batches after which `take` returns, even if it has fewer records than the caller wants. */
const MAX_TAKEN_BYTES = 16 * 1024 * 1024;
/** What waits for a slow reader keeps at most so many times its bytes in memory; a part that is smaller is copied. */
const MOST_KEPT = 4;

/**
 * Reads ahead of the caller: one loop per leader, or replica in the caller's rack, asks for the partitions that are positioned, not paused and not full,
 * and puts the answers, still packed, into the partitions' buffers. `take` unpacks what the caller asks for.
 *
 * One class, because loops and callers share the buffers, and an answer is judged by the positions at the time when it arrives.
 */
export class Fetcher {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  /** Records, a needed reset or a failure are there to be seen. */
  readonly #onProgress: () => void;
  readonly #figures: ConsumerFigures;
  #partitions = new Map<string, PartitionBuffer>();
  readonly #loops = new Map<number, Signal>();
  readonly #nearest: NearestReplicas;
  readonly #ends: EndWatch;
  #failure: Error | undefined;
  #stopped = false;

  constructor(
    cluster: Cluster,
    metadata: TopicMetadata,
    config: ConsumerConfig,
    onProgress: () => void,
    logger: Logger,
    figures = new ConsumerFigures(config.connection.metricWindow),
  ) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#config = config;
    this.#onProgress = onProgress;
    this.#figures = figures;
    this.#logger = logger;
    this.#nearest = new NearestReplicas(config.connection.metadataMaxAgeMs);
    this.#ends = new EndWatch(cluster, metadata, () => this.#partitions.values(), logger);
  }

  get partitions(): Iterable<PartitionBuffer> {
    return this.#partitions.values();
  }

  get(partition: TopicPartition): PartitionBuffer | undefined {
    return this.#partitions.get(topicPartitionKey(partition.topic, partition.partition));
  }

  /** Replaces the assignment. Buffers of partitions that stay are kept. */
  assign(partitions: readonly TopicPartition[]): void {
    const next = new Map<string, PartitionBuffer>();
    for (const { topic, partition } of partitions) {
      const key = topicPartitionKey(topic, partition);
      next.set(key, this.#partitions.get(key) ?? new PartitionBuffer(topic, partition));
    }
    this.#partitions = next;
    this.#nearest.keep(partitions);
    if (!this.#stopped) this.#ends.start();
    this.wake();
  }

  /** A partition whose reader has not been told of it is read, but not handed out. */
  withhold(partition: TopicPartition, withheld: boolean): void {
    const buffer = this.get(partition);
    if (buffer !== undefined) buffer.withheld = withheld;
  }

  /** After positions, pauses, leaders or buffers changed. */
  wake(): void {
    if (this.#stopped) return;
    for (const partition of this.#partitions.values()) {
      const topicId = this.#metadata.topicId(partition.topic);
      partition.leaderIs({ topicId, leaderEpoch: this.#metadata.leaderEpochOf(partition) });
      const node = this.#nodeOf(partition);
      if (node !== undefined && !this.#loops.has(node)) this.#startLoop(node);
    }
    for (const signal of this.#loops.values()) signal.notify();
  }

  /**
   * Appends blocks of up to `max` records in all, in offset order per partition; a partition's turn lasts one answer of the
   * broker. Stops early once batches of `MAX_TAKEN_BYTES` have been opened, because small messages may unpack to large ones.
   * True when positions moved, also past records that are not returned (aborted, transaction markers).
   */
  take(into: RecordBlock[], max: number): boolean {
    let moved = false;
    let left = max;
    let openedBytes = 0;
    try {
      while (left > 0 && openedBytes < MAX_TAKEN_BYTES) {
        const buffer = this.#nextBuffered();
        if (buffer === undefined) break;
        moved = true;
        const { block, finished, openedBytes: opened } = this.#takeFrom(buffer, left);
        openedBytes += opened;
        if (block !== undefined && block.count > 0) {
          into.push(block);
          left -= block.count;
        }
        if (finished) this.#moveToEnd(buffer);
      }
    } catch (error) {
      // What was read before the damage is still good; the failure is for the next poll.
      this.#failure = toError(error);
    }
    if (moved) for (const signal of this.#loops.values()) signal.notify();
    return moved;
  }

  /** What is damaged is fetched again after the failure, from the offset where the damage is, and others have their turn. */
  #takeFrom(buffer: PartitionBuffer, max: number): ReturnType<PartitionBuffer['take']> {
    try {
      return buffer.take(max);
    } catch (error) {
      buffer.readAgain();
      this.#moveToEnd(buffer);
      throw error;
    }
  }

  /** The failure since the last call; fetching goes on, so that a mended cause needs no new consumer. */
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

  #nextBuffered(): PartitionBuffer | undefined {
    for (const buffer of this.#partitions.values()) {
      if (!buffer.paused && !buffer.withheld && buffer.hasBuffered) return buffer;
    }
    return undefined;
  }

  /** Who had a turn comes last next time, in the requests as in `take`. */
  #moveToEnd(partition: PartitionBuffer): void {
    const key = topicPartitionKey(partition.topic, partition.partition);
    this.#partitions.delete(key);
    this.#partitions.set(key, partition);
  }

  /** The broker to read from; `undefined`: none just now. */
  #nodeOf(partition: TopicPartition): number | undefined {
    const leader = this.#metadata.leaderOf(partition);
    return leader === undefined ? undefined : this.#nearest.nodeOf(partition, leader);
  }

  #startLoop(node: number): void {
    const signal = new Signal();
    this.#loops.set(node, signal);
    this.#fetchFrom(node, signal).catch((error: unknown) => {
      this.#loops.delete(node);
      this.#noteFailure(error);
    });
  }

  async #fetchFrom(node: number, signal: Signal): Promise<void> {
    const backoff = backoffOf(this.#cluster);
    for (;;) {
      const there = this.#readFrom(node);
      if (there.length === 0 || this.#stopped) break;
      const ready = this.#failure === undefined ? there.filter((buffer) => this.#isReady(buffer)) : [];
      const freeBytes = this.#freeBytes(there);
      const wanted = ready.filter((buffer) => this.#hasRoom(buffer, freeBytes));
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
  }

  /** What is read from this broker; others get loops of their own when they have moved. */
  #readFrom(node: number): readonly PartitionBuffer[] {
    const there: PartitionBuffer[] = [];
    for (const buffer of this.#partitions.values()) {
      const from = this.#nodeOf(buffer);
      if (from === node) there.push(buffer);
      else if (from !== undefined && !this.#stopped && !this.#loops.has(from)) this.#startLoop(from);
    }
    return there;
  }

  #isReady(buffer: PartitionBuffer): boolean {
    return !buffer.paused && buffer.fetchOffset !== undefined;
  }

  #hasRoom(buffer: PartitionBuffer, freeBytes: number): boolean {
    return !buffer.hasBuffered || (buffer.bufferedBytes < this.#config.maxPartitionBytes && freeBytes > 0);
  }

  /** Each broker has its share. Paused partitions keep their buffers, and must not keep the others from being read. */
  #freeBytes(there: readonly PartitionBuffer[]): number {
    let usedBytes = 0;
    for (const buffer of there) if (!buffer.paused) usedBytes += buffer.bufferedBytes;
    return Math.floor(this.#config.maxFetchBytes / Math.max(1, this.#loops.size)) - usedBytes;
  }

  /** False when there is reason to wait before the next attempt. */
  async #fetchOnce(
    node: number,
    wanted: readonly PartitionBuffer[],
    freeBytes: number,
    maxWaitMs: number,
  ): Promise<boolean> {
    const { maxFetchWaitMs, minFetchBytes, maxPartitionBytes, isolation } = this.#config;
    const topics = new Map<string, FetchedTopic & { positions: FetchPosition[] }>();
    const asked = new Map<PartitionBuffer, number>();
    for (const buffer of wanted) {
      asked.set(buffer, buffer.jumps);
      const { topicId, leaderEpoch } = buffer.identity;
      const position = { partition: buffer.partition, fetchOffset: buffer.fetchOffset ?? 0, leaderEpoch };
      const topic = topics.get(buffer.topic);
      if (topic === undefined) topics.set(buffer.topic, { id: topicId, positions: [position] });
      else topic.positions.push(position);
    }
    const call = fetchCall({
      maxWaitMs: Math.min(maxFetchWaitMs, maxWaitMs),
      minBytes: minFetchBytes,
      maxBytes: Math.max(freeBytes, Math.min(maxPartitionBytes, this.#config.maxFetchBytes)),
      maxPartitionBytes,
      readCommitted: isolation === 'read_committed',
      rackId: this.#config.rackId ?? '',
      topics,
    });
    const sentAt = performance.now();
    try {
      const answer = await this.#cluster.callNode(node, 'fetch', call);
      if (answer.errorCode !== ErrorCode.none) throw KafkaError.ofCode(answer.errorCode, 'Fetch');
      this.#figures.fetched(
        answer.partitions.reduce((sum, { records }) => sum + records.length, 0),
        sentAt,
      );
      return this.#accept(answer.partitions, asked);
    } catch (error) {
      this.#nearest.forgetNode(node);
      if (!this.#stopped && !(error instanceof ClosedError)) this.#noteFailure(error);
      return false;
    }
  }

  #accept(answered: readonly FetchedPartition[], asked: ReadonlyMap<PartitionBuffer, number>): boolean {
    let healthy = true;
    let progress = false;
    const answeredBytes = answered.reduce((sum, { records }) => sum + records.length, 0);
    for (const fetched of answered) {
      const buffer = this.get(fetched);
      // Answers to questions asked before a seek or a new assignment are of no interest.
      if (buffer === undefined || asked.get(buffer) !== buffer.jumps) continue;
      const { highWatermark, lastStableOffset } = fetched;
      if (highWatermark >= 0) {
        buffer.endsAt(highWatermark);
        buffer.readableEnd = this.#config.isolation === 'read_committed' ? lastStableOffset : highWatermark;
      }
      if (fetched.errorCode !== ErrorCode.none) {
        healthy = this.#noteError(buffer, fetched.errorCode) && healthy;
        progress = true;
      } else if (fetched.preferredReplica >= 0) {
        this.#moveTo(buffer, fetched.preferredReplica);
      } else if (fetched.records.length > 0) {
        // A view keeps the whole answer in memory for as long as its slowest partition.
        const isLargePart = fetched.records.length * MOST_KEPT >= answeredBytes;
        const records = isLargePart ? fetched.records : Buffer.from(fetched.records);
        const { checkCrcs, isolation, maxPartitionBytes } = this.#config;
        const aborted = isolation === 'read_committed' ? fetched.aborted : undefined;
        buffer.add(records, { checkCrcs, aborted, maxUnpackedBytes: unpackedLimit(maxPartitionBytes) });
        progress = true;
      }
    }
    if (progress) this.#onProgress();
    return healthy;
  }

  /** As the leader says, which then gives no records. */
  #moveTo(buffer: PartitionBuffer, node: number): void {
    const leader = this.#metadata.leaderOf(buffer);
    if (leader === undefined) return;
    this.#nearest.prefer(buffer, node, leader);
    this.wake();
  }

  #noteError(buffer: PartitionBuffer, code: number): boolean {
    const { topic, partition, fetchOffset } = buffer;
    const where = `Topic ${topic}, partition ${String(partition)}, offset ${String(fetchOffset)}`;
    const wasElsewhere = this.#nearest.forget(buffer);
    if (code === ErrorCode.offsetOutOfRange) {
      // A replica may lag behind; only its leader knows.
      if (wasElsewhere) this.wake();
      else buffer.loseRange();
      return true;
    }
    if (LEADER_MOVED.has(code)) {
      this.#metadata.requestUpdate();
      return false;
    }
    if (code === ErrorCode.topicAuthorizationFailed) this.#failure = KafkaError.ofCode(code, where);
    else if (code === ErrorCode.corruptMessage)
      this.#failure = new RecordFormatError(`${where}: the broker found its records damaged`);
    else
      this.#logger.warn({ err: KafkaError.ofCode(code, where) }, 'the broker could not read a partition, trying again');
    return false;
  }

  #noteFailure(error: unknown): void {
    this.#metadata.requestUpdate();
    if (isRetriable(error)) return;
    this.#failure = toError(error);
    this.#onProgress();
  }
}
