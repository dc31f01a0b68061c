import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { PartitionPosition } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../error-codes.ts';
import { BrokerUnreachableError, CommitRefusedError, DamagedAnswerError, KafkaError, isRetriable } from '../errors.ts';
import { offsetDeleteCall } from './offset-delete-protocol.ts';
import {
  epochEndsCall,
  listOffsetsCall,
  offsetCommitCall,
  offsetFetchByEpochCall,
  offsetFetchCall,
  type Committer,
  type EpochEnd,
} from './offset-protocol.ts';

export type GroupIdentity = Committer;

export const OffsetTime = { latest: -1, earliest: -2 } as const;

/** Codes that say that the member does not own its generation any more. */
const REFUSALS: ReadonlySet<number> = new Set([
  ErrorCode.illegalGeneration,
  ErrorCode.unknownMemberId,
  ErrorCode.rebalanceInProgress,
  ErrorCode.fencedInstanceId,
]);

/** A member learns the rest by its next heartbeat. */
const OF_OLD_EPOCHS: ReadonlySet<number> = new Set([
  ErrorCode.unknownMemberId,
  ErrorCode.fencedMemberEpoch,
  ErrorCode.staleMemberEpoch,
]);

/** Who leads partitions, as a client knows it. */
export interface Leaders {
  /** `undefined`: nobody, or not known. */
  leaderOf(partition: TopicPartition): number | undefined;
  /** -1: not known. */
  leaderEpochOf(partition: TopicPartition): number;
}

/** In the metadata of a committed offset, before the id of the topic that the offset is one of. */
const TOPIC_ID = 'sluice:topic-id=';

/**
 * One attempt. Retriable failures are KafkaError or BrokerUnreachableError; a refusal is CommitRefusedError. A position's topic
 * id is committed as metadata, unless the brokers take none.
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
    if (REFUSALS.has(errorCode)) throw new CommitRefusedError(error.message, { cause: error });
    // A topic that was deleted does not come back by waiting.
    if (errorCode === ErrorCode.unknownTopicOrPartition) throw error.asFinal();
    throw error;
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

/**
 * One attempt. Partitions without a committed offset are absent from the answer; `undefined`: all of the group. `reader`: a member
 * with an epoch, for which it is worth waiting while the group says that the epoch is an old one.
 */
export async function fetchCommitted(
  cluster: Cluster,
  groupId: string,
  partitions: readonly TopicPartition[] | undefined,
  reader?: GroupIdentity,
): Promise<PartitionPosition[]> {
  if (partitions?.length === 0) return [];
  const isMember = reader !== undefined && partitions !== undefined;
  const call = isMember ? offsetFetchByEpochCall(reader, partitions) : offsetFetchCall(groupId, partitions);
  const answer = await cluster.callCoordinator(groupId, call);
  if (isMember && OF_OLD_EPOCHS.has(answer.errorCode)) {
    const { message } = KafkaError.ofCode(answer.errorCode, `Group ${groupId}`);
    throw new KafkaError(answer.errorCode, message, { retriable: true });
  }
  checkGroupCode(cluster, groupId, answer.errorCode);
  const positions: PartitionPosition[] = [];
  for (const { topic, partition, errorCode, offset, leaderEpoch, metadata } of answer.partitions) {
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
 * One attempt at the first or the next offset of partitions, or at the first of a time (milliseconds since the epoch; -1 where no
 * record is that late). With `readCommitted` the next offset is the first that is
 * not yet decided by its transaction (the last stable offset).
 */
export async function listOffsets(
  cluster: Cluster,
  leaders: Leaders,
  partitions: readonly TopicPartition[],
  time: number,
  readCommitted: boolean,
): Promise<PartitionPosition[]> {
  const answers = await Promise.all(
    [...byLeader(leaders, partitions)].map(async ([nodeId, led]) =>
      cluster.callNode(nodeId, 'main', listOffsetsCall(readCommitted ? 1 : 0, time, led)),
    ),
  );
  const positions = answers
    .flatMap((answer) => answer.partitions)
    .map(({ topic, partition, errorCode, offset, leaderEpoch }) => {
      if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `Offsets of ${topic}-${String(partition)}`);
      // Of a time: no record is that late.
      const isNone = time >= 0 && offset === -1;
      return { topic, partition, offset: isNone ? offset : exact(offset), leaderEpoch: known(leaderEpoch) };
    });
  requireAll(partitions, positions);
  return positions;
}

/**
 * One attempt at where the leaders' logs end an epoch (KIP-320). What a leader has not, it answers for the newest epoch before it.
 * Partitions are absent whose leader did not answer, or is no leader any more: `failed`. Rejects for what waiting cannot mend.
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
    const asked = { ...each, currentLeaderEpoch: leaders.leaderEpochOf(each) };
    const led = byLeader.get(leader);
    if (led === undefined) byLeader.set(leader, [asked]);
    else led.push(asked);
  }
  return byLeader;
}

/** Whoever asked would ask again at once, for ever. */
function requireAll(asked: readonly TopicPartition[], answered: readonly TopicPartition[]): void {
  const keys = new Set(answered.map(({ topic, partition }) => topicPartitionKey(topic, partition)));
  const missing = asked.find(({ topic, partition }) => !keys.has(topicPartitionKey(topic, partition)));
  if (missing === undefined) return;
  throw new DamagedAnswerError(
    `The answer to ListOffsets is damaged: it has no offset for ${missing.topic}-${String(missing.partition)}`,
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

/** Without what tells the log. */
export function placeOf({ topic, partition, offset }: PartitionPosition): PartitionPosition {
  return { topic, partition, offset };
}

function known(leaderEpoch: number): number | undefined {
  return leaderEpoch < 0 ? undefined : leaderEpoch;
}

function exact(offset: number): number {
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new DamagedAnswerError(`A broker answered with the offset ${String(offset)}, which no partition has`);
}
