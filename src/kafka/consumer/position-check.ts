import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { SluiceError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import { epochEnds, listOffsets, OffsetTime } from './offsets.ts';

/** A position, and the epoch of the record before it. */
export interface EpochPosition extends TopicPartition {
  readonly offset: number;
  readonly leaderEpoch: number;
}

/** Up to where a leader's log has what was read before a position. */
export interface CommonEnd extends TopicPartition {
  /** The position's own: the log has all. `undefined`: the log knows nothing of the epoch, so it is another one. */
  readonly offset: number | undefined;
  /** Of the last record in common. */
  readonly leaderEpoch: number;
  /** Of the leader that was asked. */
  readonly currentLeaderEpoch: number;
}

/**
 * Finds out whether positions are still positions in the logs of their topics. A topic may have been deleted and created again
 * under its name (KIP-516), and a replica that lagged behind may have become the leader (KIP-320): its log has other records
 * from some offset on (org.apache.kafka.clients.consumer.internals.SubscriptionState.maybeCompleteValidation).
 */
export class PositionCheck {
  readonly #cluster: Cluster;
  readonly #metadata: TopicMetadata;
  readonly #config: ConsumerConfig;
  readonly #logger: Logger;
  /** Ids of new topics that a warning was given for. */
  readonly #told = new Set<string>();

  constructor(cluster: Cluster, metadata: TopicMetadata, config: ConsumerConfig, logger: Logger) {
    this.#cluster = cluster;
    this.#metadata = metadata;
    this.#config = config;
    this.#logger = logger;
  }

  /**
   * Where reading goes on from positions that were kept somewhere: there, or at the beginning of a topic that was created
   * again, or behind the last record that the log has in common with what was read; with a warning for what changes. What no
   * leader can be asked for just now is left as it is: it is asked before anything is read.
   */
  async kept(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    const sameTopics = positions.filter((position) => !this.#isOfAnother(position));
    const epochPositions = sameTopics.flatMap(({ leaderEpoch, ...position }) =>
      leaderEpoch === undefined ? [] : [{ ...position, leaderEpoch }],
    );
    const ends = byPartition(await this.commonEnds(epochPositions));
    const isGone = (position: PartitionPosition): boolean => {
      const end = ends.get(keyOf(position));
      return this.#isOfAnother(position) || (end !== undefined && end.offset === undefined);
    };
    const begun = byPartition(await this.#beginnings(positions.filter(isGone)));
    return positions.map((position) => {
      const [end, beginning] = [ends.get(keyOf(position)), begun.get(keyOf(position))];
      if (beginning !== undefined) return beginning;
      const kept = { ...position, topicId: this.#metadata.topicId(position.topic) ?? position.topicId };
      return end?.offset === undefined || end.offset === position.offset ? kept : this.#cut(kept, end);
    });
  }

  /** The same as far as it concerns topics that were created again. */
  async ofSameTopics(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    const others = positions.filter((position) => this.#isOfAnother(position));
    return [
      ...positions.filter((position) => !this.#isOfAnother(position)),
      ...(others.length === 0 ? [] : await this.#beginnings(others)),
    ];
  }

  /**
   * One attempt. Partitions are absent from the answer that have no known leader, or whose leader has no epoch or does not answer.
   */
  async commonEnds(positions: readonly EpochPosition[]): Promise<readonly CommonEnd[]> {
    const asked = positions
      .map((position) => ({ ...position, currentLeaderEpoch: this.#metadata.leaderEpochOf(position) }))
      .filter((each) => each.currentLeaderEpoch >= 0 && this.#metadata.leaderOf(each) !== undefined);
    if (asked.length === 0) return [];
    const { ends, failed } = await epochEnds(this.#cluster, this.#metadata, asked);
    if (failed) this.#metadata.requestUpdate();
    return asked.flatMap(({ topic, partition, offset, leaderEpoch, currentLeaderEpoch }) => {
      const end = ends.get(topicPartitionKey(topic, partition));
      if (end === undefined) return [];
      const isKnown = end.leaderEpoch >= 0 && end.endOffset >= 0;
      const common = isKnown
        ? { offset: Math.min(offset, end.endOffset), leaderEpoch: Math.min(leaderEpoch, end.leaderEpoch) }
        : { offset: undefined, leaderEpoch: -1 };
      return [{ topic, partition, ...common, currentLeaderEpoch }];
    });
  }

  /** The position at the end of what is in common, with a warning. */
  #cut(position: PartitionPosition, end: CommonEnd): PartitionPosition {
    const { topic, partition, offset: from } = position;
    const { offset = from, leaderEpoch } = end;
    if (this.#config.offsetReset === 'none') {
      throw new SluiceError(
        `Topic ${topic}, partition ${String(partition)}: the log has been cut at offset ${String(offset)}, below the position ` +
          `${String(from)}, and auto.offset.reset is none`,
        { javaName: 'org.apache.kafka.clients.consumer.LogTruncationException' },
      );
    }
    this.#logger.warn(
      { topic, partition, from, offset, takenBack: from - offset },
      `Topic ${topic}, partition ${String(partition)}: a leader without the last records was elected. ${String(from - offset)} ` +
        `records that were read from offset ${String(offset)} on are not in its log; reading goes on at that offset`,
    );
    return { ...position, offset, leaderEpoch };
  }

  /** One attempt at the first offsets of topics that are not those of the positions any more; with one warning for each topic. */
  async #beginnings(positions: readonly PartitionPosition[]): Promise<readonly PartitionPosition[]> {
    if (positions.length === 0) return [];
    const [first] = positions;
    if (this.#config.offsetReset === 'none') {
      throw new SluiceError(`Topic ${first?.topic ?? ''} has been created again, and auto.offset.reset is none`, {
        javaName: 'org.apache.kafka.clients.consumer.OffsetOutOfRangeException',
      });
    }
    const began = await listOffsets(this.#cluster, this.#metadata, positions, OffsetTime.earliest, false);
    for (const { topic, topicId: before } of positions) {
      const topicId = this.#metadata.topicId(topic);
      const told = `${topic}/${topicId ?? ''}`;
      if (this.#told.has(told)) continue;
      this.#told.add(told);
      this.#logger.warn(
        { topic, topicId, before },
        `Topic ${topic} has been deleted and created again since it was read; the new topic is read from its beginning`,
      );
    }
    return began.map((position) => ({ ...position, topicId: this.#metadata.topicId(position.topic) }));
  }

  #isOfAnother({ topic, topicId }: PartitionPosition): boolean {
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
