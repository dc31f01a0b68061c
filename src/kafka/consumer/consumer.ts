import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { setImmediate as yieldToIo } from 'node:timers/promises';
import type { TopicPartition } from '../../data/record.ts';
import { ConfigError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConsumedRecord, Consumer, Handover, PartitionLag, PartitionPosition, RebalanceListener } from '../api.ts';
import { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import { AssignedMembership } from './assigned-membership.ts';
import { ConsumerMembership } from './consumer-membership.ts';
import { HeldPartitions } from './held-partitions.ts';
import type { Membership, TopicSelection } from './membership.ts';
import { BrokerUnreachableError, ClosedError, CommitRefusedError, isRetriable } from '../errors.ts';
import { Fetcher } from './fetcher.ts';
import { leadersOf } from './leaders.ts';
import { OffsetTime, commitOffsets, fetchCommitted, listOffsets, placeOf, type GroupIdentity } from './offsets.ts';
import { ownedRecord } from '../records/owned-record.ts';
import type { RecordBlock } from '../records/record-block.ts';
import { ConsumerFigures } from '../metrics/consumer-figures.ts';
import { NetworkFigures } from '../metrics/network-figures.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import { Signal } from '../../async/signal.ts';
import { StartPositions } from './start-positions.ts';
import { TopicMetadata, type TopicInterest } from '../connections/topic-metadata.ts';

/** A caller that finds records at every poll must not keep sockets and timers of the process from their turn. */
const YIELD_AFTER_MS = 5;

/**
 * The Java consumer's contract (see api.ts): metadata, fetching and group membership go on in the background and raise
 * `#progress`; `poll` looks at what there is, calls the listener, and hands out records.
 *
 * One class, because every method of the contract depends on the same state: what is assigned, positioned, fetched, and whether the
 * consumer is closed.
 */
export class KafkaConsumer implements Consumer {
  readonly #cluster: Cluster;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #positions: StartPositions;
  readonly #progress = new Signal();
  readonly #figures: ConsumerFigures;
  #membership: Membership | undefined;
  #assigned: readonly TopicPartition[] = [];
  #positioning: Promise<void> | undefined;
  #positioningFailure: Error | undefined;
  #polling: Promise<unknown> | undefined;
  #woken = false;
  #closed = false;
  /** After the last commit of `close`. */
  #ended = false;
  #yieldedAt = 0;

  constructor(config: ConsumerConfig, logger: Logger) {
    const notify = (): void => {
      this.#progress.notify();
    };
    this.#config = config;
    this.#logger = logger;
    const { clientId, metricWindow } = config.connection;
    const network = new NetworkFigures('consumer', clientId, metricWindow);
    this.#figures = new ConsumerFigures(metricWindow);
    network.more = () => this.#figures.sets(network, this.lags(), this.#membership?.figures.values() ?? {});
    this.#cluster = new Cluster(config.connection, logger, network);
    this.#metadata = new TopicMetadata(
      this.#cluster,
      () => this.#interest(),
      () => {
        this.#onMetadata();
      },
      logger,
    );
    this.#fetcher = new Fetcher(this.#cluster, this.#metadata, config, notify, logger, this.#figures);
    this.#positions = new StartPositions(this.#cluster, this.#metadata, this.#fetcher, config, logger);
  }

  subscribe(topics: TopicSelection, listener: RebalanceListener, handover?: Handover): void {
    this.#requireUnused();
    const { groupId } = this.#config;
    if (groupId === undefined) throw new ConfigError('To use the group management, set the property group.id');
    const MembershipOf = this.#config.groupProtocol === 'consumer' ? AssignedMembership : ConsumerMembership;
    this.#membership = new MembershipOf(
      {
        cluster: this.#cluster,
        metadata: this.#metadata,
        positions: this.#positions,
        held: new HeldPartitions(this.#metadata, this.#fetcher, this.#positions, listener, this.#logger),
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
    if (this.#membership !== undefined) throw new Error('subscribe and assign exclude each other');
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
    if (this.#polling !== undefined) throw new Error('poll is not to be called while another poll waits');
    const polling = this.#poll(Date.now() + timeoutMs, Math.min(maxRecords, this.#config.maxPollRecords));
    this.#polling = polling;
    this.#figures.polled();
    try {
      const blocks = await polling;
      if (blocks.length > 0) this.#figures.consumed(blocks.reduce((sum, { count }) => sum + count, 0));
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
    // What was read ahead would come again after the fetch that waits for records behind it.
    if (buffer.isAt(offset, leaderEpoch, topicId)) return;
    buffer.positionAt(offset, leaderEpoch, { topicId: topicId ?? this.#metadata.topicId(topic), leaderEpoch: -1 });
    this.#fetcher.wake();
    this.#progress.notify();
  }

  identified(position: PartitionPosition): PartitionPosition {
    const buffer = this.#fetcher.get(position);
    if (buffer === undefined) return position;
    const { topicId } = buffer.identity;
    return { ...position, topicId, leaderEpoch: buffer.epochs.before(position.offset) };
  }

  async kept(
    positions: readonly PartitionPosition[],
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly PartitionPosition[]> {
    const stop = (): boolean => this.#ended || signal.aborted;
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
        // The epoch of a member goes on while it holds its partitions.
        return commitOffsets(this.#cluster, identity.isByEpoch === true ? this.#identity() : identity, current);
      });
      this.#figures.committed(sentAt);
    } catch (error) {
      if (error instanceof CommitRefusedError) this.#membership?.onCommitRefused(identity.generationId, error);
      throw error;
    }
  }

  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]> {
    const { groupId } = this.#config;
    if (groupId === undefined) return Promise.reject(new ConfigError('Committed offsets need the property group.id'));
    return this.#retry('Reading committed offsets', async () =>
      (await fetchCommitted(this.#cluster, groupId, partitions)).map(placeOf),
    );
  }

  /** With `isolation` in place of its own; read_uncommitted: after records of transactions that are still open. */
  endOffsets(
    partitions: readonly TopicPartition[],
    isolation = this.#config.isolation,
  ): Promise<readonly PartitionPosition[]> {
    return this.#retry('Reading end offsets', async () => {
      const readCommitted = isolation === 'read_committed';
      try {
        const leaders = await leadersOf(partitions, this.#metadata, this.#cluster);
        return (await listOffsets(this.#cluster, leaders, partitions, OffsetTime.latest, readCommitted)).map(placeOf);
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
    if (this.#polling !== undefined)
      await within(
        this.#polling.catch(() => undefined),
        timeoutMs,
      );
    try {
      if (this.#membership !== undefined) await end(this.#membership, Math.max(0, deadline - Date.now()));
    } finally {
      this.#ended = true;
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
      this.#findPositions();
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

  /** In the background, one attempt after the other; what a joining member needs, it finds itself. */
  #findPositions(): void {
    const isElsewhere = this.#membership?.findsPositions === true;
    if (isElsewhere || this.#positioning !== undefined || !this.#needsPositions() || !this.#metadata.known) return;
    const backoffMs = this.#config.connection.retryBackoffMs;
    this.#positioning = this.#settlePositions()
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
    return this.#positions.needed || this.#positions.inDoubt || this.#positions.diverged !== undefined;
  }

  /** One attempt. What a group has stored is dealt with as after any other rebalance: by its members' positions. */
  async #settlePositions(): Promise<void> {
    const { needed, inDoubt } = this.#positions;
    if (needed) await this.#positions.resolve(this.#membership === undefined);
    else if (inDoubt) await this.#positions.settleDoubts();
    if (this.#membership === undefined) await this.#positions.moveDiverged();
    else if (this.#positions.diverged !== undefined) this.#membership.onDiverged(this.#positions.diverged);
    if (this.#positions.inDoubt) throw new BrokerUnreachableError('Some leaders have not answered for their epochs');
  }

  /** An offset of a topic that is gone must not be taken for one of the topic of its name. */
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
      if (paused) buffer.packUp();
    }
  }

  #retry<T>(what: string, action: () => Promise<T>): Promise<T> {
    const { apiTimeoutMs } = this.#config.connection;
    return retry(what, backoffOf(this.#cluster), apiTimeoutMs, action, () => this.#ended);
  }

  #requireUnused(): void {
    if (this.#membership !== undefined || this.#assigned.length > 0) {
      throw new Error('The consumer has a subscription or an assignment already');
    }
  }
}
