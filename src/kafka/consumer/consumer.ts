import { within } from '../../async/within.ts';
import { setImmediate as yieldToIo } from 'node:timers/promises';
import type { TopicPartition } from '../../data/record.ts';
import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConsumedRecord, Consumer, Handover, PartitionLag, PartitionPosition, RebalanceListener } from '../api.ts';
import { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig, Isolation } from '../config/consumer-config.ts';
import { BrokerAssignedMembership } from './broker-assigned-membership.ts';
import { ClassicMembership } from './classic-membership.ts';
import { ConsumerOffsets } from './consumer-offsets.ts';
import { OwnedPartitions } from './owned-partitions.ts';
import type { Membership, MembershipDependencies, TopicSelection } from './membership.ts';
import { ClosedError } from '../errors/kafka-errors.ts';
import { Fetcher } from './fetcher.ts';
import { PositionUpdates } from './position-updates.ts';
import { ownedRecord } from '../records/owned-record.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { ConsumerMetrics } from '../metrics/consumer-metrics.ts';
import { NetworkMetrics } from '../metrics/network-metrics.ts';
import { Signal } from '../../async/signal.ts';
import { StartPositions } from './start-positions.ts';
import { TopicMetadata, type TopicInterest } from '../connections/topic-metadata.ts';

/**
 * If this time has passed since the last yield to I/O, a poll yields first. Without these yields, a caller that polls in a
 * loop would starve the event loop.
 */
const YIELD_AFTER_MS = 5;

/**
 * A consumer with the contract of the Java consumer. Metadata, fetching and heartbeats run in the background and notify
 * `#progress`; they do not depend on `poll`. Only `poll` and `pollBlocks` deliver records. Only these, `close` and `handOver`
 * call the rebalance listener. About `fetch.max.bytes` are buffered ahead of the caller, not counting paused partitions.
 */
export class KafkaConsumer implements Consumer {
  readonly #cluster: Cluster;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #positioning: PositionUpdates;
  readonly #offsets: ConsumerOffsets;
  readonly #progress = new Signal();
  readonly #metrics: ConsumerMetrics;
  #membership: Membership | undefined;
  #assigned: readonly TopicPartition[] = [];
  #polling: Promise<unknown> | undefined;
  #woken = false;
  #closed = false;
  #yieldedAt = 0;

  constructor(config: ConsumerConfig, logger: Logger) {
    const notify = (): void => this.#progress.notify();
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
      () => this.#onMetadata(),
      logger,
    );
    this.#fetcher = new Fetcher(this.#cluster, this.#metadata, config, notify, logger, this.#metrics);
    const positions = new StartPositions(this.#cluster, this.#metadata, this.#fetcher, config, logger);
    this.#positioning = new PositionUpdates(positions, this.#metadata, config.connection.retryBackoffMs, notify);
    this.#offsets = new ConsumerOffsets(this.#cluster, this.#metadata, positions, config, this.#metrics, logger);
  }

  subscribe(topics: TopicSelection, listener: RebalanceListener, handover?: Handover): void {
    if (this.#membership !== undefined || this.#assigned.length > 0) {
      throw new Error('The consumer already has a subscription or an assignment');
    }
    const { groupId } = this.#config;
    if (groupId === undefined) throw new ConfigError('To use the group management, set the property group.id');
    const logger = this.#logger.child({ group: groupId });
    const { positions } = this.#positioning;
    const dependencies: MembershipDependencies = {
      cluster: this.#cluster,
      metadata: this.#metadata,
      positions,
      ownedPartitions: new OwnedPartitions(this.#metadata, this.#fetcher, positions, listener, logger),
      config: this.#config,
      logger: this.#logger,
      notify: () => this.#progress.notify(),
    };
    const MembershipOf = this.#config.groupProtocol === 'consumer' ? BrokerAssignedMembership : ClassicMembership;
    this.#membership = new MembershipOf(dependencies, groupId, topics, handover);
    this.#offsets.membership = this.#membership;
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
    return this.#membership?.ownedPartitions.owned ?? this.#assigned;
  }

  get isInGroup(): boolean {
    return this.#membership?.ownedPartitions.announced === true;
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
    return [...this.#fetcher.partitions].map(({ lag }) => lag);
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
    return this.#fetcher.get(position)?.identified(position) ?? position;
  }

  kept(positions: readonly PartitionPosition[], signal?: AbortSignal): Promise<readonly PartitionPosition[]> {
    return this.#offsets.kept(positions, signal);
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
    const paused = [...this.#fetcher.partitions].filter((buffer) => buffer.paused);
    return paused.map(({ topic, partition }) => ({ topic, partition }));
  }

  commit(positions: readonly PartitionPosition[]): Promise<void> {
    return this.#offsets.commit(positions.map((position) => this.identified(position)));
  }

  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]> {
    return this.#offsets.committed(partitions);
  }

  /** `isolation` overrides `isolation.level`. */
  endOffsets(partitions: readonly TopicPartition[], isolation?: Isolation): Promise<readonly PartitionPosition[]> {
    return this.#offsets.ends(partitions, isolation);
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
      this.#offsets.close();
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
      const mayTake = this.#membership?.ownedPartitions.announced ?? true;
      if (mayTake && this.#fetcher.take(blocks, maxRecords)) break;
      this.#positioning.start(this.#membership);
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
    const failures = [this.#positioning.takeFailure(), this.#fetcher.takeFailure(), this.#metadata.takeFailure()];
    const failure = failures.find((candidate) => candidate !== undefined);
    if (failure !== undefined) throw failure;
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

  #setPaused(partitions: readonly TopicPartition[], paused: boolean): void {
    for (const partition of partitions) {
      const buffer = this.#fetcher.get(partition);
      if (buffer === undefined) continue;
      buffer.paused = paused;
      if (paused) buffer.freeDecompressed();
    }
  }
}
