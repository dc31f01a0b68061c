import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { SluiceError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import { epochEnds, listOffsets, OffsetTime } from './offsets.ts';

/** A position with the leader epoch of the record before it. */
export interface EpochPosition extends TopicPartition {
  readonly offset: number;
  readonly leaderEpoch: number;
}

/** The offset up to which a leader's log contains the records before a position. */
export interface CommonEnd extends TopicPartition {
  /** Equal to the position if the log contains all records; `undefined` if the log does not contain the epoch. */
  readonly offset: number | undefined;
  /** Epoch of the last common record. */
  readonly leaderEpoch: number;
  /** Current epoch of the leader. */
  readonly currentLeaderEpoch: number;
}

/**
 * Validates positions against the logs of their topics. A topic may have been deleted and recreated under its name (KIP-516). A
 * lagging replica may also have become the leader, so that the log differs from the records that were read (KIP-320;
 * org.apache.kafka.clients.consumer.internals.SubscriptionState.maybeCompleteValidation).
 */
export class PositionValidator {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  /** Recreated topics for which a warning has already been logged. */
  readonly #warnedTopics = new Set<string>();

  constructor(cluster: Cluster, metadata: TopicMetadata, config: ConsumerConfig, logger: Logger) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#config = config;
    this.#logger = logger;
  }

  /**
   * Returns where to resume from stored positions. If the topic was recreated, or its log does not contain the leader epoch,
   * reading resumes at the beginning. If the log was truncated, it resumes at the first offset at which the log differs from
   * the records that were read. Otherwise, it resumes at the stored position. Logs a warning for each truncated log and
   * for each recreated topic. A position whose leader is unavailable keeps its offset and is validated before anything
   * is read; but if its topic was recreated, the call rejects with a retriable error.
   */
  async kept(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    const sameTopics = positions.filter((position) => !this.#isRecreated(position));
    const epochPositions = sameTopics.flatMap(({ leaderEpoch, ...position }) =>
      leaderEpoch === undefined ? [] : [{ ...position, leaderEpoch }],
    );
    const ends = byPartition(await this.commonEnds(epochPositions));
    const isGone = (position: PartitionPosition): boolean => {
      const end = ends.get(keyOf(position));
      return this.#isRecreated(position) || (end !== undefined && end.offset === undefined);
    };
    const resetPositions = byPartition(await this.#resetToEarliest(positions.filter(isGone)));
    return positions.map((position) => {
      const [end, reset] = [ends.get(keyOf(position)), resetPositions.get(keyOf(position))];
      if (reset !== undefined) return reset;
      const kept = { ...position, topicId: this.#metadata.topicId(position.topic) ?? position.topicId };
      return end?.offset === undefined || end.offset === position.offset ? kept : this.#truncated(kept, end);
    });
  }

  /** Resets the positions of recreated topics only. */
  async resetRecreated(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    const others = positions.filter((position) => this.#isRecreated(position));
    return [
      ...positions.filter((position) => !this.#isRecreated(position)),
      ...(others.length === 0 ? [] : await this.#resetToEarliest(others)),
    ];
  }

  /**
   * One attempt to compare positions with the logs. The result lacks partitions whose leader is unknown, has no epoch or does
   * not respond.
   */
  async commonEnds(positions: readonly EpochPosition[]): Promise<readonly CommonEnd[]> {
    const requested = positions
      .map((position) => ({ ...position, currentLeaderEpoch: this.#metadata.leaderEpochOf(position) }))
      .filter((each) => each.currentLeaderEpoch >= 0 && this.#metadata.leaderOf(each) !== undefined);
    if (requested.length === 0) return [];
    const { ends, failed } = await epochEnds(this.#cluster, this.#metadata, requested);
    if (failed) this.#metadata.requestUpdate();
    return requested.flatMap(({ topic, partition, offset, leaderEpoch, currentLeaderEpoch }) => {
      const end = ends.get(topicPartitionKey(topic, partition));
      if (end === undefined) return [];
      const isKnown = end.leaderEpoch >= 0 && end.endOffset >= 0;
      const common = isKnown
        ? { offset: Math.min(offset, end.endOffset), leaderEpoch: Math.min(leaderEpoch, end.leaderEpoch) }
        : { offset: undefined, leaderEpoch: -1 };
      return [{ topic, partition, ...common, currentLeaderEpoch }];
    });
  }

  /** Moves the position to the end of the common records and logs a warning. */
  #truncated(position: PartitionPosition, end: CommonEnd): PartitionPosition {
    const { topic, partition, offset: from } = position;
    const { offset = from, leaderEpoch } = end;
    if (this.#config.offsetReset === 'none') {
      throw new SluiceError(
        `Topic ${topic}, partition ${String(partition)}: the log was truncated to offset ${String(offset)}, below the position ` +
          `${String(from)}, and auto.offset.reset is none`,
        { javaName: 'org.apache.kafka.clients.consumer.LogTruncationException' },
      );
    }
    this.#logger.warn(
      { topic, partition, from, offset, takenBack: from - offset },
      `Topic ${topic}, partition ${String(partition)}: log truncation detected after an unclean leader election. ${String(from - offset)} ` +
        `records that were read from offset ${String(offset)} on are no longer in the log; resuming at that offset`,
    );
    return { ...position, offset, leaderEpoch };
  }

  /** One attempt to find the first offsets of topics that were recreated or lack the leader epoch. Logs one warning per topic. */
  async #resetToEarliest(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    if (positions.length === 0) return [];
    const [first] = positions;
    if (this.#config.offsetReset === 'none') {
      throw new SluiceError(`Topic ${first?.topic ?? ''} has been recreated, and auto.offset.reset is none`, {
        javaName: 'org.apache.kafka.clients.consumer.OffsetOutOfRangeException',
      });
    }
    const earliest = await listOffsets(this.#cluster, this.#metadata, positions, OffsetTime.earliest, false);
    for (const { topic, topicId: before } of positions) {
      const topicId = this.#metadata.topicId(topic);
      const key = `${topic}/${topicId ?? ''}`;
      if (this.#warnedTopics.has(key)) continue;
      this.#warnedTopics.add(key);
      this.#logger.warn(
        { topic, topicId, before },
        `Topic ${topic} has been deleted and recreated since it was read; reading the new topic from its beginning`,
      );
    }
    return earliest.map((position) => ({ ...position, topicId: this.#metadata.topicId(position.topic) }));
  }

  #isRecreated({ topic, topicId }: PartitionPosition): boolean {
    const current = this.#metadata.topicId(topic);
    return topicId !== undefined && current !== undefined && topicId !== current;
  }
}

function byPartition<P extends TopicPartition>(partitions: readonly P[]): ReadonlyMap<string, P> {
  return new Map(partitions.map((each) => [keyOf(each), each] as const));
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
