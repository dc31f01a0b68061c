import { randomBytes } from 'node:crypto';
import { Signal } from '../../async/signal.ts';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../error-codes.ts';
import { KafkaError, isRetriable } from '../errors.ts';
import { backoffOf } from '../connections/retry.ts';
import { consumerDescribeCall } from './consumer-describe-protocol.ts';
import type { GroupFigures } from './group-figures.ts';
import {
  consumerHeartbeatCall,
  type HeartbeatAnswer,
  type MemberHeartbeat,
  type PartitionsById,
} from './consumer-heartbeat-protocol.ts';

export interface HeartbeatOptions {
  readonly groupId: string;
  /** Of a static member; `undefined`: a dynamic one. */
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  readonly rebalanceTimeoutMs: number;
  /** `group.remote.assignor`; `undefined`: the broker's default. */
  readonly assignor: string | undefined;
  /** Nobody else who lives has this client id: whoever is in the group under it is removed when this member joins first. */
  readonly leftoverName?: string | undefined;
}

/** Either topics by name, or a regular expression (RE2) that the broker evaluates. */
export interface HeartbeatSubscription {
  readonly topics: readonly string[];
  readonly regex: string;
}

export type HeartbeatState = 'unjoined' | 'joining' | 'stable' | 'fenced' | 'failed' | 'left';

const Epoch = { join: 0, leave: -1, leaveStatic: -2 } as const;
/** Brokers say how often; before they have. */
const DEFAULT_INTERVAL_MS = 5000;

/**
 * A member of a group whose broker divides the partitions (KIP-848, ConsumerGroupHeartbeat 1). Heartbeats go on by themselves, and
 * at once when there is something to tell: a subscription, or what is held now.
 *
 *   unjoined, fenced, failed --join--> joining --answered--> stable
 *   joining, stable --FENCED_MEMBER_EPOCH or UNKNOWN_MEMBER_ID--> fenced
 *   joining, stable --another error that waiting does not mend--> failed
 *   any --leave--> left
 *
 * One class, because every answer changes epoch, target and the next heartbeat together.
 */
export class HeartbeatMember {
  readonly memberId = randomBytes(16).toString('base64url');
  readonly #cluster: Cluster;
  readonly #options: HeartbeatOptions;
  readonly #onChange: () => void;
  readonly #logger: Logger;
  readonly #figures: GroupFigures | undefined;
  #state: HeartbeatState = 'unjoined';
  #epoch: number = Epoch.join;
  #subscription: HeartbeatSubscription = { topics: [], regex: '' };
  #held: PartitionsById = new Map();
  #target: PartitionsById | undefined;
  #failure: Error | undefined;
  #signal: Signal | undefined;
  /** What the coordinator was told, as text; `undefined`: it is to be told again. */
  #toldSubscription: string | undefined;
  #toldHeld: string | undefined;
  /** The assignment that the last call of `hold` answered. */
  #answered: PartitionsById | undefined;

  constructor(
    cluster: Cluster,
    options: HeartbeatOptions,
    onChange: () => void,
    logger: Logger,
    figures?: GroupFigures,
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#onChange = onChange;
    this.#logger = logger;
    this.#figures = figures;
  }

  get state(): HeartbeatState {
    return this.#state;
  }

  /** Of which commits are accepted; `undefined`: the member is not in the group. */
  get epoch(): number | undefined {
    return this.#state === 'stable' ? this.#epoch : undefined;
  }

  /** What the member is to hold; another object after each change. */
  get target(): PartitionsById | undefined {
    return this.#target;
  }

  /** Why the state is `failed`, once. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** What was held must have been given up. */
  join(subscription: HeartbeatSubscription): void {
    if (this.#state === 'left') return;
    const isFirst = this.#state === 'unjoined';
    this.#signal?.notify();
    this.#subscription = subscription;
    this.#epoch = Epoch.join;
    this.#held = new Map();
    this.#target = undefined;
    this.#tellAll();
    this.#moveTo('joining');
    const signal = new Signal();
    this.#signal = signal;
    void this.#sendHeartbeats(signal, isFirst);
  }

  subscribe(subscription: HeartbeatSubscription): void {
    this.#subscription = subscription;
    if (this.#subscriptionText() !== this.#toldSubscription) this.#signal?.notify();
  }

  /**
   * What is held from now on, after `target` was carried out; what is not among it may be another's as soon as the coordinator knows.
   * Each target is answered once, also when nothing has changed: the coordinator takes a member that says nothing for one that still
   * holds everything that it was ever assigned, and waits for it (CurrentAssignmentBuilder of Kafka).
   */
  hold(held: PartitionsById, target: PartitionsById | undefined): void {
    this.#held = held;
    if (this.#heldText() === this.#toldHeld && target === this.#answered) return;
    this.#answered = target;
    this.#toldHeld = undefined;
    this.#signal?.notify();
  }

  /** A commit was refused: what the coordinator says is to be heard soon. */
  hurry(): void {
    this.#signal?.notify();
  }

  /** A static member is expected back: its partitions are kept for a session. */
  async leave(timeoutMs: number): Promise<void> {
    const isMember = this.#state === 'stable' || this.#state === 'joining';
    this.#moveTo('left');
    this.#signal?.notify();
    this.#signal = undefined;
    if (!isMember) return;
    const { groupId, instanceId } = this.#options;
    const memberEpoch = instanceId === undefined ? Epoch.leave : Epoch.leaveStatic;
    const call = consumerHeartbeatCall({ ...this.#unchanged(), memberEpoch });
    const told = this.#cluster.callCoordinator(groupId, call).catch((error: unknown) => {
      this.#logger.debug({ group: groupId, reason: toError(error).message }, 'could not tell the group of leaving it');
    });
    await within(told, timeoutMs);
  }

  /** What this very task left when its process died; its partitions would wait for its session to end. */
  async #removeLeftover(): Promise<void> {
    const { groupId, leftoverName } = this.#options;
    if (leftoverName === undefined) return;
    try {
      const { members } = await this.#cluster.callCoordinator(groupId, consumerDescribeCall(groupId));
      for (const { memberId } of members.filter(({ clientId }) => clientId === leftoverName)) {
        const leaving = { ...this.#unchanged(), memberId, memberEpoch: Epoch.leave };
        await this.#cluster.callCoordinator(groupId, consumerHeartbeatCall(leaving));
        this.#logger.info({ group: groupId, memberId }, 'removed what this task left in the group');
      }
    } catch (error) {
      const reason = toError(error).message;
      this.#logger.debug({ group: groupId, reason }, 'the members of the group are not known');
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
        const answer = await this.#cluster.callCoordinator(groupId, consumerHeartbeatCall(this.#next()));
        if (!isCurrent()) return;
        if (answer.errorCode === ErrorCode.none) {
          this.#figures?.answered(this.#state === 'joining' ? 'join' : 'heartbeat', sentAt);
        }
        this.#judge(answer);
        backoff.reset();
        waitMs = answer.heartbeatIntervalMs > 0 ? answer.heartbeatIntervalMs : DEFAULT_INTERVAL_MS;
      } catch (error) {
        if (!isCurrent()) return;
        // The coordinator may have got it or not.
        this.#tellAll();
        if (!isRetriable(error)) {
          this.#fail(error);
          return;
        }
        this.#logger.debug({ group: groupId, reason: toError(error).message }, 'the heartbeat is sent again');
        waitMs = backoff.nextMs();
      }
    }
  }

  /** With what has changed since the last one; all of it when joining. */
  #next(): MemberHeartbeat {
    const [subscription, held] = [this.#subscriptionText(), this.#heldText()];
    const isWhole = this.#epoch === Epoch.join || this.#toldSubscription === undefined;
    const { rackId, rebalanceTimeoutMs, assignor } = this.#options;
    const heartbeat = {
      ...this.#unchanged(),
      ...(isWhole ? { rackId, rebalanceTimeoutMs, assignor } : {}),
      ...(isWhole || subscription !== this.#toldSubscription ? this.#subscription : {}),
      ...(isWhole || held !== this.#toldHeld ? { held: this.#held } : {}),
    };
    this.#toldSubscription = subscription;
    this.#toldHeld = held;
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
      held: undefined,
    };
  }

  #judge({ errorCode, errorMessage, memberEpoch, assignment }: HeartbeatAnswer): void {
    const { groupId } = this.#options;
    switch (errorCode) {
      case ErrorCode.none:
        if (this.#epoch !== memberEpoch) this.#logger.debug({ group: groupId, memberEpoch }, 'the epoch of the group');
        this.#epoch = memberEpoch;
        if (assignment !== undefined) {
          this.#target = assignment;
          const partitions = [...assignment.values()].flat().length;
          this.#logger.debug({ group: groupId, memberEpoch, partitions }, 'the broker has assigned partitions');
        }
        if (this.#state === 'joining') {
          this.#logger.info({ group: groupId, memberId: this.memberId, memberEpoch }, 'joined the group');
          this.#moveTo('stable');
        } else if (assignment !== undefined) this.#onChange();
        return;
      case ErrorCode.fencedMemberEpoch:
      case ErrorCode.unknownMemberId:
        this.#logger.warn({ group: groupId, reason: errorMessage }, 'the group membership was lost');
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

  #tellAll(): void {
    this.#toldSubscription = undefined;
    this.#toldHeld = undefined;
  }

  #subscriptionText(): string {
    return JSON.stringify(this.#subscription);
  }

  #heldText(): string {
    return JSON.stringify([...this.#held]);
  }

  #moveTo(state: HeartbeatState): void {
    if (this.#state === state || this.#state === 'left') return;
    this.#state = state;
    this.#onChange();
  }
}
