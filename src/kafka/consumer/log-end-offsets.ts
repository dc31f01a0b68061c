import type { TopicPartition } from '../../data/record.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { TopicMetadata } from '../connections/topic-metadata.ts';
import type { PartitionPosition } from '../api.ts';
import { listOffsets, OffsetTime, type Leaders } from './offsets.ts';

/** One attempt to list the high watermarks, or with `readCommitted` the last stable offsets; see `listOffsets`. */
export async function logEndOffsets(
  partitions: readonly TopicPartition[],
  metadata: TopicMetadata,
  cluster: Cluster,
  readCommitted: boolean,
): Promise<readonly PartitionPosition[]> {
  const leaders = await leadersOf(partitions, metadata, cluster);
  return listOffsets(cluster, leaders, partitions, OffsetTime.latest, readCommitted);
}

/**
 * Returns the leaders of the partitions. If `metadata` lacks the leader of one of them, the leaders of all of them are requested
 * from the cluster.
 */
async function leadersOf(
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
