import type { TopicPartition } from '../../data/record.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import type { Leaders } from './offsets.ts';

/** Of partitions that `metadata` may not know, because nobody is interested in their topics. */
export async function leadersOf(
  partitions: readonly TopicPartition[],
  metadata: TopicMetadata,
  cluster: Cluster,
): Promise<Leaders> {
  if (partitions.every((partition) => metadata.leaderOf(partition) !== undefined)) return metadata;
  const { topicMetadata } = await cluster.metadata([...new Set(partitions.map(({ topic }) => topic))]);
  const found = ({ topic, partition }: TopicPartition): { leader: number; leaderEpoch: number } | undefined =>
    topicMetadata
      .find((candidate) => candidate.topic === topic)
      ?.partitionMetadata.find(({ partitionId, leader }) => partitionId === partition && leader >= 0);
  return {
    leaderOf: (partition) => found(partition)?.leader,
    leaderEpochOf: (partition) => found(partition)?.leaderEpoch ?? -1,
  };
}
