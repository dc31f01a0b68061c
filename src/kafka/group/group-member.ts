import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from '../connections/cluster.ts';
import { COORDINATOR_MOVED, ErrorCode } from '../error-codes.ts';
import { ClosedError, KafkaError, MembershipLostError, isRetriable } from '../errors.ts';
import type { Call, JoinGroupAnswer } from '../protocol/protocol.ts';
import { backoffOf } from '../connections/retry.ts';
import { Signal } from '../../async/signal.ts';
import type { GroupFigures, GroupRequest } from './group-figures.ts';
import { joinGroupCall } from './join-protocol.ts';
import { heartbeat, leaveGroup, NETWORK_MS, REFUSALS, syncGroup } from './member-requests.ts';
import type { Generation, GroupOptions, GroupProtocol, MemberListener, MemberState } from './group-protocol.ts';

/**
 * A member of a group by the classic protocol (JoinGroup 5, SyncGroup 3). Heartbeats go on by themselves between joins,
 * whatever the caller does.
 *
 *   unjoined, lost --join--> joining --assignment received--> stable
 *   stable --REBALANCE_IN_PROGRESS or requestRejoin--> rebalancing --join--> joining
 *   stable, rebalancing --UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION--> lost
 *   stable, rebalancing --another error that waiting does not mend--> failed --join--> joining
 *   unjoined --resume--> stable
 *   stable --release--> left, for another member to resume
 *   any --leave--> left
 *
 * In `stable` and `rebalancing` the member holds its generation: commits are accepted. A coordinator that moves or
 * restarts changes nothing: it is looked up again with the same member id and generation.
 *
 * One class, because each answer of the coordinator changes state, generation and heartbeats together.
 */
export class GroupMember {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #protocol: GroupProtocol;
  readonly #listener: MemberListener;
  readonly #logger: Logger;
  readonly #figures: GroupFigures | undefined;
  #state: MemberState = 'unjoined';
  #memberId = '';
  #generation: Generation | undefined;
  #failure: Error | undefined;
  #lastContactAt = 0;
  #unanswered = false;
  /** A JoinGroup under way by which the coordinator gives this member its id. */
  #naming: Promise<unknown> | undefined;
  #heartbeatSignal: Signal | undefined;

  constructor(
    cluster: Cluster,
    options: GroupOptions,
    protocol: GroupProtocol,
    listener: MemberListener,
    logger: Logger,
    figures?: GroupFigures,
  ) {
    this.#cluster = cluster;
    this.#options = options;
    this.#protocol = protocol;
    this.#listener = listener;
    this.#logger = logger;
    this.#figures = figures;
  }

  get state(): MemberState {
    return this.#state;
  }

  /** The generation that is held; `undefined` when there is none. */
  get generation(): Generation | undefined {
    return this.#generation;
  }

  /** As the group knows it; empty before it does. */
  get memberId(): string {
    return this.#memberId;
  }

  /** Why the state is `failed`, once. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /**
   * When the member last showed that it is alive, in milliseconds since the epoch: the time at which a request was sent that
   * the coordinator took. An answer may lie unread for long (a process that was suspended), so its time says nothing.
   */
  get lastContactAt(): number {
    return this.#lastContactAt;
  }

  /** True from a request that got no answer on, until one gets an answer again. */
  get unanswered(): boolean {
    return this.#unanswered;
  }

  /** Asks for a new round, as the coordinator does when members come or go. */
  requestRejoin(reason: string): void {
    if (this.#state !== 'stable') return;
    this.#tell({ reason }, 'rejoining the group');
    this.#moveTo('rebalancing');
  }

  /** What another request of this generation (an offset commit) learned of it. */
  onRefusal(generationId: number, code: number): void {
    if (this.#isJoining() || this.#generation?.generationId !== generationId) return;
    if (REFUSALS.has(code)) this.#judgeHeartbeat(code);
  }

  /**
   * Takes part in one round and resolves with its outcome; repeats while the coordinator moves, is away or starts over.
   * Rejects when the group cannot be joined like this, or after `leave`. What was assigned before must have been given
   * up: from here on the old generation is not held. A member that `keeps` what it has holds it until the round ends; when the
   * coordinator does not know it any more, the state is `lost` and MembershipLostError is thrown.
   */
  async join(keeps = false): Promise<Generation> {
    if (this.#state === 'left') throw new ClosedError('The group member');
    this.#moveTo('joining');
    if (!keeps) this.#generation = undefined;
    this.#stopHeartbeats();
    const backoff = backoffOf(this.#cluster);
    const beganAt = performance.now();
    while (this.#isJoining()) {
      try {
        const generation = await this.#round();
        if (generation === undefined) {
          this.#figures?.roundFailed();
          continue;
        }
        if (!this.#isJoining()) break;
        this.#figures?.rebalanced(beganAt);
        this.#hold(generation, this.#options.heartbeatIntervalMs);
        return generation;
      } catch (error) {
        if (error instanceof MembershipLostError) throw error;
        if (!this.#isJoining()) break;
        if (!isRetriable(error)) {
          this.#fail(error);
          throw error;
        }
        this.#unanswered = true;
        this.#logger.debug({ group: this.#options.groupId, reason: toError(error).message }, 'joining again');
        await idle(backoff.nextMs());
      }
    }
    throw new ClosedError('The group member');
  }

  /**
   * Gives the membership back, so that the others need not wait for the session to time out. A static member is expected back: the
   * group keeps its place for as long.
   */
  async leave(timeoutMs: number): Promise<void> {
    const { groupId, instanceId } = this.#options;
    const wasJoining = this.#state === 'joining';
    const wasLost = this.#state === 'lost';
    this.#moveTo('left');
    this.#generation = undefined;
    this.#stopHeartbeats();
    // The id is there at once; the others would wait for its bearer as long as a session lasts.
    if (this.#naming !== undefined) await within(this.#naming, timeoutMs);
    // The broker would not look at LeaveGroup before it has answered the JoinGroup in front of it.
    if (wasJoining) this.#cluster.dropCoordinatorConnection(groupId);
    if (this.#memberId === '' || wasLost || instanceId !== undefined) return;
    const told = leaveGroup(this.#cluster, groupId, this.#memberId).catch((error: unknown) => {
      this.#logger.debug({ group: groupId, reason: toError(error).message }, 'could not tell the group of leaving it');
    });
    await within(told, timeoutMs);
  }

  /** Ends this member and leaves its place in the group as it is, until the session times out. `undefined`: it holds none. */
  release(): Generation | undefined {
    if (this.#state !== 'stable') return undefined;
    const generation = this.#generation;
    this.#moveTo('left');
    this.#generation = undefined;
    this.#stopHeartbeats();
    return generation;
  }

  /** In place of the first join: goes on as the member that was released. The group is asked at once whether it knows it. */
  resume(generation: Generation): void {
    if (this.#state !== 'unjoined') throw new Error('The member is in the group already');
    this.#memberId = generation.memberId;
    this.#tell({ generationId: generation.generationId, memberId: this.#memberId }, 'goes on as a member of the group');
    this.#hold(generation, 0);
  }

  /** One JoinGroup and SyncGroup; `undefined` when the round starts over. */
  async #round(): Promise<Generation | undefined> {
    const joined = await this.#joinGroup();
    if (joined === undefined) return undefined;
    const isLeader = joined.leaderId === joined.memberId;
    const protocol = joined.groupProtocol ?? '';
    const assignments = isLeader ? await this.#assign(joined, protocol) : new Map<string, Buffer>();
    const assignment = await this.#syncGroup(joined, assignments);
    if (assignment === undefined) return undefined;
    const { generationId, memberId, leaderId } = joined;
    this.#tell({ generationId, memberId, isLeader }, 'joined the group');
    return { generationId, memberId, leaderId, isLeader, protocol, assignment };
  }

  async #joinGroup(): Promise<JoinGroupAnswer | undefined> {
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
    const answer = await (this.#memberId === '' && instanceId === undefined
      ? this.#named(call)
      : this.#cluster.callCoordinator(groupId, call));
    switch (answer.errorCode) {
      case ErrorCode.none:
        this.#noteContact('join', sentAt);
        this.#memberId = answer.memberId;
        return answer;
      case ErrorCode.memberIdRequired:
        return undefined;
      case ErrorCode.unknownMemberId:
        this.#memberId = '';
        this.#loseKept();
        return undefined;
      case ErrorCode.rebalanceInProgress:
        return undefined;
      default:
        return this.#refuse(answer.errorCode, 'Joining');
    }
  }

  /**
   * A JoinGroup without an id, which is answered at once with one. It is kept even if the next attempt fails: the group
   * waits for it until its session times out.
   */
  async #named(call: Call<JoinGroupAnswer>): Promise<JoinGroupAnswer> {
    const naming = this.#cluster.callCoordinator(this.#options.groupId, call).then((answer) => {
      if (answer.errorCode === ErrorCode.memberIdRequired) this.#memberId = answer.memberId;
      return answer;
    });
    this.#naming = naming.catch(() => undefined).finally(() => (this.#naming = undefined));
    return naming;
  }

  async #assign(joined: JoinGroupAnswer, protocol: string): Promise<ReadonlyMap<string, Buffer>> {
    const members = joined.members.map(({ memberId, groupInstanceId, memberMetadata }) => {
      return { memberId, instanceId: groupInstanceId ?? undefined, metadata: memberMetadata };
    });
    return this.#protocol.assign({
      leaderId: joined.leaderId,
      protocol,
      generationId: joined.generationId,
      skipsAssignment: joined.skipsAssignment === true,
      members,
    });
  }

  async #syncGroup(
    { generationId, memberId }: JoinGroupAnswer,
    assignments: ReadonlyMap<string, Buffer>,
  ): Promise<Buffer | undefined> {
    const sentAt = Date.now();
    const answer = await syncGroup(this.#cluster, this.#options, { generationId, memberId }, assignments);
    switch (answer.errorCode) {
      case ErrorCode.none:
        this.#noteContact('sync', sentAt);
        return answer.memberAssignment ?? Buffer.alloc(0);
      case ErrorCode.unknownMemberId:
        this.#memberId = '';
        this.#loseKept();
        return undefined;
      case ErrorCode.illegalGeneration:
        this.#loseKept();
        return undefined;
      case ErrorCode.rebalanceInProgress:
        // A faster member has started the next round already.
        return undefined;
      default:
        return this.#refuse(answer.errorCode, 'Syncing');
    }
  }

  /** What this member kept while it joined may be another's already. */
  #loseKept(): void {
    if (this.#generation === undefined || !this.#isJoining()) return;
    this.#lose('the group has gone on without it');
    throw new MembershipLostError(this.#options.groupId);
  }

  #refuse(code: number, action: string): never {
    const { groupId } = this.#options;
    const error = KafkaError.ofCode(code, `${action} group ${groupId}`);
    if (COORDINATOR_MOVED.has(code)) this.#cluster.forgetCoordinator(groupId);
    throw error;
  }

  #hold(generation: Generation, firstHeartbeatMs: number): void {
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
        if (code === ErrorCode.none || code === ErrorCode.rebalanceInProgress) this.#noteContact('heartbeat', sentAt);
        this.#judgeHeartbeat(code);
        backoff.reset();
        waitMs = this.#options.heartbeatIntervalMs;
      } catch (error) {
        if (!isCurrent()) return;
        if (!isRetriable(error)) {
          this.#fail(error);
          return;
        }
        this.#unanswered = true;
        waitMs = Math.min(backoff.nextMs(), this.#options.heartbeatIntervalMs);
      }
    }
  }

  #noteContact(request: GroupRequest, sentAt: number): void {
    this.#figures?.answered(request, sentAt);
    this.#lastContactAt = sentAt;
    this.#unanswered = false;
  }

  #judgeHeartbeat(code: number): void {
    const { groupId } = this.#options;
    switch (code) {
      case ErrorCode.none:
        return;
      case ErrorCode.rebalanceInProgress:
        if (this.#state === 'stable') this.#moveTo('rebalancing');
        return;
      case ErrorCode.unknownMemberId:
        this.#memberId = '';
        this.#lose('the session timed out');
        return;
      case ErrorCode.illegalGeneration:
        this.#lose('the group has moved on');
        return;
      default:
        if (COORDINATOR_MOVED.has(code)) this.#cluster.forgetCoordinator(groupId);
        throw KafkaError.ofCode(code, `Heartbeat of group ${groupId}`);
    }
  }

  #lose(reason: string): void {
    this.#logger.warn({ group: this.#options.groupId, reason }, 'the group membership was lost');
    this.#generation = undefined;
    this.#moveTo('lost');
  }

  #fail(error: unknown): void {
    this.#failure = toError(error);
    this.#generation = undefined;
    this.#moveTo('failed');
  }

  /** Members of other groups than the consumers' say more of a rebalance themselves. */
  #tell(fields: object, message: string): void {
    const level = this.#protocol.type === 'consumer' ? 'info' : 'debug';
    this.#logger[level]({ group: this.#options.groupId, ...fields }, message);
  }

  /** Whoever changed the generation lets its loop see that; an answer under way is not listened to any more. */
  #stopHeartbeats(): void {
    this.#heartbeatSignal?.notify();
    this.#heartbeatSignal = undefined;
  }

  #isJoining(): boolean {
    return this.#state === 'joining';
  }

  #moveTo(state: MemberState): void {
    if (this.#state === state || (this.#state === 'left' && state !== 'left')) return;
    this.#state = state;
    this.#listener(state);
  }
}
