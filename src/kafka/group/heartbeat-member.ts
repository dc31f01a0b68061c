import { randomBytes } from 'node:crypto';
import { Signal } from '../../async/signal.ts';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import { KafkaError, isRetriable } from '../errors/kafka-errors.ts';
import { backoffOf } from '../connections/retry.ts';
import { consumerDescribeCall } from './consumer-describe-protocol.ts';
import type { GroupCoordinatorMetrics } from './group-coordinator-metrics.ts';
import {
  consumerHeartbeatCall,
  type HeartbeatResponse,
  type MemberHeartbeat,
  type PartitionsById,
} from './consumer-heartbeat-protocol.ts';

export interface HeartbeatOptions {
  readonly groupId: string;
  /** `group.instance.id`; `undefined` for a dynamic member. */
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  readonly rebalanceTimeoutMs: number;
  /** `group.remote.assignor`; `undefined`: the broker's default. */
  readonly assignor: string | undefined;
  /** Client id that no other running client uses: a member with this client id is stale and is removed before the first join. */
  readonly leftoverName?: string | undefined;
}

/** Either topic names or a pattern in RE2 syntax, which the broker evaluates. */
export interface HeartbeatSubscription {
  readonly topics: readonly string[];
  readonly regex: string;
}

export type HeartbeatState = 'unjoined' | 'joining' | 'stable' | 'fenced' | 'failed' | 'left';

const Epoch = { join: 0, leave: -1, leaveStatic: -2 } as const;
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
  #epoch: number = Epoch.join;
  #subscription: HeartbeatSubscription = { topics: [], regex: '' };
  #owned: PartitionsById = new Map();
  #target: PartitionsById | undefined;
  #failure: Error | undefined;
  #signal: Signal | undefined;
  /** Serialized state of the last heartbeat; `undefined` if it has to be sent again. */
  #sentSubscription: string | undefined;
  #sentOwned: string | undefined;
  /** The target that the last call of `reportOwned` acknowledged. */
  #acknowledgedTarget: PartitionsById | undefined;

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
  }

  get state(): HeartbeatState {
    return this.#state;
  }

  /** The member epoch, in which commits are accepted; `undefined` if the member is not in the group. */
  get epoch(): number | undefined {
    return this.#state === 'stable' ? this.#epoch : undefined;
  }

  /** Target assignment of the broker; a new object after each change. */
  get target(): PartitionsById | undefined {
    return this.#target;
  }

  /** Returns the reason of the state `failed` once. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** The caller must have revoked its partitions. */
  join(subscription: HeartbeatSubscription): void {
    if (this.#state === 'left') return;
    const isFirst = this.#state === 'unjoined';
    this.#signal?.notify();
    this.#subscription = subscription;
    this.#epoch = Epoch.join;
    this.#owned = new Map();
    this.#target = undefined;
    this.#resendAll();
    this.#moveTo('joining');
    const signal = new Signal();
    this.#signal = signal;
    void this.#sendHeartbeats(signal, isFirst);
  }

  subscribe(subscription: HeartbeatSubscription): void {
    this.#subscription = subscription;
    if (this.#subscriptionText() !== this.#sentSubscription) this.#signal?.notify();
  }

  /**
   * Reports the owned partitions after `target` was reconciled; the coordinator may assign all others to other members. Each target
   * must be acknowledged once, even if nothing has changed: otherwise the coordinator assumes that the member still owns everything
   * that it was ever assigned, and waits for it (CurrentAssignmentBuilder in Kafka).
   */
  reportOwned(owned: PartitionsById, target: PartitionsById | undefined): void {
    this.#owned = owned;
    if (this.#ownedText() === this.#sentOwned && target === this.#acknowledgedTarget) return;
    this.#acknowledgedTarget = target;
    this.#sentOwned = undefined;
    this.#debug({ partitions: Object.fromEntries(owned) }, 'Reporting the owned partitions');
    this.#signal?.notify();
  }

  /** Sends a heartbeat immediately, because a rejected commit suggests a stale epoch. */
  heartbeatNow(): void {
    this.#signal?.notify();
  }

  /** A static member leaves temporarily: its partitions stay assigned until the session times out. */
  async leave(timeoutMs: number): Promise<void> {
    const isMember = this.#state === 'stable' || this.#state === 'joining';
    this.#moveTo('left');
    this.#signal?.notify();
    this.#signal = undefined;
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
   * Removes the member that a previous process of this task left behind; otherwise its partitions would stay unread until its
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
      this.#debug({ reason: toError(error).message }, 'Cannot list the members of the group');
    }
  }

  async #sendHeartbeats(signal: Signal, isFirst: boolean): Promise<void> {
    const { groupId } = this.#options;
    const backoff = backoffOf(this.#cluster);
    const isCurrent = (): boolean => this.#signal === signal;
    if (isFirst) await this.#removeLeftover();
    let waitMs = isFirst ? 0 : backoff.nextMs();
    while (isCurrent()) {
      await signal.wait(waitMs);
      if (!isCurrent()) return;
      try {
        const sentAt = Date.now();
        const response = await this.#cluster.callCoordinator(groupId, consumerHeartbeatCall(this.#nextHeartbeat()));
        if (!isCurrent()) return;
        if (response.errorCode === ErrorCode.none) {
          this.#metrics?.answered(this.#state === 'joining' ? 'join' : 'heartbeat', sentAt);
        }
        this.#handleResponse(response);
        backoff.reset();
        waitMs = response.heartbeatIntervalMs > 0 ? response.heartbeatIntervalMs : DEFAULT_INTERVAL_MS;
      } catch (error) {
        if (!isCurrent()) return;
        // The coordinator may or may not have received the heartbeat.
        this.#resendAll();
        if (!isRetriable(error)) {
          this.#fail(error);
          return;
        }
        this.#debug({ reason: toError(error).message }, 'Heartbeat failed; retrying');
        waitMs = backoff.nextMs();
      }
    }
  }

  /** Contains the fields that have changed since the last heartbeat, or all fields when joining. */
  #nextHeartbeat(): MemberHeartbeat {
    const [subscription, owned] = [this.#subscriptionText(), this.#ownedText()];
    const isWhole = this.#epoch === Epoch.join || this.#sentSubscription === undefined;
    const { rackId, rebalanceTimeoutMs, assignor } = this.#options;
    const heartbeat = {
      ...this.#unchanged(),
      ...(isWhole ? { rackId, rebalanceTimeoutMs, assignor } : {}),
      ...(isWhole || subscription !== this.#sentSubscription ? this.#subscription : {}),
      ...(isWhole || owned !== this.#sentOwned ? { owned: this.#owned } : {}),
    };
    this.#sentSubscription = subscription;
    this.#sentOwned = owned;
    return heartbeat;
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
        this.#signal = undefined;
        this.#moveTo('fenced');
        return;
      default: {
        if (COORDINATOR_MOVED.has(errorCode)) this.#cluster.forgetCoordinator(groupId);
        throw KafkaError.ofCode(errorCode, `Heartbeat of group ${groupId}`, errorMessage);
      }
    }
  }

  #fail(error: unknown): void {
    this.#failure = toError(error);
    this.#signal = undefined;
    this.#moveTo('failed');
  }

  #resendAll(): void {
    this.#sentSubscription = undefined;
    this.#sentOwned = undefined;
  }

  #debug(fields: object, message: string): void {
    const { groupId: group } = this.#options;
    this.#logger.debug({ group, memberId: this.memberId, memberEpoch: this.#epoch, ...fields }, message);
  }

  #subscriptionText(): string {
    return JSON.stringify(this.#subscription);
  }

  #ownedText(): string {
    return JSON.stringify([...this.#owned]);
  }

  #moveTo(state: HeartbeatState): void {
    if (this.#state === state || this.#state === 'left') return;
    this.#debug({ from: this.#state, to: state }, 'The group member changed its state');
    this.#state = state;
    this.#onChange();
  }
}
