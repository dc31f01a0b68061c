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
import { PositionCheck, type EpochPosition } from './position-check.ts';
import type { PartitionBuffer } from './partition-buffer.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';

/** Where reading begins: at the committed offset, else (or when that offset is gone) where `auto.offset.reset` says. */
export class StartPositions {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #fetcher: Fetcher;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  readonly #check: PositionCheck;
  /** Ids of the topics that were read. */
  readonly #readIds = new Map<string, string>();
  /** Which partitions came to be while the consumer was subscribed. */
  readonly newPartitions = new NewPartitions();
  /** Who reads committed offsets, where members have epochs. */
  reader: (() => GroupIdentity) | undefined;
  #beginnings: PartitionPosition[] = [];

  constructor(cluster: Cluster, metadata: TopicMetadata, fetcher: Fetcher, config: ConsumerConfig, logger: Logger) {
    this.#check = new PositionCheck(cluster, metadata, config, logger);
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#fetcher = fetcher;
    this.#config = config;
    this.#logger = logger;
  }

  /** True when some partition has nowhere to read from. */
  get needed(): boolean {
    for (const buffer of this.#fetcher.partitions) if (isLost(buffer)) return true;
    return false;
  }

  /** True when of some partition it is not known whether its new leader has all that was read of it. */
  get inDoubt(): boolean {
    for (const buffer of this.#fetcher.partitions) if (buffer.doubtful !== undefined) return true;
    return false;
  }

  /** The topic of a partition whose log is another than the one that was read, if there is one. */
  get diverged(): string | undefined {
    for (const { isDiverged, topic } of this.#fetcher.partitions) if (isDiverged) return topic;
    return undefined;
  }

  /**
   * One attempt at a position for every partition without one. Those at which no leader is known are checked later. With `mayMove`,
   * reading also goes on where logs are others than those that were read: nothing of them has been handed out.
   */
  async resolve(mayMove = true): Promise<void> {
    const fresh = [...this.#fetcher.partitions].filter((buffer) => buffer.position === undefined);
    const { groupId } = this.#config;
    if (groupId !== undefined && fresh.length > 0) {
      this.#apply(await this.#check.ofSameTopics(await fetchCommitted(this.#cluster, groupId, fresh, this.reader?.())));
    }
    const again = fresh.filter((buffer) => isLost(buffer) && this.#isCreatedAgain(buffer));
    this.#apply(await this.#check.ofSameTopics(again.map((buffer) => this.#beforeCreation(buffer))));
    const lost = [...this.#fetcher.partitions].filter(isLost);
    const isNew = (buffer: PartitionBuffer): boolean => this.#startsNew(buffer);
    const beginnings = await this.#resetPositions(lost.filter(isNew), 'earliest');
    this.#beginnings.push(...beginnings);
    const others = lost.filter((buffer) => !isNew(buffer));
    this.#apply([...beginnings, ...(await this.#resetPositions(others, this.#config.offsetReset))]);
    if ((await this.settleDoubts()) && mayMove) await this.moveDiverged();
  }

  /** Positions that were kept somewhere, as they are to be read from now on; see `PositionCheck.kept`. */
  async kept(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    await this.#metadata.update();
    return this.#check.kept(positions);
  }

  /**
   * One attempt at settling the doubts that changes of leaders raised; some may remain. True when there are positions that a
   * leader's log does not have, of records that were handed out.
   */
  async settleDoubts(): Promise<boolean> {
    const asked = new Map<string, { buffer: PartitionBuffer; jumps: number; offset: number }>();
    const positions: EpochPosition[] = [];
    for (const buffer of this.#fetcher.partitions) {
      const { doubtful, topic, partition, jumps } = buffer;
      if (doubtful === undefined) continue;
      asked.set(topicPartitionKey(topic, partition), { buffer, jumps, offset: doubtful.offset });
      positions.push({ topic, partition, ...doubtful });
    }
    if (positions.length === 0) return false;
    let hasDiverged = false;
    for (const { topic, partition, offset, currentLeaderEpoch } of await this.#check.commonEnds(positions)) {
      const question = asked.get(topicPartitionKey(topic, partition));
      if (question === undefined || question.buffer.jumps !== question.jumps) continue;
      const { buffer } = question;
      if (offset === question.offset) buffer.confirm(currentLeaderEpoch);
      else if (offset !== undefined && offset >= (buffer.position ?? 0)) buffer.dropReadAhead(currentLeaderEpoch);
      else {
        buffer.diverge();
        hasDiverged = true;
      }
    }
    this.#fetcher.wake();
    return hasDiverged;
  }

  /** One attempt at going on where logs are others than those that were read. */
  async moveDiverged(): Promise<void> {
    const diverged = [...this.#fetcher.partitions].filter(({ isDiverged }) => isDiverged);
    if (diverged.length === 0) return;
    const from = diverged.map(({ topic, partition, position = 0, epochs, identity: { topicId } }) => {
      return { topic, partition, offset: position, leaderEpoch: epochs.before(position), topicId };
    });
    for (const { topic, partition, offset, leaderEpoch, topicId } of await this.#check.kept(from)) {
      const buffer = this.#fetcher.get({ topic, partition });
      if (buffer?.isDiverged === true) buffer.positionAt(offset, leaderEpoch, { topicId, leaderEpoch: -1 });
    }
    this.#fetcher.wake();
  }

  /** For retries of what concerns positions. */
  backoff(): Backoff {
    return backoffOf(this.#cluster);
  }

  /**
   * Commits where new partitions were begun since the last call, for which the group has no offset yet: a member that gets them before
   * anything else is committed may have come after them, and would begin at their end. Never rejects.
   */
  async keepBeginnings(identity: () => GroupIdentity): Promise<void> {
    const beginnings = this.#beginnings;
    this.#beginnings = [];
    if (beginnings.length === 0) return;
    try {
      await commitOffsets(this.#cluster, identity(), beginnings);
    } catch (error) {
      this.#logger.debug({ reason: toError(error).message }, 'the beginnings of new partitions were not committed');
    }
  }

  #startsNew(buffer: PartitionBuffer): boolean {
    return this.#config.offsetReset === 'latest' && buffer.position === undefined && this.newPartitions.has(buffer);
  }

  async #resetPositions(
    lost: readonly PartitionBuffer[],
    offsetReset: ConsumerConfig['offsetReset'],
  ): Promise<readonly PartitionPosition[]> {
    if (lost.length === 0) return [];
    const { isolation } = this.#config;
    if (offsetReset === 'none') throw noPosition(lost);
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
      if (from === undefined) this.#logger.debug({ topic, partition, offset }, `starting at the ${offsetReset} offset`);
      else
        this.#logger.warn({ topic, partition, from, offset }, 'the offset is not there any more, position was reset');
    }
    return positions;
  }

  /** Whatever was positioned meanwhile by `seek` stays where it is. */
  #apply(positions: readonly PartitionPosition[]): void {
    for (const { topic, partition, offset, leaderEpoch, topicId } of positions) {
      const buffer = this.#fetcher.get({ topic, partition });
      if (buffer === undefined || !isLost(buffer)) continue;
      const identity = { topicId: topicId ?? this.#metadata.topicId(topic), leaderEpoch: -1 };
      buffer.positionAt(offset, leaderEpoch, identity);
      if (identity.topicId !== undefined) this.#readIds.set(topic, identity.topicId);
    }
    this.#fetcher.wake();
  }

  #isCreatedAgain({ topic }: PartitionBuffer): boolean {
    const [read, current] = [this.#readIds.get(topic), this.#metadata.topicId(topic)];
    return read !== undefined && current !== undefined && read !== current;
  }

  #beforeCreation({ topic, partition }: PartitionBuffer): PartitionPosition {
    return { topic, partition, offset: 0, topicId: this.#readIds.get(topic) };
  }
}

function isLost(buffer: PartitionBuffer): boolean {
  return buffer.position === undefined || buffer.needsReset;
}

function noPosition(lost: readonly PartitionBuffer[]): SluiceError {
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
