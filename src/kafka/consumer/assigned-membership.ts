import { within } from '../../async/within.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import { ErrorCode } from '../error-codes.ts';
import { CommitRefusedError, KafkaError } from '../errors.ts';
import { GroupFigures } from '../group/group-figures.ts';
import type { PartitionsById } from '../group/consumer-heartbeat-protocol.ts';
import { HeartbeatMember, type HeartbeatSubscription } from '../group/heartbeat-member.ts';
import type { TopicInterest } from '../connections/topic-metadata.ts';
import type { HeldPartitions } from './held-partitions.ts';
import type { Membership, MembershipDependencies, TopicSelection } from './membership.ts';
import type { GroupIdentity } from './offsets.ts';

/** Names of topics that brokers keep for themselves (org.apache.kafka.common.internals.Topic). */
const INTERNAL_TOPICS = ['__consumer_offsets', '__transaction_state', '__share_group_state'];

/** A partition that the broker gives this member, with the id of its topic. */
interface Given extends TopicPartition {
  readonly topicId: string;
}

/**
 * The consumer's side of a group whose broker divides the partitions (`group.protocol=consumer`, KIP-848). What goes is given up at
 * once, and the broker is told when the listener is done with it: only then others get it. What comes is handed out when its
 * positions are known.
 *
 *   apart --coordinate--> joining --target--> preparing --coordinate: onAssigned--> owning
 *   owning --another target--> (coordinate: onRevoked of what goes, told to the broker) --> preparing
 *   owning --fenced--> (coordinate: onLost) --> joining
 *
 * One class, because what the broker wants is compared with what is held at every step.
 */
export class AssignedMembership implements Membership {
  readonly #dependencies: MembershipDependencies;
  readonly #groupId: string;
  readonly #selection: TopicSelection;
  readonly figures: GroupFigures;
  readonly #member: HeartbeatMember;
  readonly #held: HeldPartitions;
  /** Ids of the topics of what is held, by partition. */
  #heldIds = new Map<string, string>();
  #preparing: Promise<void> | undefined;
  /** What was prepared, as text. */
  #prepared: string | undefined;
  #failure: Error | undefined;
  #startOver = false;
  /** Something has changed since target and held were compared. */
  #isDue = true;
  #closed = false;
  /** The broker takes Java's regular expression as RE2. */
  #brokerMatches: boolean;

  constructor(dependencies: MembershipDependencies, groupId: string, selection: TopicSelection) {
    const { cluster, config, logger, notify, positions } = dependencies;
    const { instanceId, rackId, rebalanceTimeoutMs, remoteAssignor: assignor, leftoverName } = config;
    this.#dependencies = dependencies;
    this.#groupId = groupId;
    this.#selection = selection;
    this.#held = dependencies.held;
    const options = { groupId, instanceId, rackId, rebalanceTimeoutMs, assignor, leftoverName };
    this.figures = new GroupFigures(config.connection.metricWindow);
    const onChange = (): void => {
      this.#isDue = true;
      notify();
    };
    this.#member = new HeartbeatMember(cluster, options, onChange, logger, this.figures);
    this.#brokerMatches = typeof selection === 'function' && selection.pattern !== undefined && this.#hidesNothing();
    positions.reader = () => this.identity();
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
    return { topics: this.#selection, maxAgeMs: connection.metadataMaxAgeMs, mayCreate };
  }

  /** Topics that the selection takes now are told to the broker, where it does not find them itself. */
  onMetadata(): void {
    const { metadata, positions, notify } = this.#dependencies;
    const isPredicate = typeof this.#selection === 'function';
    positions.newPartitions.note(metadata.partitionCounts, isPredicate ? 'all' : this.#selection);
    if (this.#member.state === 'stable' && isPredicate) this.#member.subscribe(this.#subscription());
    this.#isDue = true;
    notify();
  }

  /** What was handed out is settled, and positions are found again; the group need not know. */
  onDiverged(): void {
    this.#startOver = true;
    this.#isDue = true;
    this.#dependencies.notify();
  }

  async coordinate(): Promise<void> {
    const { state } = this.#member;
    if (state === 'fenced' || state === 'failed') {
      await this.#held.giveUp('lost');
      this.#heldIds = new Map();
    }
    this.#throwFailure();
    if (state === 'unjoined' || state === 'fenced' || state === 'failed') {
      if (this.#dependencies.metadata.known) this.#member.join(this.#subscription());
      return;
    }
    if (state !== 'stable' || this.#preparing !== undefined || !this.#isDue) return;
    this.#isDue = false;
    const { target } = this.#member;
    if (target === undefined) return;
    const given = this.#named(target);
    if (this.#startOver) {
      this.#startOver = false;
      await this.#held.giveUp('revoked');
    }
    await this.#reconcile(target, given);
  }

  identity(): GroupIdentity {
    const { epoch, memberId } = this.#member;
    if (epoch === undefined) {
      throw new CommitRefusedError(
        `Offset commit of group ${this.#groupId} cannot be completed since the consumer is not part of an active group`,
      );
    }
    const { instanceId } = this.#dependencies.config;
    return { groupId: this.#groupId, memberId, generationId: epoch, instanceId, isByEpoch: true };
  }

  onCommitRefused(): void {
    this.#member.hurry();
  }

  async close(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    this.#closed = true;
    const lost = this.#member.state === 'fenced' || this.#member.state === 'failed';
    try {
      const inTime = await within(this.#held.giveUp(lost ? 'lost' : 'revoked'), timeoutMs);
      if (!inTime)
        this.#dependencies.logger.warn({ timeoutMs }, 'the partitions were not given back in time, leaving the group');
    } finally {
      await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
  }

  /** Of these groups the place is not kept. */
  async handOver(timeoutMs: number): Promise<undefined> {
    await this.close(timeoutMs);
  }

  async #reconcile(target: PartitionsById, given: readonly Given[]): Promise<void> {
    const givenIds = new Map(given.map((each) => [keyOf(each), each.topicId]));
    const kept = this.owned.filter((place) => givenIds.get(keyOf(place)) === this.#heldIds.get(keyOf(place)));
    if (kept.length < this.owned.length) {
      this.#held.offer(kept);
      await this.#settle(target, given);
    }
    const wanted = JSON.stringify([...givenIds]);
    if (this.#held.isReady && wanted === this.#prepared) await this.#settle(target, given);
    else if (!this.#held.announced || kept.length < given.length) this.#prepare(given, wanted);
    else {
      this.#held.forgetReady();
      this.#tellHeld(target, given);
    }
  }

  /** Tells the listener, then the broker, also when the listener has failed: what is given up is given up. */
  async #settle(target: PartitionsById, given: readonly Given[]): Promise<void> {
    const beganAt = Date.now();
    try {
      await this.#held.settle();
    } finally {
      this.figures.answered('sync', beganAt);
      this.#tellHeld(target, given);
    }
    this.onMetadata();
  }

  #tellHeld(target: PartitionsById, given: readonly Given[]): void {
    const owned = new Set(this.owned.map(keyOf));
    const held = given.filter((each) => owned.has(keyOf(each)));
    this.#heldIds = new Map(held.map((each) => [keyOf(each), each.topicId]));
    const byId = new Map<string, number[]>();
    for (const { topicId, partition } of held) {
      const partitions = byId.get(topicId);
      if (partitions === undefined) byId.set(topicId, [partition]);
      else partitions.push(partition);
    }
    this.#member.hold(byId, target);
  }

  #prepare(given: readonly Given[], wanted: string): void {
    const from = this.#member.target;
    const isCurrent = (): boolean => this.#member.state === 'stable' && this.#member.target === from && !this.#closed;
    this.#prepared = wanted;
    const places = given.map(({ topic, partition }) => ({ topic, partition }));
    this.#preparing = this.#held
      .prepare(places, isCurrent, () => this.identity())
      .catch((error: unknown) => {
        if (isCurrent()) this.#failure = toError(error);
      })
      .finally(() => {
        this.#preparing = undefined;
        this.#isDue = true;
        this.#dependencies.notify();
      });
  }

  /** Partitions of topics whose names are not known yet come later. */
  #named(target: PartitionsById): readonly Given[] {
    const { metadata } = this.#dependencies;
    const given: Given[] = [];
    for (const [topicId, partitions] of target) {
      const topic = metadata.topicName(topicId);
      if (topic === undefined) metadata.requestUpdate();
      else for (const partition of partitions) given.push({ topic, partition, topicId });
    }
    return given;
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

  /** Brokers do not leave out their internal topics. */
  #hidesNothing(): boolean {
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
    this.#dependencies.logger.info({ reason: failure.message }, 'topics are matched here, not by the broker');
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}
