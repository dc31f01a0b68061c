import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../error-codes.ts';
import { KafkaError } from '../errors.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';
import type { Generation, GroupOptions } from './group-protocol.ts';

/** Beyond the time that the broker itself waits for the rest of the group at JoinGroup and SyncGroup. */
export const NETWORK_MS = 5000;

/** That a generation is not held any more, or not for long. */
export const REFUSALS: ReadonlySet<number> = new Set([
  ErrorCode.rebalanceInProgress,
  ErrorCode.unknownMemberId,
  ErrorCode.illegalGeneration,
]);

type Place = Pick<Generation, 'generationId' | 'memberId'>;

export async function syncGroup(
  cluster: Cluster,
  { groupId, instanceId, rebalanceTimeoutMs }: GroupOptions,
  { generationId, memberId }: Place,
  assignments: ReadonlyMap<string, Buffer>,
) {
  const groupAssignment = [...assignments].map(([id, memberAssignment]) => ({ memberId: id, memberAssignment }));
  const parameters = { groupId, memberId, groupInstanceId: instanceId ?? null, generationId, groupAssignment };
  return cluster.callCoordinator(groupId, libraryCall(Apis.syncGroup, parameters, rebalanceTimeoutMs + NETWORK_MS));
}

/** Resolves with the error code of the answer. */
export async function heartbeat(
  cluster: Cluster,
  { groupId, instanceId }: GroupOptions,
  { generationId, memberId }: Place,
): Promise<number> {
  const identity = { groupId, memberId, groupInstanceId: instanceId ?? null };
  const call = libraryCall(Apis.heartbeat, { ...identity, groupGenerationId: generationId });
  const { errorCode } = await cluster.callCoordinator(groupId, call);
  return errorCode;
}

/** A member that the group does not know has left. */
export async function leaveGroup(cluster: Cluster, groupId: string, memberId: string): Promise<void> {
  const { errorCode } = await cluster.callCoordinator(groupId, libraryCall(Apis.leaveGroup, { groupId, memberId }));
  if (errorCode !== ErrorCode.none && errorCode !== ErrorCode.unknownMemberId) {
    throw KafkaError.ofCode(errorCode, `Leaving group ${groupId}`);
  }
}
