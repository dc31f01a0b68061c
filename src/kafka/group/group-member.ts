import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../errors/error-codes.ts';
import { ClosedError, KafkaError, MembershipLostError, isRetriable } from '../errors/kafka-errors.ts';
import type { Call, JoinGroupResponse } from '../protocol/protocol.ts';
import { backoffOf } from '../connections/retry.ts';
import { Signal } from '../../async/signal.ts';
import type { GroupCoordinatorMetrics, GroupRequest } from './group-coordinator-metrics.ts';
import { joinGroupCall, leaderView } from './join-protocol.ts';
import { heartbeat, leaveGroup, NETWORK_MS, LOST_GENERATION_CODES, syncGroup } from './member-requests.ts';
import type { Generation, GroupOptions, GroupProtocol, MemberListener, MemberState } from './group-protocol.ts';

/**
 * A group member of the classic protocol (JoinGroup 5, SyncGroup 3). Between joins, heartbeats are sent in the background,
 * independently of the caller.
 *
 *   unjoined, lost --join--> joining --assignment received--> stable
 *   stable --REBALANCE_IN_PROGRESS or requestRejoin--> rebalancing --join--> joining
 *   stable, rebalancing --UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION--> lost
 *   stable, rebalancing --other non-retriable error--> failed --join--> joining
 *   unjoined --resume--> stable
 *   stable --detach--> left, for another member to resume
 *   any --leave--> left
 *
 * In `stable` and `rebalancing` the member owns its generation, so commits are accepted. A coordinator that moves or restarts is
 * looked up again with the same member id and generation.
 */
export class GroupMember {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #protocol: GroupProtocol;
  readonly #listener: MemberListener;
  readonly #logger: Logger;
  readonly #metrics: GroupCoordinatorMetrics | undefined;
  #state: MemberState = 'unjoined';
  #memberId = '';
  #generation: Generation | undefined;
  #failure: Error | undefined;
  #lastContactAt = 0;
  #unanswered = false;
  /** A pending JoinGroup that returns the member id. */
  #pendingId: Promise<unknown> | undefined;
  #heartbeatSignal: Signal | undefined;

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
  }

  get state(): MemberState {
    return this.#state;
  }

  /** The current generation; `undefined` if the member is in none. */
  get generation(): Generation | undefined {
    return this.#generation;
  }

  get memberId(): string {
    return this.#memberId;
  }

  /** Returns the reason of the state `failed` once. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /**
   * When the coordinator last accepted a sign of life, in milliseconds since the epoch: the time at which the request was sent. The
   * time of the response would be misleading, because a suspended process may read it late.
   */
  get lastContactAt(): number {
    return this.#lastContactAt;
  }

  /** True while the last request to the coordinator received no response. */
  get unanswered(): boolean {
    return this.#unanswered;
  }

  requestRejoin(reason: string): void {
    if (this.#state !== 'stable') return;
    this.#log({ reason }, 'Rejoining the group');
    this.#moveTo('rebalancing');
  }

  /** Handles the error code of another request of this generation, such as an offset commit. */
  onRefusal(generationId: number, code: number): void {
    if (this.#isJoining() || this.#generation?.generationId !== generationId) return;
    if (LOST_GENERATION_CODES.has(code)) this.#handleHeartbeatCode(code);
  }

  /**
   * Joins the group and resolves with the new generation. Retries while the coordinator moves, is unreachable or restarts the
   * rebalance. Rejects on non-retriable errors and after `leave`. The caller must have revoked its partitions, because the old
   * generation ends here. With `keepsOwned` the old generation stays valid during the join; if the coordinator no longer knows the
   * member, the state becomes `lost` and MembershipLostError is thrown.
   */
  async join(keepsOwned = false): Promise<Generation> {
    if (this.#state === 'left') throw new ClosedError('The group member');
    this.#moveTo('joining');
    if (!keepsOwned) this.#generation = undefined;
    this.#stopHeartbeats();
    const backoff = backoffOf(this.#cluster);
    const startedAt = performance.now();
    while (this.#isJoining()) {
      try {
        const generation = await this.#rebalance();
        if (generation === undefined) {
          this.#metrics?.rebalanceFailed();
          this.#debug({}, 'Restarting the rebalance');
          continue;
        }
        if (!this.#isJoining()) break;
        this.#metrics?.rebalanced(startedAt);
        this.#becomeStable(generation, this.#options.heartbeatIntervalMs);
        return generation;
      } catch (error) {
        if (error instanceof MembershipLostError) throw error;
        if (!this.#isJoining()) break;
        if (!isRetriable(error)) {
          this.#fail(error);
          throw error;
        }
        this.#unanswered = true;
        this.#debug({ reason: toError(error).message }, 'Failed to join the group; retrying');
        await idle(backoff.nextMs());
      }
    }
    throw new ClosedError('The group member');
  }

  /**
   * Leaves the group, so that the others need not wait for the session timeout. A static member does not send LeaveGroup: the group
   * keeps its assignment until the session times out.
   */
  async leave(timeoutMs: number): Promise<void> {
    const { groupId, instanceId } = this.#options;
    const wasJoining = this.#state === 'joining';
    const wasLost = this.#state === 'lost';
    this.#moveTo('left');
    this.#generation = undefined;
    this.#stopHeartbeats();
    // The id arrives quickly. Without it this member could not leave, and the group would wait for its session timeout.
    if (this.#pendingId !== undefined) await within(this.#pendingId, timeoutMs);
    // The broker would not process LeaveGroup before it has responded to the pending JoinGroup.
    if (wasJoining) this.#cluster.dropCoordinatorConnection(groupId);
    if (this.#memberId === '' || wasLost || instanceId !== undefined) return;
    const leaving = leaveGroup(this.#cluster, groupId, this.#memberId).catch((error: unknown) => {
      this.#debug({ reason: toError(error).message }, 'Failed to leave the group');
    });
    await within(leaving, timeoutMs);
  }

  /**
   * Stops this member without leaving the group, so that another one can resume it within the session timeout. Returns `undefined`
   * if it is not stable.
   */
  detach(): Generation | undefined {
    if (this.#state !== 'stable') return undefined;
    const generation = this.#generation;
    this.#moveTo('left');
    this.#generation = undefined;
    this.#stopHeartbeats();
    return generation;
  }

  /** Resumes a detached member instead of joining. Sends a heartbeat immediately to verify the membership. */
  resume(generation: Generation): void {
    if (this.#state !== 'unjoined') throw new Error('The member has already joined the group');
    const { generationId, memberId } = generation;
    this.#memberId = memberId;
    this.#log({ generationId, memberId }, 'Resumed the membership of the group');
    this.#becomeStable(generation, 0);
  }

  /** One JoinGroup and SyncGroup; `undefined` if the rebalance has to be restarted. */
  async #rebalance(): Promise<Generation | undefined> {
    const joined = await this.#joinGroup();
    if (joined === undefined) return undefined;
    this.#debug({ generationId: joined.generationId, leaderId: joined.leaderId }, 'Received a JoinGroup response');
    const isLeader = joined.leaderId === joined.memberId;
    const protocol = joined.groupProtocol ?? '';
    const assignments = isLeader
      ? await this.#protocol.assign(leaderView(joined, protocol))
      : new Map<string, Buffer>();
    const assignment = await this.#syncGroup(joined, assignments);
    if (assignment === undefined) return undefined;
    const { generationId, memberId, leaderId } = joined;
    this.#log({ generationId, memberId, isLeader }, 'Joined the group');
    return { generationId, memberId, leaderId, isLeader, protocol, assignment };
  }

  async #joinGroup(): Promise<JoinGroupResponse | undefined> {
    const { groupId, instanceId, sessionTimeoutMs, rebalanceTimeoutMs } = this.#options;
    const parameters = {
      groupId,
      memberId: this.#memberId,
      instanceId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      protocolType: this.#protocol.type,
      groupProtocols: this.#protocol.protocols(),
    };
    const call = joinGroupCall(parameters, rebalanceTimeoutMs + NETWORK_MS);
    const sentAt = Date.now();
    const response = await (this.#memberId === '' && instanceId === undefined
      ? this.#joinWithoutId(call)
      : this.#cluster.callCoordinator(groupId, call));
    switch (response.errorCode) {
      case ErrorCode.none:
        this.#recordContact('join', sentAt);
        this.#memberId = response.memberId;
        return response;
      case ErrorCode.memberIdRequired:
        return undefined;
      case ErrorCode.unknownMemberId:
        this.#memberId = '';
        this.#loseOwned();
        return undefined;
      case ErrorCode.rebalanceInProgress:
        return undefined;
      default:
        return this.#throwCode(response.errorCode, 'Joining');
    }
  }

  /**
   * A JoinGroup without a member id returns one immediately. The id is kept even if the next attempt fails, because the group waits
   * for this member until its session times out.
   */
  async #joinWithoutId(call: Call<JoinGroupResponse>): Promise<JoinGroupResponse> {
    const pendingId = this.#cluster.callCoordinator(this.#options.groupId, call).then((response) => {
      if (response.errorCode === ErrorCode.memberIdRequired) this.#memberId = response.memberId;
      return response;
    });
    this.#pendingId = pendingId.catch(() => undefined).finally(() => (this.#pendingId = undefined));
    return pendingId;
  }

  async #syncGroup(
    { generationId, memberId }: JoinGroupResponse,
    assignments: ReadonlyMap<string, Buffer>,
  ): Promise<Buffer | undefined> {
    const sentAt = Date.now();
    const response = await syncGroup(this.#cluster, this.#options, { generationId, memberId }, assignments);
    switch (response.errorCode) {
      case ErrorCode.none:
        this.#recordContact('sync', sentAt);
        return response.memberAssignment ?? Buffer.alloc(0);
      case ErrorCode.unknownMemberId:
        this.#memberId = '';
        this.#loseOwned();
        return undefined;
      case ErrorCode.illegalGeneration:
        this.#loseOwned();
        return undefined;
      case ErrorCode.rebalanceInProgress:
        // Another member has already started the next rebalance.
        return undefined;
      default:
        return this.#throwCode(response.errorCode, 'Syncing');
    }
  }

  /** The partitions that this member kept while joining may already be assigned to another member. */
  #loseOwned(): void {
    if (this.#generation === undefined || !this.#isJoining()) return;
    this.#loseMembership('the group has rebalanced without this member');
    throw new MembershipLostError(this.#options.groupId);
  }

  #throwCode(code: number, action: string): never {
    const { groupId } = this.#options;
    const error = KafkaError.ofCode(code, `${action} group ${groupId}`);
    if (COORDINATOR_MOVED.has(code)) this.#cluster.forgetCoordinator(groupId);
    throw error;
  }

  #becomeStable(generation: Generation, firstHeartbeatMs: number): void {
    const signal = new Signal();
    this.#heartbeatSignal = signal;
    this.#generation = generation;
    this.#moveTo('stable');
    void this.#sendHeartbeats(generation, signal, firstHeartbeatMs);
  }

  async #sendHeartbeats(generation: Generation, signal: Signal, firstMs: number): Promise<void> {
    const backoff = backoffOf(this.#cluster);
    let waitMs = firstMs;
    const isCurrent = (): boolean => this.#generation === generation && this.#heartbeatSignal === signal;
    while (isCurrent()) {
      await signal.wait(waitMs);
      if (!isCurrent()) return;
      try {
        const sentAt = Date.now();
        const code = await heartbeat(this.#cluster, this.#options, generation);
        if (!isCurrent()) return;
        if (code === ErrorCode.none || code === ErrorCode.rebalanceInProgress) this.#recordContact('heartbeat', sentAt);
        this.#handleHeartbeatCode(code);
        backoff.reset();
        waitMs = this.#options.heartbeatIntervalMs;
      } catch (error) {
        if (!isCurrent()) return;
        if (!isRetriable(error)) {
          this.#fail(error);
          return;
        }
        this.#unanswered = true;
        this.#debug({ reason: toError(error).message }, 'Heartbeat failed; retrying');
        waitMs = Math.min(backoff.nextMs(), this.#options.heartbeatIntervalMs);
      }
    }
  }

  #recordContact(request: GroupRequest, sentAt: number): void {
    this.#metrics?.answered(request, sentAt);
    this.#lastContactAt = sentAt;
    this.#unanswered = false;
  }

  #handleHeartbeatCode(code: number): void {
    const { groupId } = this.#options;
    switch (code) {
      case ErrorCode.none:
        return;
      case ErrorCode.rebalanceInProgress:
        if (this.#state === 'stable') this.#moveTo('rebalancing');
        return;
      case ErrorCode.unknownMemberId:
        this.#memberId = '';
        this.#loseMembership('the session timed out');
        return;
      case ErrorCode.illegalGeneration:
        this.#loseMembership('the generation is no longer valid');
        return;
      default:
        if (COORDINATOR_MOVED.has(code)) this.#cluster.forgetCoordinator(groupId);
        throw KafkaError.ofCode(code, `Heartbeat of group ${groupId}`);
    }
  }

  #loseMembership(reason: string): void {
    this.#logger.warn({ group: this.#options.groupId, reason }, 'Lost the group membership');
    this.#generation = undefined;
    this.#moveTo('lost');
  }

  #fail(error: unknown): void {
    this.#failure = toError(error);
    this.#generation = undefined;
    this.#moveTo('failed');
  }

  #debug(fields: object, message: string): void {
    const { groupId: group } = this.#options;
    const generationId = this.#generation?.generationId;
    this.#logger.debug({ group, memberId: this.#memberId, generationId, ...fields }, message);
  }

  /** Logs at info for consumers; Connect workers log their rebalances themselves. */
  #log(fields: object, message: string): void {
    const level = this.#protocol.type === 'consumer' ? 'info' : 'debug';
    this.#logger[level]({ group: this.#options.groupId, ...fields }, message);
  }

  /** Wakes the heartbeat loop, which ends because its generation is no longer current; a pending response is ignored. */
  #stopHeartbeats(): void {
    this.#heartbeatSignal?.notify();
    this.#heartbeatSignal = undefined;
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
