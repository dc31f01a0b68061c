import type { Backoff } from '../../async/backoff.ts';
import { idle } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { RebalanceListener } from '../api.ts';
import { ASSIGNORS, type AssignorName, type PartitionCounts } from './assignor.ts';
import type { Cluster } from '../cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from './consumer-protocol.ts';
import { removeMembers } from '../group/group-members.ts';
import { CommitRefusedError, KafkaError, isRetriable } from '../errors.ts';
import type { Fetcher } from './fetcher.ts';
import { GroupMember } from '../group/group-member.ts';
import type { Generation, GroupProtocol, LeaderView, MemberState } from '../group/group-protocol.ts';
import { commitOffsets, type GroupIdentity } from './offsets.ts';
import { backoffOf } from '../retry.ts';
import type { StartPositions } from './start-positions.ts';
import type { TopicInterest, TopicMetadata } from '../topic-metadata.ts';

export type TopicSelection = readonly string[] | ((topic: string) => boolean);

export interface MembershipDependencies {
  readonly cluster: Cluster;
  readonly metadata: TopicMetadata;
  readonly fetcher: Fetcher;
  readonly positions: StartPositions;
  readonly config: ConsumerConfig;
  readonly logger: Logger;
  /** Something happened that `coordinate` should look at. */
  readonly notify: () => void;
}

/**
 * The consumer's side of its group: joins in the background, calls the listener only from `coordinate`.
 *
 *   apart --coordinate--> joining --assigned and positioned--> granted --coordinate: onAssigned--> owning
 *   owning --rebalance--> (coordinate: onRevoked) --> joining
 *   owning --membership lost--> (coordinate: onLost) --> joining
 *
 * What was granted but never announced is given up without a word.
 *
 * One class, because what joining has brought in the background is kept, field by field, until `coordinate` announces it.
 */
export class ConsumerMembership implements GroupProtocol {
  readonly type = 'consumer';
  readonly #dependencies: MembershipDependencies;
  readonly #groupId: string;
  readonly #member: GroupMember;
  readonly #listener: RebalanceListener;
  readonly #selection: TopicSelection;
  #joining: Promise<void> | undefined;
  #givingUp: Promise<void> | undefined;
  #granted: readonly TopicPartition[] | undefined;
  #owned: readonly TopicPartition[] | undefined;
  #failure: Error | undefined;
  /** What this member told the group when it last joined. */
  #joinedTopics: readonly string[] = [];
  /** Leader only: all topics of the group, with the partition counts the last assignment was made for. */
  #assignedCounts: PartitionCounts | undefined;
  #groupTopics: readonly string[] = [];
  #closed = false;
  #hasJoined = false;

  constructor(
    dependencies: MembershipDependencies,
    groupId: string,
    selection: TopicSelection,
    listener: RebalanceListener,
  ) {
    const { config } = dependencies;
    const options = {
      groupId,
      sessionTimeoutMs: config.sessionTimeoutMs,
      rebalanceTimeoutMs: config.rebalanceTimeoutMs,
      heartbeatIntervalMs: config.heartbeatIntervalMs,
    };
    this.#dependencies = dependencies;
    this.#groupId = groupId;
    this.#selection = selection;
    this.#listener = listener;
    const onState = (state: MemberState): void => {
      if (state !== 'joining') dependencies.notify();
    };
    this.#member = new GroupMember(dependencies.cluster, options, this, onState, dependencies.logger);
  }

  get owned(): readonly TopicPartition[] {
    return this.#owned ?? [];
  }

  /** True from `onAssigned` until the partitions are given up; records are handed out only then. */
  get announced(): boolean {
    return this.#owned !== undefined;
  }

  interest(): TopicInterest {
    const { connection, topicDiscoveryMs, allowAutoCreateTopics: mayCreate } = this.#dependencies.config;
    if (typeof this.#selection === 'function') return { topics: 'all', maxAgeMs: topicDiscoveryMs };
    const topics = new Set([...this.#selection, ...this.#groupTopics]);
    return { topics: [...topics], maxAgeMs: connection.metadataMaxAgeMs, mayCreate };
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
    this.#member.requestRejoin(`the log of topic ${topic} is another than the one that was read`);
    this.#dependencies.notify();
  }

  /** Calls the listener where it is due and keeps the membership going; for `poll` alone. Throws what is fatal. */
  async coordinate(): Promise<void> {
    const { state } = this.#member;
    if (state === 'lost' || state === 'failed') await this.#giveUp('lost');
    this.#throwFailure();
    if (this.#joining === undefined && state !== 'stable' && state !== 'joining') {
      await this.#giveUp('revoked');
      this.#granted = undefined;
      this.#joining = this.#join().finally(() => {
        this.#joining = undefined;
        this.#dependencies.notify();
      });
    } else if (this.#granted !== undefined && state === 'stable') {
      this.#owned = this.#granted;
      this.#granted = undefined;
      await this.#listener.onAssigned(this.#owned);
      this.onMetadata();
    }
  }

  /** Throws CommitRefusedError when there is no generation to commit in. */
  identity(): GroupIdentity {
    const { generation } = this.#member;
    if (generation === undefined) {
      throw new CommitRefusedError(
        `Offset commit of group ${this.#groupId} cannot be completed since the consumer is not part of an active group`,
      );
    }
    return { groupId: this.#groupId, memberId: generation.memberId, generationId: generation.generationId };
  }

  /** A refused commit shows that the group has moved on, often before the next heartbeat does. */
  onCommitRefused(generationId: number, { cause }: CommitRefusedError): void {
    if (cause instanceof KafkaError) this.#member.onRefusal(generationId, cause.code);
  }

  async close(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    this.#closed = true;
    const lost = this.#member.state === 'lost' || this.#member.state === 'failed';
    try {
      const inTime = await within(this.#giveUp(lost ? 'lost' : 'revoked'), timeoutMs);
      if (!inTime)
        this.#dependencies.logger.warn({ timeoutMs }, 'the partitions were not given back in time, leaving the group');
    } finally {
      await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
  }

  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[] {
    this.#joinedTopics = this.#selectedTopics();
    const metadata = encodeSubscription(this.#joinedTopics);
    return this.#dependencies.config.assignors.map((name) => ({ name, metadata }));
  }

  async assign({ protocol, members }: LeaderView): Promise<ReadonlyMap<string, Buffer>> {
    const subscriptions = members.map(({ memberId, metadata }) => ({
      memberId,
      topics: decodeSubscription(metadata).topics,
    }));
    this.#groupTopics = [...new Set(subscriptions.flatMap(({ topics }) => topics))];
    await this.#dependencies.metadata.update();
    const counts = this.#dependencies.metadata.partitionCounts;
    this.#assignedCounts = counts;
    const assignor = ASSIGNORS[protocol as AssignorName];
    const assignment = assignor(subscriptions, counts);
    return new Map([...assignment].map(([memberId, partitions]) => [memberId, encodeAssignment(partitions)]));
  }

  #selectedTopics(): readonly string[] {
    const selection = this.#selection;
    if (typeof selection !== 'function') return [...selection].sort();
    const { metadata, config } = this.#dependencies;
    const visible = [...metadata.partitionCounts.keys()].filter(
      (topic) => !(config.excludeInternalTopics && metadata.isInternal(topic)) && selection(topic),
    );
    return visible.sort();
  }

  async #join(): Promise<void> {
    const { metadata, fetcher, cluster } = this.#dependencies;
    const backoff = backoffOf(cluster);
    try {
      while (!metadata.known && !this.#closed) await metadata.update().catch(waitIfRetriable(backoff));
      this.#groupTopics = [];
      await this.#removeLeftover();
      const generation = await this.#member.join();
      const partitions = decodeAssignment(generation.assignment);
      fetcher.assign(partitions);
      const isCurrent = (): boolean => this.#member.generation === generation && this.#member.state === 'stable';
      backoff.reset();
      // Offsets are kept with the ids of topics: a topic may have been created again since the last answer.
      if (partitions.length > 0) await metadata.update().catch(waitIfRetriable(backoff));
      while (isCurrent() && this.#dependencies.positions.needed) {
        await this.#dependencies.positions.resolve().catch(waitIfRetriable(backoff));
      }
      await this.#keepBeginnings(generation);
      if (isCurrent()) this.#granted = partitions;
    } catch (error) {
      if (!this.#closed) this.#failure = toError(error);
    }
  }

  /**
   * The group is told at once where new partitions were begun: whoever gets them before anything else is committed may have come
   * after them, and would begin at their end.
   */
  async #keepBeginnings({ memberId, generationId }: Generation): Promise<void> {
    const { cluster, positions, logger } = this.#dependencies;
    const beginnings = positions.takeBeginnings();
    if (beginnings.length === 0) return;
    try {
      await commitOffsets(cluster, { groupId: this.#groupId, memberId, generationId }, beginnings);
    } catch (error) {
      const reason = toError(error).message;
      logger.debug({ group: this.#groupId, reason }, 'the beginnings of new partitions were not committed');
    }
  }

  /** What this very task left when its process died; its partitions would wait for its session to end. */
  async #removeLeftover(): Promise<void> {
    const { cluster, config, logger } = this.#dependencies;
    const { leftoverName } = config;
    if (leftoverName === undefined || this.#hasJoined) return;
    this.#hasJoined = true;
    try {
      const removed = await removeMembers(cluster, this.#groupId, (member) => member.clientId === leftoverName);
      for (const memberId of removed) {
        logger.info({ group: this.#groupId, memberId }, 'removed what this task left in the group');
      }
    } catch (error) {
      logger.debug({ group: this.#groupId, reason: toError(error).message }, 'the members of the group are not known');
    }
  }

  /** Takes the partitions away from the fetcher after the listener has had its say, once. */
  #giveUp(how: 'revoked' | 'lost'): Promise<void> {
    this.#givingUp ??= this.#tellAndDrop(how).finally(() => {
      this.#givingUp = undefined;
    });
    return this.#givingUp;
  }

  async #tellAndDrop(how: 'revoked' | 'lost'): Promise<void> {
    const partitions = this.owned;
    try {
      if (partitions.length > 0) {
        this.#dependencies.logger.info({ partitions: partitions.map(partitionText) }, `partitions ${how}`);
        await (how === 'lost' ? this.#listener.onLost(partitions) : this.#listener.onRevoked(partitions));
      }
    } finally {
      this.#owned = undefined;
      this.#dependencies.fetcher.assign([]);
    }
  }

  #throwFailure(): void {
    const memberFailure = this.#member.takeFailure();
    const failure = this.#failure ?? memberFailure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }
}

function partitionText({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}

function waitIfRetriable(backoff: Backoff): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!isRetriable(error)) throw error;
    await idle(backoff.nextMs());
  };
}
