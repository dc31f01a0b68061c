import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import type { TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Handover } from '../api.ts';
import type { Assignor, GroupSubscription, PartitionCounts, PartitionRacks } from '../assignors/assignor.ts';
import { createAssignor } from '../assignors/assignors.ts';
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './consumer-protocol.ts';
import { removeMembers } from '../group/group-members.ts';
import { CommitRefusedError, KafkaError, MembershipLostError } from '../errors.ts';
import { GroupFigures } from '../group/group-figures.ts';
import { GroupMember } from '../group/group-member.ts';
import type { Generation, GroupProtocol, LeaderView, MemberState } from '../group/group-protocol.ts';
import { waitIfRetriable, type HeldPartitions } from './held-partitions.ts';
import type { Membership, MembershipDependencies, TopicSelection } from './membership.ts';
import type { GroupIdentity } from './offsets.ts';
import { SpacedLines } from '../../observe/spaced-lines.ts';
import { backoffOf } from '../connections/retry.ts';
import type { TopicInterest } from '../connections/topic-metadata.ts';

/**
 * The consumer's side of its group: joins in the background, calls the listener only from `coordinate`.
 *
 *   apart --coordinate--> joining --assigned and positioned--> ready --coordinate: onAssigned--> owning
 *   owning --rebalance--> (coordinate: onRevoked) --> joining
 *   owning --membership lost--> (coordinate: onLost) --> joining
 *   apart, with a handover --coordinate--> (as the member of the handover) --> ready
 *
 * Where all assignors are cooperative, the member keeps what it owns while it joins, gives up what the leader took away, and joins
 * again, so that the leader can give it to others (KIP-429).
 *
 * One class, because what joining has brought in the background is kept, field by field, until `coordinate` announces it.
 */
export class ConsumerMembership implements GroupProtocol, Membership {
  readonly type = 'consumer';
  readonly #dependencies: MembershipDependencies;
  readonly #groupId: string;
  readonly figures: GroupFigures;
  readonly #lines: SpacedLines;
  readonly #member: GroupMember;
  readonly #held: HeldPartitions;
  readonly #selection: TopicSelection;
  readonly #assignors: readonly Assignor[];
  readonly #isCooperative: boolean;
  #joining: Promise<void> | undefined;
  #failure: Error | undefined;
  /** What this member told the group when it last joined. */
  #joinedTopics: readonly string[] = [];
  /** The last generation that this member had an assignment of. */
  #lastGeneration: number | undefined;
  /** Leader only: all topics of the group, with the partition counts the last assignment was made for. */
  #assignedCounts: PartitionCounts | undefined;
  #groupTopics: readonly string[] = [];
  #startOver = false;
  #closed = false;
  #hasJoined = false;
  /** A handover was taken up, and the group has not been joined since. */
  #isUntried = false;
  /** Of the consumer before, until it was taken up. */
  #handover: Handover | undefined;

  constructor(dependencies: MembershipDependencies, groupId: string, selection: TopicSelection, handover?: Handover) {
    const { config } = dependencies;
    const options = {
      groupId,
      instanceId: config.instanceId,
      sessionTimeoutMs: config.sessionTimeoutMs,
      rebalanceTimeoutMs: config.rebalanceTimeoutMs,
      heartbeatIntervalMs: config.heartbeatIntervalMs,
    };
    this.#dependencies = dependencies;
    this.#groupId = groupId;
    this.#handover = handover;
    this.#selection = selection;
    this.#held = dependencies.held;
    this.#lines = new SpacedLines(dependencies.logger);
    this.#assignors = config.assignors.map(createAssignor);
    this.#isCooperative = this.#assignors.every(({ isCooperative }) => isCooperative);
    this.figures = new GroupFigures(config.connection.metricWindow);
    const onState = (state: MemberState): void => {
      if (state !== 'joining') dependencies.notify();
    };
    this.#member = new GroupMember(dependencies.cluster, options, this, onState, dependencies.logger, this.figures);
  }

  get owned(): readonly TopicPartition[] {
    return this.#held.owned;
  }

  get announced(): boolean {
    return this.#held.announced;
  }

  get findsPositions(): boolean {
    return !this.#held.announced || this.#held.isPreparing;
  }

  interest(): TopicInterest {
    const { connection, topicDiscoveryMs, allowAutoCreateTopics: mayCreate } = this.#dependencies.config;
    if (typeof this.#selection === 'function') return { topics: 'all', maxAgeMs: topicDiscoveryMs };
    const own = new Set(this.#selection);
    const others = new Set(this.#groupTopics.filter((topic) => !own.has(topic)));
    return { topics: [...own, ...others], maxAgeMs: connection.metadataMaxAgeMs, mayCreate, others };
  }

  /** New topics that the selection takes, or new partitions of topics the leader dealt out, ask for a new round. */
  onMetadata(): void {
    const { metadata, positions } = this.#dependencies;
    positions.newPartitions.note(
      metadata.partitionCounts,
      typeof this.#selection === 'function' ? 'all' : this.#selection,
    );
    if (this.#member.state !== 'stable') return;
    const topics = this.#selectedTopics();
    if (typeof this.#selection === 'function' && topics.join() !== this.#joinedTopics.join()) {
      this.#member.requestRejoin('the topics that match the subscription have changed');
      return;
    }
    const counts = this.#dependencies.metadata.partitionCounts;
    const changed = this.#groupTopics.find((topic) => counts.get(topic) !== this.#assignedCounts?.get(topic));
    if (changed !== undefined && this.#member.generation?.isLeader === true) {
      this.#member.requestRejoin(`the partitions of topic ${changed} have changed`);
    }
  }

  /**
   * The log of an assigned partition is another than the one that was read: what was handed out is settled and positions are
   * found as after any rebalance.
   */
  onDiverged(topic: string): void {
    this.#startOver = true;
    this.#member.requestRejoin(`the log of topic ${topic} is another than the one that was read`);
    this.#dependencies.notify();
  }

  async coordinate(): Promise<void> {
    const { state } = this.#member;
    if (state === 'lost' || state === 'failed') {
      await this.#held.giveUp('lost');
      this.#lastGeneration = undefined;
      // The group did not know a membership that was handed over: what is left of this task may be another member.
      if (this.#isUntried) this.#hasJoined = false;
    }
    this.#throwFailure();
    if (this.#joining === undefined && state !== 'stable' && state !== 'joining') {
      if (!this.#isCooperative || this.#startOver) await this.#held.giveUp('revoked');
      this.#startOver = false;
      this.#held.forgetReady();
      this.#joining = this.#join().finally(() => {
        this.#joining = undefined;
        this.#dependencies.notify();
      });
    } else if (this.#held.isReady && state === 'stable') {
      // The leader waits for what is given up, also when the listener has failed.
      let hasGone = true;
      try {
        hasGone = await this.#held.settle();
      } finally {
        if (hasGone) this.#member.requestRejoin('partitions were given up for others');
      }
      this.onMetadata();
    }
  }

  identity(): GroupIdentity {
    const { generation } = this.#member;
    if (generation === undefined) {
      throw new CommitRefusedError(
        `Offset commit of group ${this.#groupId} cannot be completed since the consumer is not part of an active group`,
      );
    }
    const { memberId, generationId } = generation;
    return { groupId: this.#groupId, memberId, generationId, instanceId: this.#dependencies.config.instanceId };
  }

  onCommitRefused(generationId: number, { cause }: CommitRefusedError): void {
    if (cause instanceof KafkaError) this.#member.onRefusal(generationId, cause.code);
  }

  async close(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    try {
      await this.#giveUpAll(timeoutMs);
    } finally {
      await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
  }

  /** Only where the next consumer finds what is left of this one, should the handover not reach it. */
  async handOver(timeoutMs: number): Promise<Handover | undefined> {
    const deadline = Date.now() + timeoutMs;
    let generation: Generation | undefined;
    try {
      const inTime = await this.#giveUpAll(timeoutMs);
      if (inTime && this.#dependencies.config.leftoverName !== undefined) generation = this.#member.release();
    } finally {
      if (generation === undefined) await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
    return generation && this.#handoverOf(generation);
  }

  /** Whether that was done in time. */
  async #giveUpAll(timeoutMs: number): Promise<boolean> {
    this.#closed = true;
    const lost = this.#member.state === 'lost' || this.#member.state === 'failed';
    const inTime = await within(this.#held.giveUp(lost ? 'lost' : 'revoked'), timeoutMs);
    if (!inTime)
      this.#dependencies.logger.warn({ timeoutMs }, 'the partitions were not given back in time, leaving the group');
    return inTime;
  }

  #handoverOf({ memberId, generationId, isLeader, protocol, assignment }: Generation): Handover {
    const counts = this.#groupTopics.map((topic) => [topic, this.#assignedCounts?.get(topic) ?? 0] as const);
    return {
      groupId: this.#groupId,
      memberId,
      generationId,
      isLeader,
      protocol,
      assignment: assignment.toString('base64'),
      topics: this.#joinedTopics,
      partitions: isLeader ? Object.fromEntries(counts) : {},
    };
  }

  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[] {
    this.#joinedTopics = this.#selectedTopics();
    const subscription = {
      topics: this.#joinedTopics,
      owned: this.#held.owned,
      generationId: this.#lastGeneration,
      rackId: this.#dependencies.config.rackId,
    };
    return this.#assignors.map((assignor) => {
      return { name: assignor.name, metadata: encodeSubscription({ ...subscription, userData: assignor.userData() }) };
    });
  }

  async assign({ protocol, skipsAssignment, members }: LeaderView): Promise<ReadonlyMap<string, Buffer>> {
    const subscriptions = members.flatMap((member) => this.#subscriptionOf(member));
    this.#groupTopics = [...new Set(subscriptions.flatMap(({ topics }) => topics))];
    await this.#dependencies.metadata.update();
    const counts = this.#dependencies.metadata.partitionCounts;
    this.#assignedCounts = counts;
    if (skipsAssignment) return new Map();
    const assignor = this.#assignors.find(({ name }) => name === protocol);
    if (assignor === undefined)
      throw new Error(`The group chose ${protocol}, which is not among this member's assignors`);
    const assignment = assignor.assign(subscriptions, await this.#withRacks(counts, subscriptions));
    return new Map([...assignment].map(([memberId, partitions]) => [memberId, encodeAssignment(partitions)]));
  }

  /** A member that cannot be understood gets nothing; the others are not held up by it. */
  #subscriptionOf({ memberId, instanceId, metadata }: LeaderView['members'][number]): GroupSubscription[] {
    try {
      return [{ memberId, instanceId, ...decodeSubscription(metadata) }];
    } catch (error) {
      this.#lines.log('warn', { memberId, reason: toError(error).message }, 'A member of the group gets no partitions');
      return [];
    }
  }

  /**
   * The partitions that the leader assigned; `undefined`, after a warning, when the assignment cannot be read or has topics that this member
   * did not subscribe to. Nothing of such an assignment is read.
   */
  #assignedBy({ leaderId, assignment }: Generation): readonly TopicPartition[] | undefined {
    try {
      const partitions = decodeAssignment(assignment);
      const foreign = partitions.find(({ topic }) => !this.#isSelected(topic));
      if (foreign === undefined) return partitions;
      const fields = { leaderId, topic: foreign.topic };
      this.#lines.log(
        'warn',
        fields,
        'The assignment has a topic that this member did not subscribe to; joining again',
      );
    } catch (error) {
      const fields = { leaderId, reason: toError(error).message };
      this.#lines.log('warn', fields, 'The assignment cannot be read; joining again');
    }
    return undefined;
  }

  #isSelected(topic: string): boolean {
    const selection = this.#selection;
    if (typeof selection !== 'function') return selection.includes(topic);
    const { metadata, config } = this.#dependencies;
    return selection(topic) && !(config.excludeInternalTopics && metadata.isInternal(topic));
  }

  /** Racks of replicas are asked for where a member is in one. */
  async #withRacks(counts: PartitionCounts, members: readonly GroupSubscription[]): Promise<PartitionRacks> {
    const topics = this.#groupTopics.filter((topic) => counts.has(topic));
    const hasRacks = members.some(({ rackId }) => rackId !== undefined && rackId !== '');
    const racks = hasRacks ? await this.#dependencies.metadata.replicaRacks(topics) : undefined;
    const none: ReadonlySet<string> = new Set();
    return new Map(
      topics.map((topic) => {
        const partitions = Array.from({ length: counts.get(topic) ?? 0 }, (_none, partition) => partition);
        return [topic, partitions.map((partition) => racks?.get(topic)?.get(partition) ?? none)] as const;
      }),
    );
  }

  #selectedTopics(): readonly string[] {
    const selection = this.#selection;
    if (typeof selection !== 'function') return [...selection].sort();
    const { partitionCounts } = this.#dependencies.metadata;
    return [...partitionCounts.keys()].filter((topic) => this.#isSelected(topic)).sort();
  }

  async #join(): Promise<void> {
    const { metadata, cluster } = this.#dependencies;
    try {
      while (!metadata.known && !this.#closed) await metadata.update().catch(waitIfRetriable(backoffOf(cluster)));
      this.#groupTopics = [];
      const generation = this.#takeUp() ?? (await this.#joinGroup());
      const partitions = this.#assignedBy(generation);
      if (partitions === undefined) {
        // A leader that repeats itself must not keep the brokers busy.
        await idle(this.#dependencies.config.heartbeatIntervalMs);
        this.#member.requestRejoin('the assignment does not match the subscription');
        return;
      }
      this.#lastGeneration = generation.generationId;
      const assignor = this.#assignors.find(({ name }) => name === generation.protocol);
      assignor?.onAssignment(partitions, generation.generationId);
      const isCurrent = (): boolean => this.#member.generation === generation && this.#member.state === 'stable';
      await this.#held.prepare(partitions, isCurrent, () => this.identity());
    } catch (error) {
      if (!this.#closed && !(error instanceof MembershipLostError)) this.#failure = toError(error);
    }
  }

  async #joinGroup(): Promise<Generation> {
    this.#isUntried = false;
    await this.#removeLeftover();
    return this.#member.join(this.#held.announced);
  }

  /** `undefined`: there is no handover, or it is of another subscription; the group is to be joined. */
  #takeUp(): Generation | undefined {
    const handover = this.#handover;
    this.#handover = undefined;
    if (handover === undefined || handover.groupId !== this.#groupId) return undefined;
    const { memberId, generationId, isLeader, protocol, topics, partitions } = handover;
    const isKnown = this.#assignors.some(({ name }) => name === protocol);
    if (!isKnown || topics.join() !== this.#selectedTopics().join()) return undefined;
    this.#hasJoined = true;
    this.#isUntried = true;
    this.#joinedTopics = topics;
    if (isLeader) {
      this.#assignedCounts = new Map(Object.entries(partitions));
      this.#groupTopics = [...this.#assignedCounts.keys()];
    }
    const leaderId = isLeader ? memberId : '';
    const assignment = Buffer.from(handover.assignment, 'base64');
    const generation = { generationId, memberId, leaderId, isLeader, protocol, assignment };
    this.#member.resume(generation);
    return generation;
  }

  /** What this very task left when its process died; its partitions would wait for its session to end. */
  async #removeLeftover(): Promise<void> {
    const { cluster, config, logger } = this.#dependencies;
    const { leftoverName } = config;
    if (leftoverName === undefined || this.#hasJoined) return;
    this.#hasJoined = true;
    try {
      const removed = await removeMembers(cluster, this.#groupId, ({ clientId, memberId }) => {
        return clientId === leftoverName && memberId !== this.#member.memberId;
      });
      for (const memberId of removed) {
        logger.info({ group: this.#groupId, memberId }, 'removed what this task left in the group');
      }
    } catch (error) {
      logger.debug({ group: this.#groupId, reason: toError(error).message }, 'the members of the group are not known');
    }
  }

  #throwFailure(): void {
    const memberFailure = this.#member.takeFailure();
    const failure = this.#failure ?? memberFailure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
