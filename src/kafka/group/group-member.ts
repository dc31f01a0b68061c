import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { backoffOf } from '../connections/retry.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import { ClosedError, KafkaError, MembershipLostError, isRetriable } from '../errors/kafka-errors.ts';
import { CoordinatorContact } from './coordinator-contact.ts';
import type { GroupCoordinatorMetrics } from './group-coordinator-metrics.ts';
import { GroupJoin } from './group-join.ts';
import type { Generation, GroupOptions, GroupProtocol, MemberListener, MemberState } from './group-protocol.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import { heartbeat, leaveGroup, LOST_GENERATION_CODES } from './member-requests.ts';

/** Errors of heartbeats that end the membership. */
const LOSS_REASONS: ReadonlyMap<number, string> = new Map([
  [ErrorCode.unknownMemberId, 'the session timed out'],
  [ErrorCode.illegalGeneration, 'the generation is no longer valid'],
]);

/** The response to a heartbeat, and when the heartbeat was sent, in milliseconds since the epoch. */
interface HeartbeatResult {
  readonly code: number;
  readonly sentAt: number;
}

/**
 * A group member of the classic protocol. Between joins, heartbeats are sent in the background, independently of the
 * caller.
 *
 *   unjoined, lost --join--> joining --assignment received--> stable
 *   stable --REBALANCE_IN_PROGRESS or requestRejoin--> rebalancing --join--> joining
 *   stable, rebalancing --UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION--> lost
 *   joining, stable, rebalancing --other non-retriable error--> failed --join--> joining
 *   unjoined --resume--> stable
 *   stable --detach--> left, for another member to resume
 *   any --leave--> left
 *
 * In `stable` and `rebalancing` the member owns its generation, so commits are accepted. If the coordinator moves or
 * restarts, it is looked up again, and the member keeps its id and generation.
 */
export class GroupMember {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #protocol: GroupProtocol;
  readonly #listener: MemberListener;
  readonly #logger: Logger;
  readonly #metrics: GroupCoordinatorMetrics | undefined;
  readonly #contact: CoordinatorContact;
  readonly #groupJoin: GroupJoin;
  readonly #heartbeats: HeartbeatLoop<HeartbeatResult>;
  #state: MemberState = 'unjoined';
  #generation: Generation | undefined;
  #failure: Error | undefined;

  constructor(
    cluster: Cluster,
    options: GroupOptions,
    protocol: GroupProtocol,
    listener: MemberListener,
    logger: Logger,
    metrics?: GroupCoordinatorMetrics,
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#protocol = protocol;
    this.#listener = listener;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#contact = new CoordinatorContact(metrics);
    this.#groupJoin = new GroupJoin(cluster, options, protocol, this.#contact, logger);
    this.#heartbeats = new HeartbeatLoop<HeartbeatResult>(
      cluster,
      {
        send: () => this.#sendHeartbeat(),
        handle: (result) => this.#handleHeartbeat(result),
        onRetry: (error) => {
          this.#contact.failed();
          this.#debug({ reason: toError(error).message }, 'Heartbeat failed; retrying');
        },
        onFailure: (error) => this.#fail(error),
      },
      options.heartbeatIntervalMs,
    );
  }

  get state(): MemberState {
    return this.#state;
  }

  /** The current generation; `undefined` if the member is in none. */
  get generation(): Generation | undefined {
    return this.#generation;
  }

  get memberId(): string {
    return this.#groupJoin.memberId;
  }

  /** Returns the reason of the state `failed`, and clears it. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** See CoordinatorContact. */
  get lastContactAt(): number {
    return this.#contact.lastAt;
  }

  /** See CoordinatorContact. */
  get unanswered(): boolean {
    return this.#contact.unanswered;
  }

  requestRejoin(reason: string): void {
    if (this.#state !== 'stable') return;
    this.#log({ reason }, 'Rejoining the group');
    this.#moveTo('rebalancing');
  }

  /** Handles the error code of a request of this generation other than a heartbeat, such as an offset commit. */
  onRefusal(generationId: number, code: number): void {
    if (this.#isJoining() || this.#generation?.generationId !== generationId) return;
    if (LOST_GENERATION_CODES.has(code)) this.#handleHeartbeatCode(code);
  }

  /**
   * Joins the group and resolves with the new generation. Retries while the coordinator moves, is unreachable or restarts the
   * rebalance. Rejects on non-retriable errors and after `leave`.
   *
   * Unless `keepsOwned` is set, the caller must have revoked its partitions, because the old generation ends when the join
   * starts. With `keepsOwned`, the old generation stays valid during the join. If the coordinator no longer knows the member,
   * the state then becomes `lost` and MembershipLostError is thrown.
   */
  async join(keepsOwned = false): Promise<Generation> {
    if (this.#state === 'left') throw new ClosedError('The group member');
    this.#moveTo('joining');
    if (!keepsOwned) this.#generation = undefined;
    this.#heartbeats.stop();
    const backoff = backoffOf(this.#cluster);
    const startedAt = performance.now();
    while (this.#isJoining()) {
      try {
        const outcome = await this.#groupJoin.run();
        if (outcome === 'lost') this.#loseOwned();
        if (typeof outcome === 'string') {
          this.#metrics?.rebalanceFailed();
          this.#debug({}, 'Restarting the rebalance');
          continue;
        }
        const { generationId, memberId, isLeader } = outcome;
        this.#log({ generationId, memberId, isLeader }, 'Joined the group');
        if (!this.#isJoining()) break;
        this.#metrics?.rebalanced(startedAt);
        this.#becomeStable(outcome, this.#options.heartbeatIntervalMs);
        return outcome;
      } catch (error) {
        if (error instanceof MembershipLostError) throw error;
        if (!this.#isJoining()) break;
        this.#metrics?.rebalanceFailed();
        if (!isRetriable(error)) {
          this.#fail(error);
          throw error;
        }
        this.#contact.failed();
        this.#debug({ reason: toError(error).message }, 'Failed to join the group; retrying');
        await idle(backoff.nextMs());
      }
    }
    throw new ClosedError('The group member');
  }

  /**
   * Leaves the group, so that the other members need not wait for the session timeout. A static member does not send
   * LeaveGroup, so the group keeps its assignment until the session times out.
   */
  async leave(timeoutMs: number): Promise<void> {
    const { groupId, instanceId } = this.#options;
    const stateBefore = this.#state;
    this.#endGeneration('left');
    // Without its member id, this member could not leave, and the group would wait for the session timeout.
    await this.#groupJoin.settleId(timeoutMs);
    // The broker would not process LeaveGroup until it has responded to the pending JoinGroup.
    if (stateBefore === 'joining') this.#cluster.dropCoordinatorConnection(groupId);
    const { memberId } = this;
    if (memberId === '' || stateBefore === 'lost' || instanceId !== undefined) return;
    const leaving = leaveGroup(this.#cluster, groupId, memberId).catch((error: unknown) => {
      this.#debug({ reason: toError(error).message }, 'Failed to leave the group');
    });
    await within(leaving, timeoutMs);
  }

  /**
   * Stops this member without leaving the group, so that another one can resume the membership within the session timeout.
   * Returns `undefined` if the state is not `stable`.
   */
  detach(): Generation | undefined {
    if (this.#state !== 'stable') return undefined;
    const generation = this.#generation;
    this.#endGeneration('left');
    return generation;
  }

  /** Resumes the membership of a detached member instead of joining. Sends a heartbeat immediately to verify the membership. */
  resume(generation: Generation): void {
    if (this.#state !== 'unjoined') throw new Error('The member has already joined the group');
    const { generationId, memberId } = generation;
    this.#groupJoin.memberId = memberId;
    this.#log({ generationId, memberId }, 'Resumed the membership of the group');
    this.#becomeStable(generation, 0);
  }

  /** If this member kept its partitions while it joined, ends its membership, because another member may already own them. */
  #loseOwned(): void {
    if (this.#generation === undefined || !this.#isJoining()) return;
    this.#loseMembership('the group has rebalanced without this member');
    throw new MembershipLostError(this.#options.groupId);
  }

  #becomeStable(generation: Generation, firstHeartbeatMs: number): void {
    this.#generation = generation;
    this.#heartbeats.start(firstHeartbeatMs);
    this.#moveTo('stable');
  }

  async #sendHeartbeat(): Promise<HeartbeatResult> {
    if (this.#generation === undefined) throw new ClosedError('The group member');
    const sentAt = Date.now();
    return { code: await heartbeat(this.#cluster, this.#options, this.#generation), sentAt };
  }

  #handleHeartbeat({ code, sentAt }: HeartbeatResult): number {
    if (code === ErrorCode.none || code === ErrorCode.rebalanceInProgress) this.#contact.answered('heartbeat', sentAt);
    this.#handleHeartbeatCode(code);
    return this.#options.heartbeatIntervalMs;
  }

  #handleHeartbeatCode(code: number): void {
    const { groupId } = this.#options;
    const loss = LOSS_REASONS.get(code);
    if (code === ErrorCode.unknownMemberId) this.#groupJoin.memberId = '';
    if (loss !== undefined) this.#loseMembership(loss);
    else if (code === ErrorCode.rebalanceInProgress) {
      if (this.#state === 'stable') this.#moveTo('rebalancing');
    } else if (code !== ErrorCode.none) {
      if (COORDINATOR_MOVED.has(code)) this.#cluster.forgetCoordinator(groupId);
      throw KafkaError.ofCode(code, `Heartbeat of group ${groupId}`);
    }
  }

  #loseMembership(reason: string): void {
    this.#logger.warn({ group: this.#options.groupId, reason }, 'Lost the group membership');
    this.#endGeneration('lost');
  }

  #fail(error: unknown): void {
    this.#failure = toError(error);
    this.#endGeneration('failed');
  }

  #endGeneration(state: MemberState): void {
    this.#generation = undefined;
    this.#heartbeats.stop();
    this.#moveTo(state);
  }

  #debug(fields: object, message: string): void {
    const { groupId: group } = this.#options;
    const generationId = this.#generation?.generationId;
    this.#logger.debug({ group, memberId: this.memberId, generationId, ...fields }, message);
  }

  /** Logs at info for consumers; Connect workers log their rebalances themselves. */
  #log(fields: object, message: string): void {
    const level = this.#protocol.type === 'consumer' ? 'info' : 'debug';
    this.#logger[level]({ group: this.#options.groupId, ...fields }, message);
  }

  #isJoining(): boolean {
    return this.#state === 'joining';
  }

  #moveTo(state: MemberState): void {
    if (this.#state === state || (this.#state === 'left' && state !== 'left')) return;
    this.#debug({ from: this.#state, to: state }, 'The group member changed its state');
    this.#state = state;
    this.#listener(state);
  }
}
