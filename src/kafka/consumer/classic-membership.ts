import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { topicPartitionText, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Handover } from '../api.ts';
import type { Assignor, GroupSubscription, PartitionCounts, PartitionRacks } from '../assignors/assignor.ts';
import { createAssignor } from '../assignors/assignors.ts';
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './consumer-protocol.ts';
import { removeMembers } from '../group/group-members.ts';
import { CommitRefusedError, KafkaError, MembershipLostError } from '../errors/kafka-errors.ts';
import { GroupCoordinatorMetrics } from '../group/group-coordinator-metrics.ts';
import { GroupMember } from '../group/group-member.ts';
import type { Generation, GroupProtocol, LeaderView, MemberState } from '../group/group-protocol.ts';
import { waitIfRetriable, type OwnedPartitions } from './owned-partitions.ts';
import type { Membership, MembershipDependencies, TopicSelection } from './membership.ts';
import type { GroupIdentity } from './offsets.ts';
import { SpacedLines } from '../../observe/spaced-lines.ts';
import { backoffOf } from '../connections/retry.ts';
import type { TopicInterest } from '../connections/topic-metadata.ts';

/**
 * Group membership of a consumer with the classic protocol. Joins in the background; calls the listener only from `coordinate`,
 * `close` and `handOver`.
 *
 *   unjoined --coordinate--> joining --assigned and positioned--> ready --coordinate: onAssigned--> owning
 *   owning --rebalance--> (coordinate: onRevoked) --> joining
 *   owning --membership lost--> (coordinate: onLost) --> joining
 *   unjoined, with a handover --coordinate--> (resumes the membership) --> ready
 *
 * If all assignors are cooperative, the member keeps its partitions while it joins, revokes those that the leader took away, and
 * rejoins so that the leader can assign them to others (KIP-429).
 */
export class ClassicMembership implements GroupProtocol, Membership {
  readonly type = 'consumer';
  readonly #dependencies: MembershipDependencies;
  readonly #groupId: string;
  readonly metrics: GroupCoordinatorMetrics;
  readonly #lines: SpacedLines;
  readonly #member: GroupMember;
  readonly ownedPartitions: OwnedPartitions;
  readonly #selection: TopicSelection;
  readonly #assignors: readonly Assignor[];
  readonly #isCooperative: boolean;
  #joining: Promise<void> | undefined;
  #failure: Error | undefined;
  /** Topics of the last JoinGroup. */
  #joinedTopics: readonly string[] = [];
  /** The last generation in which this member received an assignment. */
  #lastGeneration: number | undefined;
  /** Partition counts at the last assignment. Set on the leader only. */
  #assignedCounts: PartitionCounts | undefined;
  #groupTopics: readonly string[] = [];
  #startOver = false;
  #closed = false;
  #hasJoined = false;
  /** Set after a handover was resumed, until this member joins the group. */
  #isUnconfirmed = false;
  /** Handover of the previous consumer, until it is resumed. */
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
    this.ownedPartitions = dependencies.ownedPartitions;
    this.#lines = new SpacedLines(dependencies.logger);
    this.#assignors = config.assignors.map(createAssignor);
    this.#isCooperative = this.#assignors.every(({ isCooperative }) => isCooperative);
    this.metrics = new GroupCoordinatorMetrics(config.connection.metricWindow);
    const onState = (state: MemberState): void => {
      if (state !== 'joining') dependencies.notify();
    };
    this.#member = new GroupMember(dependencies.cluster, options, this, onState, dependencies.logger, this.metrics);
  }

  interest(): TopicInterest {
    const { connection, topicDiscoveryMs, allowAutoCreateTopics: mayCreate } = this.#dependencies.config;
    if (typeof this.#selection === 'function') return { topics: 'all', maxAgeMs: topicDiscoveryMs };
    const own = new Set(this.#selection);
    const others = new Set(this.#groupTopics.filter((topic) => !own.has(topic)));
    return { topics: [...own, ...others], maxAgeMs: connection.metadataMaxAgeMs, mayCreate, others };
  }

  /**
   * Requests a rebalance if the topics that match the subscribed pattern have changed. The leader also requests one if
   * the partition count of a topic of the group has changed.
   */
  onMetadata(): void {
    const { metadata, positions } = this.#dependencies;
    positions.newPartitions.note(
      metadata.partitionCounts,
      typeof this.#selection === 'function' ? 'all' : this.#selection,
    );
    if (this.#member.state !== 'stable') return;
    const topics = this.#selectedTopics();
    if (typeof this.#selection === 'function' && topics.join() !== this.#joinedTopics.join()) {
      this.#member.requestRejoin('the topics matching the subscription have changed');
      return;
    }
    const counts = this.#dependencies.metadata.partitionCounts;
    const changed = this.#groupTopics.find((topic) => counts.get(topic) !== this.#assignedCounts?.get(topic));
    if (changed !== undefined && this.#member.generation?.isLeader === true) {
      this.#member.requestRejoin(`the partition count of topic ${changed} has changed`);
    }
  }

  /** Releases the partitions and determines their positions again in a rebalance. */
  onDiverged(topic: string): void {
    this.#startOver = true;
    this.#member.requestRejoin(`the log of topic ${topic} has diverged from the records that were read`);
    this.#dependencies.notify();
  }

  async coordinate(): Promise<void> {
    const { state } = this.#member;
    if (state === 'lost' || state === 'failed') {
      await this.ownedPartitions.release('lost');
      this.#lastGeneration = undefined;
      // The group rejected the resumed membership, so a stale member of this task may exist under another member id.
      if (this.#isUnconfirmed) this.#hasJoined = false;
    }
    this.#throwFailure();
    if (this.#joining === undefined && state !== 'stable' && state !== 'joining') {
      if (!this.#isCooperative || this.#startOver) await this.ownedPartitions.release('revoked');
      this.#startOver = false;
      this.ownedPartitions.discardReady();
      this.#joining = this.#join().finally(() => {
        this.#joining = undefined;
        this.#dependencies.notify();
      });
    } else if (this.ownedPartitions.isReady && state === 'stable') {
      // Rejoins even if the listener failed, because the leader waits for the revoked partitions.
      let hasRevoked = true;
      try {
        hasRevoked = await this.ownedPartitions.apply();
      } finally {
        if (hasRevoked) this.#member.requestRejoin('partitions were revoked for other members');
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
      await this.#releaseAll(timeoutMs);
    } finally {
      await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
  }

  /** Only possible with a leftover name. If the handover is lost, the next consumer uses this name to remove the member. */
  async handOver(timeoutMs: number): Promise<Handover | undefined> {
    const deadline = Date.now() + timeoutMs;
    let generation: Generation | undefined;
    try {
      const inTime = await this.#releaseAll(timeoutMs);
      if (inTime && this.#dependencies.config.leftoverName !== undefined) generation = this.#member.detach();
    } finally {
      if (generation === undefined) await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
    return generation && this.#toHandover(generation);
  }

  /** Returns false if the listener did not finish in time. */
  async #releaseAll(timeoutMs: number): Promise<boolean> {
    this.#closed = true;
    const lost = this.#member.state === 'lost' || this.#member.state === 'failed';
    const inTime = await within(this.ownedPartitions.release(lost ? 'lost' : 'revoked'), timeoutMs);
    if (!inTime)
      this.#dependencies.logger.warn({ timeoutMs }, 'Partitions were not released in time; leaving the group');
    return inTime;
  }

  #toHandover({ memberId, generationId, isLeader, protocol, assignment }: Generation): Handover {
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
      owned: this.ownedPartitions.owned,
      generationId: this.#lastGeneration,
      rackId: this.#dependencies.config.rackId,
    };
    return this.#assignors.map((assignor) => {
      return {
        name: assignor.name,
        metadata: encodeSubscription({ ...subscription, userData: assignor.userData?.() }),
      };
    });
  }

  async assign({ protocol, generationId, skipsAssignment, members }: LeaderView): Promise<ReadonlyMap<string, Buffer>> {
    const subscriptions = members.flatMap((member) => this.#subscriptionOf(member));
    this.#groupTopics = [...new Set(subscriptions.flatMap(({ topics }) => topics))];
    await this.#dependencies.metadata.update();
    const counts = this.#dependencies.metadata.partitionCounts;
    this.#assignedCounts = counts;
    if (skipsAssignment) return new Map();
    const assignor = this.#assignors.find(({ name }) => name === protocol);
    if (assignor === undefined)
      throw new Error(`The group selected the assignor ${protocol}, which this member does not support`);
    const assignment = assignor.assign(subscriptions, await this.#replicaRacks(counts, subscriptions));
    const fields = { group: this.#groupId, generationId, assignor: protocol, members: assignment.size };
    this.#dependencies.logger.debug(fields, 'Computed the assignment as the group leader');
    return new Map([...assignment].map(([memberId, partitions]) => [memberId, encodeAssignment(partitions)]));
  }

  /** A member with an unreadable subscription is excluded from the assignment, so that it does not block the others. */
  #subscriptionOf({ memberId, instanceId, metadata }: LeaderView['members'][number]): GroupSubscription[] {
    try {
      return [{ memberId, instanceId, ...decodeSubscription(metadata) }];
    } catch (error) {
      this.#lines.log(
        'warn',
        { memberId, reason: toError(error).message },
        'Cannot read the subscription of a group member; assigning no partitions to it',
      );
      return [];
    }
  }

  /**
   * Returns the partitions that the leader assigned. If the assignment cannot be parsed or contains topics that this member did
   * not subscribe to, logs a warning and returns `undefined`.
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
        'The assignment contains a topic that this member did not subscribe to; rejoining',
      );
    } catch (error) {
      const fields = { leaderId, reason: toError(error).message };
      this.#lines.log('warn', fields, 'The assignment cannot be read; rejoining');
    }
    return undefined;
  }

  #isSelected(topic: string): boolean {
    const selection = this.#selection;
    if (typeof selection !== 'function') return selection.includes(topic);
    const { metadata, config } = this.#dependencies;
    return selection(topic) && !(config.excludeInternalTopics && metadata.isInternal(topic));
  }

  /** Requests the racks of the replicas only if a member has a rack. */
  async #replicaRacks(counts: PartitionCounts, members: readonly GroupSubscription[]): Promise<PartitionRacks> {
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
    const { metadata, cluster, logger } = this.#dependencies;
    try {
      while (!metadata.known && !this.#closed) await metadata.update().catch(waitIfRetriable(backoffOf(cluster)));
      this.#groupTopics = [];
      const generation = this.#resumeHandover() ?? (await this.#joinGroup());
      const partitions = this.#assignedBy(generation);
      if (partitions === undefined) {
        // Waits, to limit the rate of rebalances in case the leader repeats the invalid assignment.
        await idle(this.#dependencies.config.heartbeatIntervalMs);
        this.#member.requestRejoin('the assignment does not match the subscription');
        return;
      }
      const { memberId, generationId } = generation;
      const fields = { group: this.#groupId, memberId, generationId, partitions: partitions.map(topicPartitionText) };
      logger.debug(fields, 'Received an assignment');
      this.#lastGeneration = generationId;
      const assignor = this.#assignors.find(({ name }) => name === generation.protocol);
      assignor?.onAssignment?.(partitions, generationId);
      const isCurrent = (): boolean => this.#member.generation === generation && this.#member.state === 'stable';
      await this.ownedPartitions.prepare(partitions, isCurrent, () => this.identity());
    } catch (error) {
      if (!this.#closed && !(error instanceof MembershipLostError)) this.#failure = toError(error);
    }
  }

  async #joinGroup(): Promise<Generation> {
    this.#isUnconfirmed = false;
    await this.#removeLeftover();
    return this.#member.join(this.ownedPartitions.announced);
  }

  /**
   * Resumes the membership of the handover. Returns `undefined` if there is no handover, or if its group, assignor or topics do
   * not match; the caller then joins the group.
   */
  #resumeHandover(): Generation | undefined {
    const handover = this.#handover;
    this.#handover = undefined;
    if (handover === undefined || handover.groupId !== this.#groupId) return undefined;
    const { memberId, generationId, isLeader, protocol, topics, partitions } = handover;
    const isKnown = this.#assignors.some(({ name }) => name === protocol);
    if (!isKnown || topics.join() !== this.#selectedTopics().join()) return undefined;
    this.#hasJoined = true;
    this.#isUnconfirmed = true;
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

  /**
   * Removes the member that a previous process of this task left behind. Otherwise its partitions would stay unread until its
   * session times out.
   */
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
        logger.info({ group: this.#groupId, memberId }, 'Removed the stale group member of a previous instance');
      }
    } catch (error) {
      logger.debug({ group: this.#groupId, reason: toError(error).message }, 'Failed to remove stale group members');
    }
  }

  #throwFailure(): void {
    const memberFailure = this.#member.takeFailure();
    const failure = this.#failure ?? memberFailure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
