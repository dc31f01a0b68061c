import type { Logger } from '../../observe/logger.ts';
import { topicPartitionKey, type TopicPartition, topicPartitionText } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import {
  BrokerUnreachableError,
  CommitRefusedError,
  MalformedResponseError,
  KafkaError,
  isRetriable,
} from '../errors/kafka-errors.ts';
import { offsetDeleteCall } from './offset-delete-protocol.ts';
import {
  epochEndsCall,
  listOffsetsCall,
  offsetCommitCall,
  offsetFetchByMemberCall,
  offsetFetchCall,
  type Committer,
  type EpochEnd,
} from './offset-protocol.ts';

export type GroupIdentity = Committer;

export const OffsetTime = { latest: -1, earliest: -2 } as const;

/** Error codes that mean that the member no longer owns its generation. */
const LOST_GENERATION_CODES: ReadonlySet<number> = new Set([
  ErrorCode.illegalGeneration,
  ErrorCode.unknownMemberId,
  ErrorCode.rebalanceInProgress,
  ErrorCode.fencedInstanceId,
]);

/** Error codes of a stale member epoch. The next heartbeat returns the current epoch, or the member is fenced and rejoins. */
const STALE_EPOCH_CODES: ReadonlySet<number> = new Set([
  ErrorCode.unknownMemberId,
  ErrorCode.fencedMemberEpoch,
  ErrorCode.staleMemberEpoch,
]);

export interface Leaders {
  /** `undefined` if the partition has no leader, or if its leader is unknown. */
  leaderOf(partition: TopicPartition): number | undefined;
  /** -1 if unknown. */
  leaderEpochOf(partition: TopicPartition): number;
}

/** Prefix of the metadata of a committed offset; the topic id follows it. */
const TOPIC_ID = 'sluice:topic-id=';

/**
 * One attempt to commit offsets. Throws CommitRefusedError if the member no longer owns its generation. Retriable failures are
 * KafkaError or BrokerUnreachableError. The topic id is committed as metadata, unless the broker rejects it as too large.
 */
export async function commitOffsets(
  cluster: Cluster,
  identity: GroupIdentity,
  positions: readonly PartitionPosition[],
): Promise<void> {
  const { groupId } = identity;
  const offsets = positions.map(({ topic, partition, offset, leaderEpoch = -1, topicId }) => {
    const metadata = topicId === undefined ? '' : `${TOPIC_ID}${topicId}`;
    return { topic, partition, offset, leaderEpoch, metadata };
  });
  const { partitions } = await cluster.callCoordinator(groupId, offsetCommitCall(identity, offsets));
  if (partitions.some(({ errorCode }) => errorCode === ErrorCode.offsetMetadataTooLarge)) {
    const withoutIds = positions.map((position) => ({ ...position, topicId: undefined }));
    if (positions.some(({ topicId }) => topicId !== undefined)) return commitOffsets(cluster, identity, withoutIds);
  }
  for (const { topic, partition, errorCode } of partitions) {
    if (errorCode === ErrorCode.none) continue;
    if (COORDINATOR_MOVED.has(errorCode)) cluster.forgetCoordinator(groupId);
    const error = KafkaError.ofCode(errorCode, `Offset commit of group ${groupId} for ${topic}-${String(partition)}`);
    if (LOST_GENERATION_CODES.has(errorCode)) throw new CommitRefusedError(error.message, { cause: error });
    // The topic was deleted, so a retry would fail again.
    if (errorCode === ErrorCode.unknownTopicOrPartition) throw error.asFinal();
    throw error;
  }
}

/**
 * One attempt to delete committed offsets (OffsetDelete, Kafka 2.4). Ignores partitions without an offset and a group that does
 * not exist. Rejects if a partition does not exist (UNKNOWN_TOPIC_OR_PARTITION) or a member is subscribed to its topic
 * (GROUP_SUBSCRIBED_TO_TOPIC).
 */
export async function deleteCommitted(
  cluster: Cluster,
  groupId: string,
  partitions: readonly TopicPartition[],
): Promise<void> {
  const response = await cluster.callCoordinator(
    groupId,
    offsetDeleteCall(
      groupId,
      byTopic(partitions, ({ partition }) => partition),
    ),
  );
  if (response.errorCode === ErrorCode.groupIdNotFound) return;
  checkGroupCode(cluster, groupId, response.errorCode);
  for (const { topic, partition, errorCode } of response.partitions) {
    if (errorCode === ErrorCode.none) continue;
    throw KafkaError.ofCode(errorCode, `Offset of group ${groupId} for ${topic}-${String(partition)}`);
  }
}

/**
 * One attempt to fetch committed offsets. Partitions without a committed offset are absent from the result. If `partitions` is
 * `undefined`, all committed offsets of the group are fetched. If `reader` is set, this KIP-848 member reads the
 * offsets, and a stale member epoch is a retriable error.
 */
export async function fetchCommitted(
  cluster: Cluster,
  groupId: string,
  partitions: readonly TopicPartition[] | undefined,
  reader?: GroupIdentity,
): Promise<PartitionPosition[]> {
  if (partitions?.length === 0) return [];
  const isMember = reader !== undefined && partitions !== undefined;
  const call = isMember ? offsetFetchByMemberCall(reader, partitions) : offsetFetchCall(groupId, partitions);
  const response = await cluster.callCoordinator(groupId, call);
  if (isMember && STALE_EPOCH_CODES.has(response.errorCode)) {
    const { message } = KafkaError.ofCode(response.errorCode, `Group ${groupId}`);
    throw new KafkaError(response.errorCode, message, { retriable: true });
  }
  checkGroupCode(cluster, groupId, response.errorCode);
  const positions: PartitionPosition[] = [];
  for (const { topic, partition, errorCode, offset, leaderEpoch, metadata } of response.partitions) {
    if (errorCode === ErrorCode.unknownTopicOrPartition) continue;
    checkGroupCode(cluster, groupId, errorCode);
    if (offset < 0) continue;
    const topicId = metadata.startsWith(TOPIC_ID) ? metadata.slice(TOPIC_ID.length) : undefined;
    positions.push({ topic, partition, offset: exact(offset), leaderEpoch: known(leaderEpoch), topicId });
  }
  return positions;
}

function checkGroupCode(cluster: Cluster, groupId: string, code: number): void {
  if (code === ErrorCode.none) return;
  if (COORDINATOR_MOVED.has(code)) cluster.forgetCoordinator(groupId);
  throw KafkaError.ofCode(code, `Group ${groupId}`);
}

/**
 * One attempt to list the earliest offsets, the high watermarks (`OffsetTime.latest`), or the first offsets at or after a
 * time in milliseconds since the epoch (-1 if there is no such record). With `readCommitted`, the last stable offsets are
 * listed instead of the high watermarks.
 */
export async function listOffsets(
  cluster: Cluster,
  leaders: Leaders,
  partitions: readonly TopicPartition[],
  time: number,
  readCommitted: boolean,
): Promise<PartitionPosition[]> {
  const responses = await Promise.all(
    [...byLeader(leaders, partitions)].map(async ([nodeId, led]) =>
      cluster.callNode(nodeId, 'main', listOffsetsCall(readCommitted ? 1 : 0, time, led)),
    ),
  );
  const positions = responses
    .flatMap((response) => response.partitions)
    .map(({ topic, partition, errorCode, offset, leaderEpoch }) => {
      if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `Offsets of ${topic}-${String(partition)}`);
      // -1 means that no record is at or after the requested time.
      const isNone = time >= 0 && offset === -1;
      return { topic, partition, offset: isNone ? offset : exact(offset), leaderEpoch: known(leaderEpoch) };
    });
  requireComplete(partitions, positions);
  return positions;
}

/**
 * One attempt to find the offsets at which the epochs end in the leaders' logs (KIP-320). If a log does not contain the epoch,
 * the leader reports the newest earlier one. If a leader has moved or did not respond, its partitions are absent and `failed`
 * is set. Rejects if a leader is unknown, and on errors that are not retriable.
 */
export async function epochEnds(
  cluster: Cluster,
  leaders: Leaders,
  wanted: readonly (TopicPartition & { readonly leaderEpoch: number })[],
): Promise<{ readonly ends: ReadonlyMap<string, EpochEnd>; readonly failed: boolean }> {
  const calls = [...byLeader(leaders, wanted)].map(async ([nodeId, led]) =>
    cluster.callNode(nodeId, 'main', epochEndsCall(led)),
  );
  const ends = new Map<string, EpochEnd>();
  let failed = false;
  const fail = (error: unknown): void => {
    if (!isRetriable(error)) throw toError(error);
    failed = true;
  };
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'rejected') {
      fail(outcome.reason);
      continue;
    }
    for (const end of outcome.value.partitions) {
      const { topic, partition, errorCode } = end;
      if (errorCode === ErrorCode.none) ends.set(topicPartitionKey(topic, partition), end);
      else fail(KafkaError.ofCode(errorCode, `Epochs of ${topic}-${String(partition)}`));
    }
  }
  return { ends, failed };
}

function byLeader<P extends TopicPartition>(
  leaders: Leaders,
  partitions: readonly P[],
): Map<number, (P & { currentLeaderEpoch: number })[]> {
  const byLeader = new Map<number, (P & { currentLeaderEpoch: number })[]>();
  for (const each of partitions) {
    const leader = leaders.leaderOf(each);
    if (leader === undefined) {
      throw new BrokerUnreachableError(`Partition ${each.topic}-${String(each.partition)} has no known leader`);
    }
    const requested = { ...each, currentLeaderEpoch: leaders.leaderEpochOf(each) };
    const led = byLeader.get(leader);
    if (led === undefined) byLeader.set(leader, [requested]);
    else led.push(requested);
  }
  return byLeader;
}

/** Throws if the response lacks a requested partition. The caller would otherwise retry immediately and endlessly. */
function requireComplete(requested: readonly TopicPartition[], answered: readonly TopicPartition[]): void {
  const keys = new Set(answered.map(({ topic, partition }) => topicPartitionKey(topic, partition)));
  const missing = requested.find(({ topic, partition }) => !keys.has(topicPartitionKey(topic, partition)));
  if (missing === undefined) return;
  throw new MalformedResponseError(
    `Malformed ListOffsets response: no offset for ${missing.topic}-${String(missing.partition)}`,
  );
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

export function logCommit(
  logger: Logger,
  { groupId: group, memberId, generationId }: GroupIdentity,
  positions: readonly PartitionPosition[],
  failure?: Error,
): void {
  if (!logger.isLevelEnabled('debug')) return;
  const offsets = Object.fromEntries(positions.map((position) => [topicPartitionText(position), position.offset]));
  const fields = { group, memberId, generationId, offsets, reason: failure?.message };
  logger.debug(fields, failure === undefined ? 'Committed offsets' : 'Offset commit failed');
}

export function toPosition({ topic, partition, offset }: PartitionPosition): PartitionPosition {
  return { topic, partition, offset };
}

function known(leaderEpoch: number): number | undefined {
  return leaderEpoch < 0 ? undefined : leaderEpoch;
}

function exact(offset: number): number {
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new MalformedResponseError(`A broker returned the invalid offset ${String(offset)}`);
}
