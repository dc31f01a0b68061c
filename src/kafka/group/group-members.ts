import type { ResponseReader } from '../protocol/response-reader.ts';
import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import { libraryCall, type Api } from '../protocol/protocol.ts';
import { leaveGroup } from './member-requests.ts';

export interface DescribedMember {
  readonly memberId: string;
  readonly clientId: string;
  /** Protocol metadata of the member; empty during a rebalance. */
  readonly metadata: Buffer;
}

interface DescribeGroupsResponse {
  readonly groups: readonly {
    readonly errorCode: number;
    readonly members: readonly {
      readonly memberId: string;
      readonly clientId: string;
      readonly memberMetadata: Buffer;
    }[];
  }[];
}

const describeGroups: Api<{ groupIds: readonly string[] }, DescribeGroupsResponse> = {
  name: 'DescribeGroups',
  version: 2,
  read: (reader) => ({
    clientSideThrottleTime: reader.int32(),
    groups: reader.list(() => {
      const errorCode = reader.int16();
      // Skips group id, state, protocol type and protocol.
      for (let skipped = 0; skipped < 4; skipped++) reader.string();
      return { errorCode, members: reader.list(() => readMember(reader)) };
    }),
  }),
};

function readMember(reader: ResponseReader): DescribeGroupsResponse['groups'][number]['members'][number] {
  const [memberId, clientId] = [reader.string(), reader.string()];
  // Client host
  reader.string();
  const memberMetadata = reader.bytes();
  // Assignment
  reader.bytes();
  return { memberId, clientId, memberMetadata };
}

export async function groupMembers(cluster: Cluster, groupId: string): Promise<readonly DescribedMember[]> {
  const { groups } = await cluster.callCoordinator(groupId, libraryCall(describeGroups, { groupIds: [groupId] }));
  return groups.flatMap(({ errorCode, members }) => {
    if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `Describing group ${groupId}`);
    return members.map(({ memberMetadata, ...member }) => ({ ...member, metadata: memberMetadata }));
  });
}

/**
 * Removes members that are known to be dead, so that the group need not wait for their session timeout. Resolves with the
 * member ids.
 */
export async function removeMembers(
  cluster: Cluster,
  groupId: string,
  isGone: (member: DescribedMember) => boolean,
): Promise<readonly string[]> {
  const gone = (await groupMembers(cluster, groupId)).filter(isGone).map(({ memberId }) => memberId);
  for (const memberId of gone) await leaveGroup(cluster, groupId, memberId);
  return gone;
}
