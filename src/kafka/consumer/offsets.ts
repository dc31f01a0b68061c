import type { TopicPartition } from '../../data/record.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../error-codes.ts';
import { BrokerUnreachableError, CommitRefusedError, KafkaError } from '../errors.ts';
import { offsetDeleteCall } from '../offset-delete-protocol.ts';
import { Apis, libraryCall } from '../protocol.ts';

/** Who commits: a member in its generation, or a plain client (`memberId` empty, `generationId` -1). */
export interface GroupIdentity {
  readonly groupId: string;
  readonly memberId: string;
  readonly generationId: number;
}

export const OffsetTime = { latest: -1, earliest: -2 } as const;

/** Codes that say that the member does not own its generation any more. */
const REFUSALS: ReadonlySet<number> = new Set([
  ErrorCode.illegalGeneration,
  ErrorCode.unknownMemberId,
  ErrorCode.rebalanceInProgress,
  ErrorCode.fencedInstanceId,
]);

/** One attempt. Retriable failures are KafkaError or BrokerUnreachableError; a refusal is CommitRefusedError. */
export async function commitOffsets(
  cluster: Cluster,
  identity: GroupIdentity,
  positions: readonly PartitionPosition[],
): Promise<void> {
  const { groupId, memberId, generationId } = identity;
  const topics = byTopic(positions, ({ partition, offset }) => ({ partition, offset, metadata: null }));
  const call = libraryCall(Apis.offsetCommit, { groupId, memberId, groupGenerationId: generationId, topics });
  const { responses } = await cluster.callCoordinator(groupId, call);
  for (const { topic, partitions } of responses) {
    for (const { partition, errorCode } of partitions) {
      if (errorCode === ErrorCode.none) continue;
      if (COORDINATOR_MOVED.has(errorCode)) cluster.forgetCoordinator(groupId);
      const error = KafkaError.ofCode(errorCode, `Offset commit of group ${groupId} for ${topic}-${String(partition)}`);
      if (REFUSALS.has(errorCode)) throw new CommitRefusedError(error.message, { cause: error });
      // A topic that was deleted does not come back by waiting.
      if (errorCode === ErrorCode.unknownTopicOrPartition) throw error.asFinal();
      throw error;
    }
  }
}

/**
 * One attempt at taking committed offsets away (OffsetDelete, Kafka 2.4). Partitions without one are passed over, as is a
 * group that does not exist; partitions that do not exist are refused (UNKNOWN_TOPIC_OR_PARTITION), and topics that a member
 * is subscribed to (GROUP_SUBSCRIBED_TO_TOPIC).
 */
export async function deleteCommitted(
  cluster: Cluster,
  groupId: string,
  partitions: readonly TopicPartition[],
): Promise<void> {
  const answer = await cluster.callCoordinator(
    groupId,
    offsetDeleteCall(
      groupId,
      byTopic(partitions, ({ partition }) => partition),
    ),
  );
  if (answer.errorCode === ErrorCode.groupIdNotFound) return;
  checkGroupCode(cluster, groupId, answer.errorCode);
  for (const { topic, partition, errorCode } of answer.partitions) {
    if (errorCode === ErrorCode.none) continue;
    throw KafkaError.ofCode(errorCode, `Offset of group ${groupId} for ${topic}-${String(partition)}`);
  }
}

/** One attempt. Partitions without a committed offset are absent from the answer; `undefined`: all of the group. */
export async function fetchCommitted(
  cluster: Cluster,
  groupId: string,
  partitions: readonly TopicPartition[] | undefined,
): Promise<PartitionPosition[]> {
  if (partitions?.length === 0) return [];
  const topics = byTopic(partitions ?? [], ({ partition }) => ({ partition }));
  const answer = await cluster.callCoordinator(groupId, libraryCall(Apis.offsetFetch, { groupId, topics }));
  checkGroupCode(cluster, groupId, answer.errorCode);
  const positions: PartitionPosition[] = [];
  for (const { topic, partitions: answered } of answer.responses) {
    for (const { partition, errorCode, offset } of answered) {
      if (errorCode === ErrorCode.unknownTopicOrPartition) continue;
      checkGroupCode(cluster, groupId, errorCode);
      if (Number(offset) >= 0) positions.push({ topic, partition, offset: toOffset(offset) });
    }
  }
  return positions;
}

function checkGroupCode(cluster: Cluster, groupId: string, code: number): void {
  if (code === ErrorCode.none) return;
  if (COORDINATOR_MOVED.has(code)) cluster.forgetCoordinator(groupId);
  throw KafkaError.ofCode(code, `Group ${groupId}`);
}

/**
 * One attempt at the first or the next offset of partitions. With `readCommitted` the next offset is the first that is
 * not yet decided by its transaction (the last stable offset).
 */
export async function listOffsets(
  cluster: Cluster,
  leaderOf: (partition: TopicPartition) => number | undefined,
  partitions: readonly TopicPartition[],
  time: (typeof OffsetTime)[keyof typeof OffsetTime],
  readCommitted: boolean,
): Promise<PartitionPosition[]> {
  const byLeader = new Map<number, TopicPartition[]>();
  for (const partition of partitions) {
    const leader = leaderOf(partition);
    if (leader === undefined) {
      throw new BrokerUnreachableError(
        `Partition ${partition.topic}-${String(partition.partition)} has no known leader`,
      );
    }
    const led = byLeader.get(leader);
    if (led === undefined) byLeader.set(leader, [partition]);
    else led.push(partition);
  }
  const answers = await Promise.all(
    [...byLeader].map(async ([nodeId, led]) => {
      const topics = byTopic(led, ({ partition }) => ({ partition, timestamp: time }));
      const parameters = { isolationLevel: readCommitted ? 1 : 0, topics };
      return cluster.callNode(nodeId, 'main', libraryCall(Apis.listOffsets, parameters));
    }),
  );
  const positions: PartitionPosition[] = [];
  for (const { topic, partitions: answered } of answers.flatMap(({ responses }) => responses)) {
    for (const { partition, errorCode, offset } of answered) {
      if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `Offsets of ${topic}-${String(partition)}`);
      positions.push({ topic, partition, offset: toOffset(offset) });
    }
  }
  return positions;
}

function byTopic<P extends TopicPartition, T>(
  partitions: readonly P[],
  entry: (partition: P) => T,
): { topic: string; partitions: T[] }[] {
  const topics = new Map<string, T[]>();
  for (const partition of partitions) {
    const entries = topics.get(partition.topic);
    if (entries === undefined) topics.set(partition.topic, [entry(partition)]);
    else entries.push(entry(partition));
  }
  return [...topics].map(([topic, entries]) => ({ topic, partitions: entries }));
}

function toOffset(text: string): number {
  const offset = Number(text);
  if (!Number.isSafeInteger(offset)) throw new RangeError(`Offset ${text} is beyond what a number holds exactly`);
  return offset;
}
