import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ClientProperties } from './api.ts';
import { connectionConfig } from './client-config.ts';
import { Cluster } from './cluster.ts';
import { ErrorCode } from './error-codes.ts';
import { KafkaError } from './errors.ts';
import {
  GroupMember,
  type Generation,
  type GroupOptions,
  type GroupProtocol,
  type LeaderView,
  type MemberListener,
  type MemberState,
} from './group-member.ts';
import { PropertyReader } from './properties.ts';
import { Apis, libraryCall, type Api } from './protocol.ts';

export { idle, within } from './retry.ts';
export type { Generation, GroupMember, GroupOptions, GroupProtocol, LeaderView, MemberListener, MemberState };

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
    readonly groupId: string;
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
};

/** A group over connections of its own (a request behind a waiting JoinGroup would wait with it). */
export class KafkaGroup {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #logger: Logger;

  /** `properties` as a Java client has them; wrong ones are a ConfigError. */
  constructor(properties: ClientProperties, options: GroupOptions, logger: Logger) {
    this.#cluster = new Cluster(connectionConfig(new PropertyReader(properties)), logger);
    this.#options = options;
    this.#logger = logger;
  }

  /** One that has not joined yet; after its `leave` another one may be made. */
  member(protocol: GroupProtocol, listener: MemberListener): GroupMember {
    return new GroupMember(this.#cluster, this.#options, protocol, listener, this.#logger);
  }

  async members(): Promise<readonly DescribedMember[]> {
    const { groupId } = this.#options;
    const call = libraryCall(describeGroups, { groupIds: [groupId] });
    const { groups } = await this.#cluster.callCoordinator(groupId, call);
    return groups.flatMap(({ errorCode, members }) => {
      if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `Describing group ${groupId}`);
      return members.map(({ memberId, clientId, memberMetadata }) => ({
        memberId,
        clientId,
        metadata: memberMetadata,
      }));
    });
  }

  /** Takes a member out of the group that is known to be gone, so that nobody waits for its session to time out. */
  async remove(memberId: string): Promise<void> {
    const { groupId } = this.#options;
    const { errorCode } = await this.#cluster.callCoordinator(
      groupId,
      libraryCall(Apis.leaveGroup, { groupId, memberId }),
    );
    if (errorCode !== ErrorCode.none && errorCode !== ErrorCode.unknownMemberId) {
      throw KafkaError.ofCode(errorCode, `Removing a member of group ${groupId}`);
    }
  }

  async close(): Promise<void> {
    await this.#cluster.close().catch((error: unknown) => {
      this.#logger.debug({ reason: toError(error).message }, 'closing the connections of the group');
    });
  }
}
