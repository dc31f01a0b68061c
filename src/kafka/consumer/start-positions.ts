import { topicPartitionKey } from '../../data/record.ts';
import type { Backoff } from '../../async/backoff.ts';
import { SluiceError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import type { Fetcher } from './fetcher.ts';
import { backoffOf } from '../connections/retry.ts';
import { OffsetTime, commitOffsets, fetchCommitted, listOffsets, type GroupIdentity } from './offsets.ts';
import { NewPartitions } from './new-partitions.ts';
import { PositionValidator, type EpochPosition } from './position-validator.ts';
import type { PartitionBuffer } from './partition-buffer.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';

/**
 * Determines where reading starts: at the committed offset, or, if there is none or it is out of range, where
 * `auto.offset.reset` specifies. A recreated topic, and a new partition without a committed offset (see NewPartitions),
 * are read from the beginning even with `latest`.
 */
export class StartPositions {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  readonly #validator: PositionValidator;
  /** The id under which each topic was read, by name. */
  readonly #readIds = new Map<string, string>();
  readonly newPartitions = new NewPartitions();
  /** Identity of a KIP-848 member, for reading committed offsets. */
  reader: (() => GroupIdentity) | undefined;
  #startPositions: PartitionPosition[] = [];

  constructor(cluster: Cluster, metadata: TopicMetadata, fetcher: Fetcher, config: ConsumerConfig, logger: Logger) {
    this.#validator = new PositionValidator(cluster, metadata, config, logger);
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#fetcher = fetcher;
    this.#config = config;
    this.#logger = logger;
  }

  /** True if a partition has no valid position. */
  get needed(): boolean {
    for (const buffer of this.#fetcher.partitions) if (needsPosition(buffer)) return true;
    return false;
  }

  /** True if a position must be validated against a new leader's log. */
  get needsValidation(): boolean {
    for (const buffer of this.#fetcher.partitions) if (buffer.unvalidated !== undefined) return true;
    return false;
  }

  /** The topic of a partition whose log has diverged from the records that were taken; `undefined` if there is none. */
  get diverged(): string | undefined {
    for (const { isDiverged, topic } of this.#fetcher.partitions) if (isDiverged) return topic;
    return undefined;
  }

  /**
   * One attempt to determine the position of each partition that has none or whose position is out of range. Positions
   * whose leader is unavailable are validated later. With `mayMove`, diverged positions are reset too. A member that
   * owns partitions does not set it, because their positions may be reset only after the listener has released them.
   */
  async resolve(mayMove = true): Promise<void> {
    const unpositioned = [...this.#fetcher.partitions].filter((buffer) => buffer.position === undefined);
    const { groupId } = this.#config;
    if (groupId !== undefined && unpositioned.length > 0) {
      this.#apply(
        await this.#validator.resetRecreated(
          await fetchCommitted(this.#cluster, groupId, unpositioned, this.reader?.()),
        ),
      );
    }
    const recreated = unpositioned.filter((buffer) => needsPosition(buffer) && this.#isRecreated(buffer));
    this.#apply(await this.#validator.resetRecreated(recreated.map((buffer) => this.#previousTopicPosition(buffer))));
    const lost = [...this.#fetcher.partitions].filter(needsPosition);
    const isNew = (buffer: PartitionBuffer): boolean => this.#isNewPartition(buffer);
    const newPartitionStarts = await this.#resetPositions(lost.filter(isNew), 'earliest');
    this.#startPositions.push(...newPartitionStarts);
    const others = lost.filter((buffer) => !isNew(buffer));
    this.#apply([...newPartitionStarts, ...(await this.#resetPositions(others, this.#config.offsetReset))]);
    if ((await this.validate()) && mayMove) await this.resetDiverged();
  }

  /** Validates stored positions; see `PositionValidator.kept`. */
  async kept(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    await this.#metadata.update();
    return this.#validator.kept(positions);
  }

  /**
   * One attempt to validate positions after leader changes; some may remain pending. Returns true if a leader's log lacks records
   * that were taken.
   */
  async validate(): Promise<boolean> {
    const requested = new Map<string, { buffer: PartitionBuffer; positionVersion: number; offset: number }>();
    const positions: EpochPosition[] = [];
    for (const buffer of this.#fetcher.partitions) {
      const { unvalidated, topic, partition, positionVersion } = buffer;
      if (unvalidated === undefined) continue;
      requested.set(topicPartitionKey(topic, partition), { buffer, positionVersion, offset: unvalidated.offset });
      positions.push({ topic, partition, ...unvalidated });
    }
    if (positions.length === 0) return false;
    let hasDiverged = false;
    for (const { topic, partition, offset, currentLeaderEpoch } of await this.#validator.commonEnds(positions)) {
      const request = requested.get(topicPartitionKey(topic, partition));
      if (request === undefined || request.buffer.positionVersion !== request.positionVersion) continue;
      const { buffer } = request;
      const isValid = offset === request.offset;
      const fields = { topic, partition, offset: request.offset, commonEnd: offset, leaderEpoch: currentLeaderEpoch };
      this.#logger.debug(fields, isValid ? 'Validated the position' : 'The log has diverged before the position');
      if (isValid) buffer.completeValidation(currentLeaderEpoch);
      else if (offset !== undefined && offset >= (buffer.position ?? 0)) buffer.dropBuffered(currentLeaderEpoch);
      else {
        buffer.markDiverged();
        hasDiverged = true;
      }
    }
    this.#fetcher.wake();
    return hasDiverged;
  }

  /** One attempt to reset the positions of diverged partitions. */
  async resetDiverged(): Promise<void> {
    const diverged = [...this.#fetcher.partitions].filter(({ isDiverged }) => isDiverged);
    if (diverged.length === 0) return;
    const from = diverged.map(({ topic, partition, position = 0, epochs, identity: { topicId } }) => {
      return { topic, partition, offset: position, leaderEpoch: epochs.epochBefore(position), topicId };
    });
    for (const { topic, partition, offset, leaderEpoch, topicId } of await this.#validator.kept(from)) {
      const buffer = this.#fetcher.get({ topic, partition });
      if (buffer?.isDiverged === true) buffer.seek(offset, leaderEpoch, { topicId, leaderEpoch: -1 });
    }
    this.#fetcher.wake();
  }

  backoff(): Backoff {
    return backoffOf(this.#cluster);
  }

  /**
   * Commits the start positions of new partitions that have no committed offset. Otherwise, if a rebalance precedes the first
   * commit, the next owner would not know that the partition is new and could start at its end. Never rejects.
   */
  async commitStartPositions(identity: () => GroupIdentity): Promise<void> {
    const newPartitionStarts = this.#startPositions;
    this.#startPositions = [];
    if (newPartitionStarts.length === 0) return;
    try {
      await commitOffsets(this.#cluster, identity(), newPartitionStarts);
    } catch (error) {
      this.#logger.debug({ reason: toError(error).message }, 'Failed to commit the start positions of new partitions');
    }
  }

  #isNewPartition(buffer: PartitionBuffer): boolean {
    return this.#config.offsetReset === 'latest' && buffer.position === undefined && this.newPartitions.has(buffer);
  }

  async #resetPositions(
    lost: readonly PartitionBuffer[],
    offsetReset: ConsumerConfig['offsetReset'],
  ): Promise<readonly PartitionPosition[]> {
    if (lost.length === 0) return [];
    const { isolation } = this.#config;
    if (offsetReset === 'none') throw noPositionError(lost);
    const time = OffsetTime[offsetReset];
    let positions: readonly PartitionPosition[];
    try {
      positions = await listOffsets(this.#cluster, this.#metadata, lost, time, isolation === 'read_committed');
    } catch (error) {
      this.#metadata.requestUpdate();
      throw error;
    }
    for (const { topic, partition, offset } of positions) {
      const from = lost.find((buffer) => buffer.topic === topic && buffer.partition === partition)?.position;
      if (from === undefined) this.#logger.debug({ topic, partition, offset }, `Starting at the ${offsetReset} offset`);
      else
        this.#logger.warn({ topic, partition, from, offset }, 'Fetch offset is out of range; the position was reset');
    }
    return positions;
  }

  /** Does not override positions that `seek` has set in the meantime. */
  #apply(positions: readonly PartitionPosition[]): void {
    for (const { topic, partition, offset, leaderEpoch, topicId } of positions) {
      const buffer = this.#fetcher.get({ topic, partition });
      if (buffer === undefined || !needsPosition(buffer)) continue;
      const identity = { topicId: topicId ?? this.#metadata.topicId(topic), leaderEpoch: -1 };
      this.#logger.debug({ group: this.#config.groupId, topic, partition, offset, leaderEpoch }, 'Set the position');
      buffer.seek(offset, leaderEpoch, identity);
      if (identity.topicId !== undefined) this.#readIds.set(topic, identity.topicId);
    }
    this.#fetcher.wake();
  }

  #isRecreated({ topic }: PartitionBuffer): boolean {
    const [read, current] = [this.#readIds.get(topic), this.#metadata.topicId(topic)];
    return read !== undefined && current !== undefined && read !== current;
  }

  #previousTopicPosition({ topic, partition }: PartitionBuffer): PartitionPosition {
    return { topic, partition, offset: 0, topicId: this.#readIds.get(topic) };
  }
}

function needsPosition(buffer: PartitionBuffer): boolean {
  return buffer.position === undefined || buffer.needsReset;
}

function noPositionError(lost: readonly PartitionBuffer[]): SluiceError {
  const names = lost.map(({ topic, partition }) => `${topic}-${String(partition)}`).join(', ');
  const gone = lost.filter(({ position }) => position !== undefined);
  if (gone.length === 0) {
    return new SluiceError(`Undefined offset with no reset policy for partitions: [${names}]`, {
      javaName: 'org.apache.kafka.clients.consumer.NoOffsetForPartitionException',
    });
  }
  return new SluiceError(`Offsets out of range with no configured reset policy for partitions: [${names}]`, {
    javaName: 'org.apache.kafka.clients.consumer.OffsetOutOfRangeException',
  });
}
