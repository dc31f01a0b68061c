import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';
import type { Generation, GroupOptions } from './group-protocol.ts';

/**
 * Time for network and processing. The broker waits for other members for up to the rebalance timeout, so JoinGroup and
 * SyncGroup time out after the rebalance timeout plus this time.
 */
export const NETWORK_MS = 5000;

/** Error codes that mean that the member has lost its generation, or will lose it in a rebalance. */
export const LOST_GENERATION_CODES: ReadonlySet<number> = new Set([
  ErrorCode.rebalanceInProgress,
  ErrorCode.unknownMemberId,
  ErrorCode.illegalGeneration,
]);

type MemberGeneration = Pick<Generation, 'generationId' | 'memberId'>;

export async function syncGroup(
  cluster: Cluster,
  { groupId, instanceId, rebalanceTimeoutMs }: GroupOptions,
  { generationId, memberId }: MemberGeneration,
  assignments: ReadonlyMap<string, Buffer>,
) {
  const groupAssignment = [...assignments].map(([id, memberAssignment]) => ({ memberId: id, memberAssignment }));
  const parameters = { groupId, memberId, groupInstanceId: instanceId ?? null, generationId, groupAssignment };
  return cluster.callCoordinator(groupId, libraryCall(Apis.syncGroup, parameters, rebalanceTimeoutMs + NETWORK_MS));
}

/** Resolves with the error code of the response. */
export async function heartbeat(
  cluster: Cluster,
  { groupId, instanceId }: GroupOptions,
  { generationId, memberId }: MemberGeneration,
): Promise<number> {
  const identity = { groupId, memberId, groupInstanceId: instanceId ?? null };
  const call = libraryCall(Apis.heartbeat, { ...identity, groupGenerationId: generationId });
  const { errorCode } = await cluster.callCoordinator(groupId, call);
  return errorCode;
}

/** Sends LeaveGroup. Succeeds if the group does not know the member. */
export async function leaveGroup(cluster: Cluster, groupId: string, memberId: string): Promise<void> {
  const { errorCode } = await cluster.callCoordinator(groupId, libraryCall(Apis.leaveGroup, { groupId, memberId }));
  if (errorCode !== ErrorCode.none && errorCode !== ErrorCode.unknownMemberId) {
    throw KafkaError.ofCode(errorCode, `Leaving group ${groupId}`);
  }
}
