import { randomBytes } from 'node:crypto';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import { consumerDescribeCall } from './consumer-describe-protocol.ts';
import type { GroupCoordinatorMetrics } from './group-coordinator-metrics.ts';
import {
  consumerHeartbeatCall,
  type HeartbeatResponse,
  type MemberHeartbeat,
  type PartitionsById,
} from './consumer-heartbeat-protocol.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import { MemberReport, type HeartbeatSubscription } from './member-report.ts';

export interface HeartbeatOptions {
  readonly groupId: string;
  /** `group.instance.id`; `undefined` for a dynamic member. */
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  readonly rebalanceTimeoutMs: number;
  /** `group.remote.assignor`; `undefined` selects the broker's default. */
  readonly assignor: string | undefined;
  /**
   * Client id that no other running client uses. A member of the group with this client id is stale and is removed before the
   * first join.
   */
  readonly leftoverName?: string | undefined;
}

export type HeartbeatState = 'unjoined' | 'joining' | 'stable' | 'fenced' | 'failed' | 'left';

const Epoch = { join: 0, leave: -1, leaveStatic: -2 } as const;
/** The response to a heartbeat, and when the heartbeat was sent, in milliseconds since the epoch. */
interface HeartbeatResult {
  readonly response: HeartbeatResponse;
  readonly sentAt: number;
}

/** Used until the broker has returned an interval. */
const DEFAULT_INTERVAL_MS = 5000;

/**
 * A member of a group whose partitions the broker assigns (KIP-848, ConsumerGroupHeartbeat 1). Heartbeats are sent in the
 * background, and immediately after a change of subscription or owned partitions.
 *
 *   unjoined, fenced, failed --join--> joining --response--> stable
 *   joining, stable --FENCED_MEMBER_EPOCH or UNKNOWN_MEMBER_ID--> fenced
 *   joining, stable --other non-retriable error--> failed
 *   any --leave--> left
 */
export class HeartbeatMember {
  readonly memberId = randomBytes(16).toString('base64url');
  readonly #cluster: Cluster;
  readonly #options: HeartbeatOptions;
  readonly #onChange: () => void;
  readonly #logger: Logger;
  readonly #metrics: GroupCoordinatorMetrics | undefined;
  #state: HeartbeatState = 'unjoined';
  readonly #report: MemberReport;
  readonly #heartbeats: HeartbeatLoop<HeartbeatResult>;
  #epoch: number = Epoch.join;
  #target: PartitionsById | undefined;
  #failure: Error | undefined;

  constructor(
    cluster: Cluster,
    options: HeartbeatOptions,
    onChange: () => void,
    logger: Logger,
    metrics?: GroupCoordinatorMetrics,
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#onChange = onChange;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#report = new MemberReport(options);
    this.#heartbeats = new HeartbeatLoop<HeartbeatResult>(cluster, {
      send: () => this.#sendHeartbeat(),
      handle: (result) => this.#handleHeartbeat(result),
      onRetry: (error) => {
        // It is unknown whether the coordinator has received the heartbeat.
        this.#report.resendAll();
        this.#debug({ reason: toError(error).message }, 'Heartbeat failed; retrying');
      },
      onFailure: (error) => {
        this.#failure = toError(error);
        this.#moveTo('failed');
      },
    });
  }

  get state(): HeartbeatState {
    return this.#state;
  }

  /** The member epoch in which commits are accepted; `undefined` if the member is not in the group. */
  get epoch(): number | undefined {
    return this.#state === 'stable' ? this.#epoch : undefined;
  }

  /** Target assignment of the broker. Each change produces a new object. */
  get target(): PartitionsById | undefined {
    return this.#target;
  }

  /** Returns the reason of the state `failed`, and clears it. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Joins the group. The caller must have revoked its partitions. */
  join(subscription: HeartbeatSubscription): void {
    if (this.#state === 'left') return;
    const isFirst = this.#state === 'unjoined';
    this.#heartbeats.stop();
    this.#report.reset(subscription);
    this.#epoch = Epoch.join;
    this.#target = undefined;
    this.#moveTo('joining');
    if (isFirst) void this.#startFirst();
    else this.#heartbeats.start();
  }

  subscribe(subscription: HeartbeatSubscription): void {
    if (this.#report.subscribe(subscription)) this.#heartbeats.wake();
  }

  /**
   * Reports the owned partitions after the assignment was reconciled with `target`. The coordinator may then assign partitions
   * that are not in `owned` to other members. Each target must be acknowledged once, even if nothing has changed. Otherwise the
   * coordinator assumes that the member still owns every partition that it was ever assigned, and waits for their release
   * (CurrentAssignmentBuilder in Kafka).
   */
  reportOwned(owned: PartitionsById, target: PartitionsById | undefined): void {
    if (!this.#report.own(owned, target)) return;
    this.#debug({ partitions: Object.fromEntries(owned) }, 'Reporting the owned partitions');
    this.#heartbeats.wake();
  }

  /** Sends a heartbeat immediately, because a rejected commit suggests a stale epoch. */
  heartbeatNow(): void {
    this.#heartbeats.wake();
  }

  /** Leaves the group. A static member leaves temporarily, so its partitions stay assigned until the session times out. */
  async leave(timeoutMs: number): Promise<void> {
    const isMember = this.#state === 'stable' || this.#state === 'joining';
    this.#moveTo('left');
    this.#heartbeats.stop();
    if (!isMember) return;
    const { groupId, instanceId } = this.#options;
    const memberEpoch = instanceId === undefined ? Epoch.leave : Epoch.leaveStatic;
    const call = consumerHeartbeatCall({ ...this.#unchanged(), memberEpoch });
    const leaving = this.#cluster.callCoordinator(groupId, call).catch((error: unknown) => {
      this.#debug({ reason: toError(error).message }, 'Failed to leave the group');
    });
    await within(leaving, timeoutMs);
  }

  /**
   * Removes the member that a previous process of this task left behind. Otherwise its partitions would stay unread until its
   * session times out.
   */
  async #removeLeftover(): Promise<void> {
    const { groupId, leftoverName } = this.#options;
    if (leftoverName === undefined) return;
    try {
      const { members } = await this.#cluster.callCoordinator(groupId, consumerDescribeCall(groupId));
      for (const { memberId } of members.filter(({ clientId }) => clientId === leftoverName)) {
        const leaving = { ...this.#unchanged(), memberId, memberEpoch: Epoch.leave };
        await this.#cluster.callCoordinator(groupId, consumerHeartbeatCall(leaving));
        this.#logger.info({ group: groupId, memberId }, 'Removed the stale group member of a previous instance');
      }
    } catch (error) {
      this.#debug({ reason: toError(error).message }, 'Failed to remove stale group members');
    }
  }

  async #startFirst(): Promise<void> {
    await this.#removeLeftover();
    if (this.#state === 'joining') this.#heartbeats.start(0);
  }

  async #sendHeartbeat(): Promise<HeartbeatResult> {
    const sentAt = Date.now();
    const { groupId } = this.#options;
    const heartbeat = { ...this.#unchanged(), ...this.#report.next(this.#epoch === Epoch.join) };
    return { response: await this.#cluster.callCoordinator(groupId, consumerHeartbeatCall(heartbeat)), sentAt };
  }

  #handleHeartbeat({ response, sentAt }: HeartbeatResult): number {
    if (response.errorCode === ErrorCode.none) {
      this.#metrics?.answered(this.#state === 'joining' ? 'join' : 'heartbeat', sentAt);
    }
    this.#handleResponse(response);
    return response.heartbeatIntervalMs > 0 ? response.heartbeatIntervalMs : DEFAULT_INTERVAL_MS;
  }

  #unchanged(): MemberHeartbeat {
    const { groupId, instanceId } = this.#options;
    return {
      groupId,
      memberId: this.memberId,
      memberEpoch: this.#epoch,
      instanceId,
      rackId: undefined,
      rebalanceTimeoutMs: undefined,
      topics: undefined,
      regex: undefined,
      assignor: undefined,
      owned: undefined,
    };
  }

  #handleResponse({ errorCode, errorMessage, memberEpoch, assignment }: HeartbeatResponse): void {
    const { groupId } = this.#options;
    switch (errorCode) {
      case ErrorCode.none:
        if (this.#epoch !== memberEpoch)
          this.#debug({ from: this.#epoch, to: memberEpoch }, 'The member epoch changed');
        this.#epoch = memberEpoch;
        if (assignment !== undefined) {
          this.#target = assignment;
          this.#debug({ partitions: Object.fromEntries(assignment) }, 'Received a target assignment');
        }
        if (this.#state === 'joining') {
          this.#logger.info({ group: groupId, memberId: this.memberId, memberEpoch }, 'Joined the group');
          this.#moveTo('stable');
        } else if (assignment !== undefined) this.#onChange();
        return;
      case ErrorCode.fencedMemberEpoch:
      case ErrorCode.unknownMemberId:
        this.#logger.warn({ group: groupId, reason: errorMessage }, 'Lost the group membership');
        this.#heartbeats.stop();
        this.#moveTo('fenced');
        return;
      default: {
        if (COORDINATOR_MOVED.has(errorCode)) this.#cluster.forgetCoordinator(groupId);
        throw KafkaError.ofCode(errorCode, `Heartbeat of group ${groupId}`, errorMessage);
      }
    }
  }

  #debug(fields: object, message: string): void {
    const { groupId: group } = this.#options;
    this.#logger.debug({ group, memberId: this.memberId, memberEpoch: this.#epoch, ...fields }, message);
  }

  #moveTo(state: HeartbeatState): void {
    if (this.#state === state || this.#state === 'left') return;
    this.#debug({ from: this.#state, to: state }, 'The group member changed its state');
    this.#state = state;
    this.#onChange();
  }
}
