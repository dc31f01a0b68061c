import type { AnswerReader } from '../protocol/answer-reader.ts';
import type { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../error-codes.ts';
import { KafkaError } from '../errors.ts';
import { libraryCall, type Api } from '../protocol/protocol.ts';
import { leaveGroup } from './member-requests.ts';

/** A member as the broker describes it. */
export interface DescribedMember {
  readonly memberId: string;
  readonly clientId: string;
  /** What it said of itself; empty while a rebalance is going on. */
  readonly metadata: Buffer;
}

interface DescribeGroupsAnswer {
  readonly groups: readonly {
    readonly errorCode: number;
    readonly members: readonly {
      readonly memberId: string;
      readonly clientId: string;
      readonly memberMetadata: Buffer;
    }[];
  }[];
}

const describeGroups: Api<{ groupIds: readonly string[] }, DescribeGroupsAnswer> = {
  name: 'DescribeGroups',
  version: 2,
  read: (reader) => ({
    clientSideThrottleTime: reader.int32(),
    groups: reader.list(() => {
      const errorCode = reader.int16();
      // The id, the state, and the kind and name of the protocol.
      for (let left = 4; left > 0; left--) reader.string();
      return { errorCode, members: reader.list(() => readMember(reader)) };
    }),
  }),
};

function readMember(reader: AnswerReader): DescribeGroupsAnswer['groups'][number]['members'][number] {
  const [memberId, clientId] = [reader.string(), reader.string()];
  // The address of the client.
  reader.string();
  const memberMetadata = reader.bytes();
  // The assignment.
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

/** Takes members out of the group that are known to be gone, so that nobody waits for their sessions to time out. */
export async function removeMembers(
  cluster: Cluster,
  groupId: string,
  isGone: (member: DescribedMember) => boolean,
): Promise<readonly string[]> {
  const gone = (await groupMembers(cluster, groupId)).filter(isGone).map(({ memberId }) => memberId);
  for (const memberId of gone) await leaveGroup(cluster, groupId, memberId);
  return gone;
}
