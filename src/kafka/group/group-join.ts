import { within } from '../../async/within.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import type { Call, JoinGroupResponse } from '../protocol/protocol.ts';
import type { CoordinatorContact } from './coordinator-contact.ts';
import type { Generation, GroupOptions, GroupProtocol } from './group-protocol.ts';
import { joinGroupCall, leaderView } from './join-protocol.ts';
import { NETWORK_MS, syncGroup } from './member-requests.ts';

/**
 * `restart` means that the rebalance must be restarted. `lost` means that, in addition, the group no longer accepts the
 * previous membership.
 */
type JoinOutcome = Generation | 'restart' | 'lost';

/**
 * Joins a group of the classic protocol (JoinGroup 5 or 9, SyncGroup 3), and keeps the member id that the coordinator
 * assigned.
 */
export class GroupJoin {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #protocol: GroupProtocol;
  readonly #contact: CoordinatorContact;
  readonly #logger: Logger;
  /** Empty until the coordinator has assigned an id. */
  memberId = '';
  /** A pending JoinGroup without a member id, whose response contains the id. */
  #pendingId: Promise<unknown> | undefined;

  constructor(
    cluster: Cluster,
    options: GroupOptions,
    protocol: GroupProtocol,
    contact: CoordinatorContact,
    logger: Logger,
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#protocol = protocol;
    this.#contact = contact;
    this.#logger = logger;
  }

  /**
   * Sends one JoinGroup and one SyncGroup. Resolves with `restart` or `lost` for errors that the next JoinGroup resolves.
   * Rejects for all others, some of which are retriable.
   */
  async run(): Promise<JoinOutcome> {
    const joined = await this.#joinGroup();
    if (typeof joined === 'string') return joined;
    const { generationId, memberId, leaderId } = joined;
    const protocol = joined.groupProtocol ?? '';
    this.#logger.debug(
      { group: this.#options.groupId, memberId, generationId, leaderId },
      'Received a JoinGroup response',
    );
    const isLeader = leaderId === memberId;
    const assignments = isLeader
      ? await this.#protocol.assign(leaderView(joined, protocol))
      : new Map<string, Buffer>();
    const assignment = await this.#syncGroup(joined, assignments);
    if (typeof assignment === 'string') return assignment;
    return { generationId, memberId, leaderId, isLeader, protocol, assignment };
  }

  /** Waits for the member id if a JoinGroup without an id is pending. Its response arrives quickly. */
  async settleId(timeoutMs: number): Promise<void> {
    if (this.#pendingId !== undefined) await within(this.#pendingId, timeoutMs);
  }

  async #joinGroup(): Promise<JoinGroupResponse | 'restart' | 'lost'> {
    const { groupId, instanceId, sessionTimeoutMs, rebalanceTimeoutMs } = this.#options;
    const parameters = {
      groupId,
      memberId: this.memberId,
      instanceId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      protocolType: this.#protocol.type,
      groupProtocols: this.#protocol.protocols(),
    };
    const call = joinGroupCall(parameters, rebalanceTimeoutMs + NETWORK_MS);
    const sentAt = Date.now();
    const response = await (this.memberId === '' && instanceId === undefined
      ? this.#joinWithoutId(call)
      : this.#cluster.callCoordinator(groupId, call));
    switch (response.errorCode) {
      case ErrorCode.none:
        this.#contact.answered('join', sentAt);
        this.memberId = response.memberId;
        return response;
      case ErrorCode.memberIdRequired:
      case ErrorCode.rebalanceInProgress:
        return 'restart';
      case ErrorCode.unknownMemberId:
        this.memberId = '';
        return 'lost';
      default:
        return this.#throwCode(response.errorCode, 'Joining');
    }
  }

  /**
   * Sends a JoinGroup without a member id, to which the coordinator responds immediately with a new id. The id is kept even if
   * the next attempt fails, because the group waits for this member until its session times out.
   */
  async #joinWithoutId(call: Call<JoinGroupResponse>): Promise<JoinGroupResponse> {
    const pendingId = this.#cluster.callCoordinator(this.#options.groupId, call).then((response) => {
      if (response.errorCode === ErrorCode.memberIdRequired) this.memberId = response.memberId;
      return response;
    });
    this.#pendingId = pendingId.catch(() => undefined).finally(() => (this.#pendingId = undefined));
    return pendingId;
  }

  async #syncGroup(
    { generationId, memberId }: JoinGroupResponse,
    assignments: ReadonlyMap<string, Buffer>,
  ): Promise<Buffer | 'restart' | 'lost'> {
    const sentAt = Date.now();
    const response = await syncGroup(this.#cluster, this.#options, { generationId, memberId }, assignments);
    switch (response.errorCode) {
      case ErrorCode.none:
        this.#contact.answered('sync', sentAt);
        return response.memberAssignment ?? Buffer.alloc(0);
      case ErrorCode.unknownMemberId:
        this.memberId = '';
        return 'lost';
      case ErrorCode.illegalGeneration:
        return 'lost';
      case ErrorCode.rebalanceInProgress:
        // Another member has already started the next rebalance.
        return 'restart';
      default:
        return this.#throwCode(response.errorCode, 'Syncing');
    }
  }

  #throwCode(code: number, action: string): never {
    const { groupId } = this.#options;
    const error = KafkaError.ofCode(code, `${action} group ${groupId}`);
    if (COORDINATOR_MOVED.has(code)) this.#cluster.forgetCoordinator(groupId);
    throw error;
  }
}
