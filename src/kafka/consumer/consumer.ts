import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { setImmediate as yieldToIo } from 'node:timers/promises';
import type { TopicPartition } from '../../data/record.ts';
import { ConfigError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConsumedRecord, Consumer, Handover, PartitionLag, PartitionPosition, RebalanceListener } from '../api.ts';
import { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import { BrokerAssignedMembership } from './broker-assigned-membership.ts';
import { ClassicMembership } from './classic-membership.ts';
import { OwnedPartitions } from './owned-partitions.ts';
import type { Membership, TopicSelection } from './membership.ts';
import { BrokerUnreachableError, ClosedError, CommitRefusedError, isRetriable } from '../errors/kafka-errors.ts';
import { Fetcher } from './fetcher.ts';
import { logEndOffsets } from './log-end-offsets.ts';
import { commitOffsets, fetchCommitted, logCommit, toPosition, type GroupIdentity } from './offsets.ts';
import { ownedRecord } from '../records/owned-record.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { ConsumerMetrics } from '../metrics/consumer-metrics.ts';
import { NetworkMetrics } from '../metrics/network-metrics.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import { Signal } from '../../async/signal.ts';
import { StartPositions } from './start-positions.ts';
import { TopicMetadata, type TopicInterest } from '../connections/topic-metadata.ts';

/** A caller that receives records from every poll must not starve the event loop. */
const YIELD_AFTER_MS = 5;

/**
 * A consumer with the contract of the Java consumer. Metadata, fetching and heartbeats run in the background and notify
 * `#progress`; they do not depend on `poll`. Records and rebalance callbacks are delivered by `poll` only. At most
 * `fetch.max.bytes` are buffered ahead of the caller.
 */
export class KafkaConsumer implements Consumer {
  readonly #cluster: Cluster;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #positions: StartPositions;
  readonly #progress = new Signal();
  readonly #metrics: ConsumerMetrics;
  #membership: Membership | undefined;
  #assigned: readonly TopicPartition[] = [];
  #positioning: Promise<void> | undefined;
  #positioningFailure: Error | undefined;
  #polling: Promise<unknown> | undefined;
  #woken = false;
  #closed = false;
  #isFullyClosed = false;
  #yieldedAt = 0;

  constructor(config: ConsumerConfig, logger: Logger) {
    const notify = (): void => {
      this.#progress.notify();
    };
    this.#config = config;
    this.#logger = logger;
    const { clientId, metricWindow } = config.connection;
    const network = new NetworkMetrics('consumer', clientId, metricWindow);
    this.#metrics = new ConsumerMetrics(metricWindow);
    network.more = () => this.#metrics.sets(network, this.lags(), this.#membership?.metrics.values() ?? {});
    this.#cluster = new Cluster(config.connection, logger, network);
    this.#metadata = new TopicMetadata(
      this.#cluster,
      () => this.#interest(),
      () => {
        this.#onMetadata();
      },
      logger,
    );
    this.#fetcher = new Fetcher(this.#cluster, this.#metadata, config, notify, logger, this.#metrics);
    this.#positions = new StartPositions(this.#cluster, this.#metadata, this.#fetcher, config, logger);
  }

  subscribe(topics: TopicSelection, listener: RebalanceListener, handover?: Handover): void {
    this.#requireUnused();
    const { groupId } = this.#config;
    if (groupId === undefined) throw new ConfigError('To use the group management, set the property group.id');
    const logger = this.#logger.child({ group: groupId });
    const MembershipOf = this.#config.groupProtocol === 'consumer' ? BrokerAssignedMembership : ClassicMembership;
    this.#membership = new MembershipOf(
      {
        cluster: this.#cluster,
        metadata: this.#metadata,
        positions: this.#positions,
        ownedPartitions: new OwnedPartitions(this.#metadata, this.#fetcher, this.#positions, listener, logger),
        config: this.#config,
        logger: this.#logger,
        notify: () => {
          this.#progress.notify();
        },
      },
      groupId,
      topics,
      handover,
    );
    this.#metadata.start();
  }

  assign(partitions: readonly TopicPartition[]): void {
    if (this.#membership !== undefined) throw new Error('subscribe and assign are mutually exclusive');
    this.#assigned = [...partitions];
    this.#fetcher.assign(partitions);
    this.#metadata.start();
    this.#metadata.requestUpdate();
  }

  async poll(timeoutMs: number): Promise<readonly ConsumedRecord[]> {
    const records: ConsumedRecord[] = [];
    for (const block of await this.pollBlocks(timeoutMs)) {
      for (let index = 0; index < block.count; index++) records.push(ownedRecord(block.record(index)));
    }
    return records;
  }

  async pollBlocks(timeoutMs: number, maxRecords = Infinity): Promise<readonly RecordBlock[]> {
    if (this.#closed) throw new ClosedError('The consumer');
    if (this.#polling !== undefined) throw new Error('poll must not be called while another poll is pending');
    const polling = this.#poll(Date.now() + timeoutMs, Math.min(maxRecords, this.#config.maxPollRecords));
    this.#polling = polling;
    this.#metrics.polled();
    try {
      const blocks = await polling;
      if (blocks.length > 0) this.#metrics.consumed(blocks.reduce((sum, { count }) => sum + count, 0));
      return blocks;
    } finally {
      this.#polling = undefined;
    }
  }

  assignment(): readonly TopicPartition[] {
    return this.#membership?.owned ?? this.#assigned;
  }

  get isInGroup(): boolean {
    return this.#membership?.announced === true;
  }

  position(partition: TopicPartition): number | undefined {
    return this.#fetcher.get(partition)?.position;
  }

  hasMore(partition: TopicPartition): boolean {
    return this.#fetcher.get(partition)?.hasMore === true;
  }

  missingTopics(): readonly string[] {
    return this.#metadata.missingTopics();
  }

  lags(): readonly PartitionLag[] {
    return [...this.#fetcher.partitions].map(({ topic, partition, position, highWatermark }) => {
      const isKnown = position !== undefined && highWatermark !== undefined;
      const lag = isKnown ? Math.max(0, highWatermark - position) : undefined;
      return { topic, partition, lag, end: highWatermark };
    });
  }

  seek({ topic, partition, offset, leaderEpoch, topicId }: PartitionPosition): void {
    const buffer = this.#fetcher.get({ topic, partition });
    if (buffer === undefined) throw new Error(`No current assignment for partition ${topic}-${String(partition)}`);
    // Keeps the buffer if the position does not change, to avoid fetching the same records again.
    if (buffer.isAt(offset, leaderEpoch, topicId)) return;
    this.#logger.debug({ topic, partition, offset, leaderEpoch }, 'Seeking to an offset');
    buffer.seek(offset, leaderEpoch, { topicId: topicId ?? this.#metadata.topicId(topic), leaderEpoch: -1 });
    this.#fetcher.wake();
    this.#progress.notify();
  }

  identified(position: PartitionPosition): PartitionPosition {
    const buffer = this.#fetcher.get(position);
    if (buffer === undefined) return position;
    const { topicId } = buffer.identity;
    return { ...position, topicId, leaderEpoch: buffer.epochs.epochBefore(position.offset) };
  }

  async kept(
    positions: readonly PartitionPosition[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly PartitionPosition[]> {
    const stop = (): boolean => this.#isFullyClosed || signal.aborted;
    const compare = (): Promise<readonly PartitionPosition[]> => this.#positions.kept(positions);
    const compared = retry('Comparing offsets with the log', backoffOf(this.#cluster), Infinity, compare, stop);
    const aborted = new Promise<never>((_resolve, reject) => {
      const abort = (): void => {
        reject(toError(signal.reason));
      };
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
    aborted.catch(() => undefined);
    return Promise.race([compared, aborted]);
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#setPaused(partitions, true);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#setPaused(partitions, false);
    this.#fetcher.wake();
    this.#progress.notify();
  }

  paused(): readonly TopicPartition[] {
    return [...this.#fetcher.partitions]
      .filter(({ paused }) => paused)
      .map(({ topic, partition }) => ({ topic, partition }));
  }

  async commit(positions: readonly PartitionPosition[]): Promise<void> {
    const identity = this.#identity();
    const current = positions.map((position) => this.identified(position)).filter((each) => this.#isOfItsTopic(each));
    if (current.length === 0) return;
    const sentAt = performance.now();
    try {
      await this.#retry('The offset commit', () => {
        // The member epoch may change while the member owns its partitions.
        return commitOffsets(this.#cluster, identity.isEpochMember === true ? this.#identity() : identity, current);
      });
      this.#metrics.committed(sentAt);
      logCommit(this.#logger, identity, current);
    } catch (error) {
      logCommit(this.#logger, identity, current, toError(error));
      if (error instanceof CommitRefusedError) this.#membership?.onCommitRefused(identity.generationId, error);
      throw error;
    }
  }

  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]> {
    const { groupId } = this.#config;
    if (groupId === undefined) return Promise.reject(new ConfigError('Committed offsets need the property group.id'));
    return this.#retry('Reading committed offsets', async () =>
      (await fetchCommitted(this.#cluster, groupId, partitions)).map(toPosition),
    );
  }

  /** `isolation` overrides `isolation.level`; with read_uncommitted, the end is after the records of open transactions. */
  endOffsets(
    partitions: readonly TopicPartition[],
    isolation = this.#config.isolation,
  ): Promise<readonly PartitionPosition[]> {
    return this.#retry('Reading end offsets', async () => {
      const readCommitted = isolation === 'read_committed';
      try {
        return (await logEndOffsets(partitions, this.#metadata, this.#cluster, readCommitted)).map(toPosition);
      } catch (error) {
        this.#metadata.requestUpdate();
        throw error;
      }
    });
  }

  wakeup(): void {
    this.#woken = true;
    this.#progress.notify();
  }

  async close(timeoutMs: number): Promise<void> {
    await this.#close(timeoutMs, (membership, leftMs) => membership.close(leftMs));
  }

  async handOver(timeoutMs: number): Promise<Handover | undefined> {
    let handover: Handover | undefined;
    await this.#close(timeoutMs, async (membership, leftMs) => {
      handover = await membership.handOver(leftMs);
    });
    return handover;
  }

  async #close(timeoutMs: number, end: (membership: Membership, leftMs: number) => Promise<void>): Promise<void> {
    if (this.#closed) return;
    const deadline = Date.now() + timeoutMs;
    this.#closed = true;
    this.wakeup();
    this.#fetcher.stop();
    const polled = this.#polling?.catch(() => undefined);
    if (polled !== undefined) await within(polled, timeoutMs);
    try {
      if (this.#membership !== undefined) await end(this.#membership, Math.max(0, deadline - Date.now()));
    } finally {
      this.#isFullyClosed = true;
      this.#metadata.stop();
      await this.#cluster.close();
    }
  }

  async #poll(deadline: number, maxRecords: number): Promise<readonly RecordBlock[]> {
    const blocks: RecordBlock[] = [];
    await this.#yield();
    for (;;) {
      if (this.#woken) break;
      await this.#membership?.coordinate();
      this.#throwFailures();
      const mayTake = this.#membership?.announced ?? true;
      if (mayTake && this.#fetcher.take(blocks, maxRecords)) break;
      this.#updatePositions();
      const remainingMs = deadline - Date.now();
      if (remainingMs <= 0) break;
      await this.#progress.wait(remainingMs);
    }
    this.#woken = false;
    return blocks;
  }

  async #yield(): Promise<void> {
    const now = Date.now();
    if (now - this.#yieldedAt < YIELD_AFTER_MS) return;
    await yieldToIo();
    this.#yieldedAt = Date.now();
  }

  #throwFailures(): void {
    const failures = [this.#positioningFailure, this.#fetcher.takeFailure(), this.#metadata.takeFailure()];
    this.#positioningFailure = undefined;
    const failure = failures.find((candidate) => candidate !== undefined);
    if (failure !== undefined) throw failure;
  }

  /** Determines positions in the background. A joining member determines its positions itself. */
  #updatePositions(): void {
    const isElsewhere = this.#membership?.findsPositions === true;
    if (isElsewhere || this.#positioning !== undefined || !this.#needsPositions() || !this.#metadata.known) return;
    const backoffMs = this.#config.connection.retryBackoffMs;
    this.#positioning = this.#updatePositionsOnce()
      .catch(async (error: unknown) => {
        if (isRetriable(error)) await idle(backoffMs);
        else if (!(error instanceof ClosedError)) this.#positioningFailure = toError(error);
      })
      .finally(() => {
        this.#positioning = undefined;
        this.#progress.notify();
      });
  }

  #needsPositions(): boolean {
    return this.#positions.needed || this.#positions.needsValidation || this.#positions.diverged !== undefined;
  }

  /** One attempt. In a group, diverged positions are reset by a rebalance, because the committed offsets are affected too. */
  async #updatePositionsOnce(): Promise<void> {
    const { needed, needsValidation } = this.#positions;
    if (needed) await this.#positions.resolve(this.#membership === undefined);
    else if (needsValidation) await this.#positions.validate();
    if (this.#membership === undefined) await this.#positions.resetDiverged();
    else if (this.#positions.diverged !== undefined) this.#membership.onDiverged(this.#positions.diverged);
    if (this.#positions.needsValidation)
      throw new BrokerUnreachableError('The positions of some partitions have not been validated yet');
  }

  /** An offset of a deleted topic must not be committed for the recreated one. */
  #isOfItsTopic({ topic, topicId }: PartitionPosition): boolean {
    const current = this.#metadata.topicId(topic);
    return topicId === undefined || current === undefined || topicId === current;
  }

  #interest(): TopicInterest {
    if (this.#membership !== undefined) return this.#membership.interest();
    const topics = [...new Set(this.#assigned.map(({ topic }) => topic))];
    return { topics, maxAgeMs: this.#config.connection.metadataMaxAgeMs };
  }

  #onMetadata(): void {
    this.#fetcher.wake();
    this.#membership?.onMetadata();
    this.#progress.notify();
  }

  #identity(): GroupIdentity {
    if (this.#membership !== undefined) return this.#membership.identity();
    const { groupId } = this.#config;
    if (groupId === undefined) throw new ConfigError('Committing offsets needs the property group.id');
    return { groupId, memberId: '', generationId: -1 };
  }

  #setPaused(partitions: readonly TopicPartition[], paused: boolean): void {
    for (const partition of partitions) {
      const buffer = this.#fetcher.get(partition);
      if (buffer === undefined) continue;
      buffer.paused = paused;
      if (paused) buffer.freeDecompressed();
    }
  }

  #retry<T>(what: string, action: () => Promise<T>): Promise<T> {
    const { apiTimeoutMs } = this.#config.connection;
    return retry(what, backoffOf(this.#cluster), apiTimeoutMs, action, () => this.#isFullyClosed);
  }

  #requireUnused(): void {
    if (this.#membership !== undefined || this.#assigned.length > 0) {
      throw new Error('The consumer already has a subscription or an assignment');
    }
  }
}
