import { within } from '../../async/within.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { CommitRefusedError, KafkaError } from '../errors/kafka-errors.ts';
import { GroupCoordinatorMetrics } from '../group/group-coordinator-metrics.ts';
import type { PartitionsById } from '../group/consumer-heartbeat-protocol.ts';
import { HeartbeatMember } from '../group/heartbeat-member.ts';
import type { HeartbeatSubscription } from '../group/member-report.ts';
import type { TopicInterest } from '../connections/topic-metadata.ts';
import type { OwnedPartitions } from './owned-partitions.ts';
import type { Membership, MembershipDependencies, TopicSelection } from './membership.ts';
import type { GroupIdentity } from './offsets.ts';

/** Internal topics (org.apache.kafka.common.internals.Topic). */
const INTERNAL_TOPICS = ['__consumer_offsets', '__transaction_state', '__share_group_state'];

interface AssignedPartition extends TopicPartition {
  readonly topicId: string;
}

/**
 * Group membership of a consumer with `group.protocol=consumer`, where the broker assigns the partitions (KIP-848). Revoked
 * partitions are released immediately. The broker assigns them to other members after the listener has finished and a heartbeat
 * has reported the release. New partitions are announced to the listener when their positions are known.
 *
 *   unjoined --coordinate--> joining --target--> preparing --coordinate: onAssigned--> owning
 *   owning --new target--> (coordinate: onRevoked, reported to the broker) --> preparing
 *   owning --fenced--> (coordinate: onLost) --> joining
 */
export class BrokerAssignedMembership implements Membership {
  readonly #dependencies: MembershipDependencies;
  readonly #groupId: string;
  readonly #selection: TopicSelection;
  readonly metrics: GroupCoordinatorMetrics;
  readonly #member: HeartbeatMember;
  readonly ownedPartitions: OwnedPartitions;
  #ownedTopicIds = new Map<string, string>();
  #preparing: Promise<void> | undefined;
  #prepared: string | undefined;
  #failure: Error | undefined;
  #startOver = false;
  /** Set if the target, the owned partitions or the topic names may have changed since the last reconciliation. */
  #needsReconciliation = true;
  #closed = false;
  /** Whether the broker evaluates the subscription pattern (as RE2). */
  #brokerMatches: boolean;

  constructor(dependencies: MembershipDependencies, groupId: string, selection: TopicSelection) {
    const { cluster, config, logger, notify, positions } = dependencies;
    const { instanceId, rackId, rebalanceTimeoutMs, remoteAssignor: assignor, leftoverName } = config;
    this.#dependencies = dependencies;
    this.#groupId = groupId;
    this.#selection = selection;
    this.ownedPartitions = dependencies.ownedPartitions;
    const options = { groupId, instanceId, rackId, rebalanceTimeoutMs, assignor, leftoverName };
    this.metrics = new GroupCoordinatorMetrics(config.connection.metricWindow);
    const onChange = (): void => {
      this.#needsReconciliation = true;
      notify();
    };
    this.#member = new HeartbeatMember(cluster, options, onChange, logger, this.metrics);
    this.#brokerMatches = typeof selection === 'function' && selection.pattern !== undefined && this.#mayBrokerMatch();
    positions.reader = () => this.identity();
  }

  interest(): TopicInterest {
    const { connection, topicDiscoveryMs, allowAutoCreateTopics: mayCreate } = this.#dependencies.config;
    if (typeof this.#selection === 'function') return { topics: 'all', maxAgeMs: topicDiscoveryMs };
    return { topics: this.#selection, maxAgeMs: connection.metadataMaxAgeMs, mayCreate };
  }

  /**
   * For a pattern that this client evaluates, sends the names of the matching topics to the broker if they have
   * changed.
   */
  onMetadata(): void {
    const { metadata, positions, notify } = this.#dependencies;
    const isPredicate = typeof this.#selection === 'function';
    positions.newPartitions.note(metadata.partitionCounts, isPredicate ? 'all' : this.#selection);
    if (this.#member.state === 'stable' && isPredicate) this.#member.subscribe(this.#subscription());
    this.#needsReconciliation = true;
    notify();
  }

  /** Releases the partitions and determines their positions again. The group is not involved. */
  onDiverged(): void {
    this.#startOver = true;
    this.#needsReconciliation = true;
    this.#dependencies.notify();
  }

  async coordinate(): Promise<void> {
    const { state } = this.#member;
    if (state === 'fenced' || state === 'failed') {
      await this.ownedPartitions.release('lost');
      this.#ownedTopicIds = new Map();
    }
    this.#throwFailure();
    if (state === 'unjoined' || state === 'fenced' || state === 'failed') {
      if (this.#dependencies.metadata.known) this.#member.join(this.#subscription());
      return;
    }
    if (state !== 'stable' || this.#preparing !== undefined || !this.#needsReconciliation) return;
    this.#needsReconciliation = false;
    const { target } = this.#member;
    if (target === undefined) return;
    const assigned = this.#withTopicNames(target);
    if (this.#startOver) {
      this.#startOver = false;
      await this.ownedPartitions.release('revoked');
    }
    await this.#reconcile(target, assigned);
  }

  identity(): GroupIdentity {
    const { epoch, memberId } = this.#member;
    if (epoch === undefined) {
      throw new CommitRefusedError(
        `Offset commit of group ${this.#groupId} cannot be completed since the consumer is not part of an active group`,
      );
    }
    const { instanceId } = this.#dependencies.config;
    return { groupId: this.#groupId, memberId, generationId: epoch, instanceId, isEpochMember: true };
  }

  onCommitRefused(): void {
    this.#member.heartbeatNow();
  }

  async close(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    this.#closed = true;
    const lost = this.#member.state === 'fenced' || this.#member.state === 'failed';
    try {
      const inTime = await within(this.ownedPartitions.release(lost ? 'lost' : 'revoked'), timeoutMs);
      if (!inTime)
        this.#dependencies.logger.warn({ timeoutMs }, 'Partitions were not released in time; leaving the group');
    } finally {
      await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
  }

  /** Leaves the group, because a membership of this protocol cannot be handed over. */
  async handOver(timeoutMs: number): Promise<undefined> {
    await this.close(timeoutMs);
  }

  async #reconcile(target: PartitionsById, assigned: readonly AssignedPartition[]): Promise<void> {
    const assignedIds = new Map(assigned.map((each) => [keyOf(each), each.topicId]));
    const kept = this.ownedPartitions.owned.filter(
      (tp) => assignedIds.get(keyOf(tp)) === this.#ownedTopicIds.get(keyOf(tp)),
    );
    if (kept.length < this.ownedPartitions.owned.length) {
      this.ownedPartitions.keepOnly(kept);
      await this.#applyReady(target, assigned);
    }
    const wanted = JSON.stringify([...assignedIds]);
    if (this.ownedPartitions.isReady && wanted === this.#prepared) await this.#applyReady(target, assigned);
    else if (!this.ownedPartitions.announced || kept.length < assigned.length) this.#prepare(assigned, wanted);
    else {
      this.ownedPartitions.discardReady();
      this.#reportOwned(target, assigned);
    }
  }

  /**
   * Notifies the listener, then the broker. The broker is notified even if the listener fails, because the partitions are
   * released in either case.
   */
  async #applyReady(target: PartitionsById, assigned: readonly AssignedPartition[]): Promise<void> {
    const beganAt = Date.now();
    try {
      await this.ownedPartitions.apply();
    } finally {
      this.metrics.answered('sync', beganAt);
      this.#reportOwned(target, assigned);
    }
    this.onMetadata();
  }

  #reportOwned(target: PartitionsById, assigned: readonly AssignedPartition[]): void {
    const owned = new Set(this.ownedPartitions.owned.map(keyOf));
    const ownedPartitions = assigned.filter((each) => owned.has(keyOf(each)));
    this.#ownedTopicIds = new Map(ownedPartitions.map((each) => [keyOf(each), each.topicId]));
    const byId = new Map<string, number[]>();
    for (const { topicId, partition } of ownedPartitions) {
      const partitions = byId.get(topicId);
      if (partitions === undefined) byId.set(topicId, [partition]);
      else partitions.push(partition);
    }
    this.#member.reportOwned(byId, target);
  }

  #prepare(assigned: readonly AssignedPartition[], wanted: string): void {
    const from = this.#member.target;
    const isCurrent = (): boolean => this.#member.state === 'stable' && this.#member.target === from && !this.#closed;
    this.#prepared = wanted;
    const partitions = assigned.map(({ topic, partition }) => ({ topic, partition }));
    this.#preparing = this.ownedPartitions
      .prepare(partitions, isCurrent, () => this.identity())
      .catch((error: unknown) => {
        if (isCurrent()) this.#failure = toError(error);
      })
      .finally(() => {
        this.#preparing = undefined;
        this.#needsReconciliation = true;
        this.#dependencies.notify();
      });
  }

  /** Omits partitions whose topic name is not known yet. */
  #withTopicNames(target: PartitionsById): readonly AssignedPartition[] {
    const { metadata } = this.#dependencies;
    const assigned: AssignedPartition[] = [];
    for (const [topicId, partitions] of target) {
      const topic = metadata.topicName(topicId);
      if (topic === undefined) metadata.requestUpdate();
      else for (const partition of partitions) assigned.push({ topic, partition, topicId });
    }
    return assigned;
  }

  #subscription(): HeartbeatSubscription {
    const selection = this.#selection;
    if (typeof selection !== 'function') return { topics: [...new Set(selection)].sort(), regex: '' };
    if (this.#brokerMatches) return { topics: [], regex: selection.pattern ?? '' };
    const { metadata, config } = this.#dependencies;
    const visible = [...metadata.partitionCounts.keys()].filter(
      (topic) => !(config.excludeInternalTopics && metadata.isInternal(topic)) && selection(topic),
    );
    return { topics: visible.sort(), regex: '' };
  }

  /** False for a pattern that matches internal topics which the consumer excludes, because the broker would include them. */
  #mayBrokerMatch(): boolean {
    const { config } = this.#dependencies;
    const selection = this.#selection;
    if (typeof selection !== 'function') return true;
    return !(config.excludeInternalTopics && INTERNAL_TOPICS.some((topic) => selection(topic)));
  }

  #throwFailure(): void {
    const memberFailure = this.#member.takeFailure();
    const failure = this.#failure ?? memberFailure;
    this.#failure = undefined;
    if (failure === undefined) return;
    const isRefusedRegex = failure instanceof KafkaError && failure.code === ErrorCode.invalidRegularExpression;
    if (!isRefusedRegex || !this.#brokerMatches) throw failure;
    this.#brokerMatches = false;
    this.#dependencies.logger.info(
      { reason: failure.message },
      'Broker rejected the subscription pattern; evaluating it in the client',
    );
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
