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
import type { GroupProtocol, LeaderView, MemberState } from '../group/group-protocol.ts';
import type { GroupIdentity } from './offsets.ts';
import { Backoff, idle, within } from '../retry.ts';
import type { StartPositions } from './start-positions.ts';
import type { TopicInterest, TopicMetadata } from '../topic-metadata.ts';

export type TopicSelection = readonly string[] | ((topic: string) => boolean);

export interface MembershipParts {
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
 */
export class ConsumerMembership implements GroupProtocol {
  readonly type = 'consumer';
  readonly #parts: MembershipParts;
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

  constructor(parts: MembershipParts, groupId: string, selection: TopicSelection, listener: RebalanceListener) {
    const { config } = parts;
    const options = {
      groupId,
      sessionTimeoutMs: config.sessionTimeoutMs,
      rebalanceTimeoutMs: config.rebalanceTimeoutMs,
      heartbeatIntervalMs: config.heartbeatIntervalMs,
    };
    this.#parts = parts;
    this.#groupId = groupId;
    this.#selection = selection;
    this.#listener = listener;
    const onState = (state: MemberState): void => {
      if (state !== 'joining') parts.notify();
    };
    this.#member = new GroupMember(parts.cluster, options, this, onState, parts.logger);
  }

  get owned(): readonly TopicPartition[] {
    return this.#owned ?? [];
  }

  /** True from `onAssigned` until the partitions are given up; records are handed out only then. */
  get announced(): boolean {
    return this.#owned !== undefined;
  }

  interest(): TopicInterest {
    const { connection, topicDiscoveryMs } = this.#parts.config;
    if (typeof this.#selection === 'function') return { topics: 'all', maxAgeMs: topicDiscoveryMs };
    const topics = new Set([...this.#selection, ...this.#groupTopics]);
    return { topics: [...topics], maxAgeMs: connection.metadataMaxAgeMs };
  }

  /** New topics that the selection takes, or new partitions of topics the leader dealt out, ask for a new round. */
  onMetadata(): void {
    if (this.#member.state !== 'stable') return;
    const topics = this.#selectedTopics();
    if (typeof this.#selection === 'function' && topics.join() !== this.#joinedTopics.join()) {
      this.#member.requestRejoin('the topics that match the subscription have changed');
      return;
    }
    const counts = this.#parts.metadata.partitionCounts;
    const changed = this.#groupTopics.find((topic) => counts.get(topic) !== this.#assignedCounts?.get(topic));
    if (changed !== undefined && this.#member.generation?.isLeader === true) {
      this.#member.requestRejoin(`the partitions of topic ${changed} have changed`);
    }
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
        this.#parts.notify();
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
      const inTime = await within(timeoutMs, this.#giveUp(lost ? 'lost' : 'revoked'));
      if (!inTime)
        this.#parts.logger.warn({ timeoutMs }, 'the partitions were not given back in time, leaving the group');
    } finally {
      await this.#member.leave(Math.max(0, deadline - Date.now()));
    }
  }

  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[] {
    this.#joinedTopics = this.#selectedTopics();
    const metadata = encodeSubscription(this.#joinedTopics);
    return this.#parts.config.assignors.map((name) => ({ name, metadata }));
  }

  async assign({ protocol, members }: LeaderView): Promise<ReadonlyMap<string, Buffer>> {
    const subscriptions = members.map(({ memberId, metadata }) => ({
      memberId,
      topics: decodeSubscription(metadata).topics,
    }));
    this.#groupTopics = [...new Set(subscriptions.flatMap(({ topics }) => topics))];
    await this.#parts.metadata.update();
    const counts = this.#parts.metadata.partitionCounts;
    this.#assignedCounts = counts;
    const assignor = ASSIGNORS[protocol as AssignorName];
    const assignment = assignor(subscriptions, counts);
    return new Map([...assignment].map(([memberId, partitions]) => [memberId, encodeAssignment(partitions)]));
  }

  #selectedTopics(): readonly string[] {
    const selection = this.#selection;
    if (typeof selection !== 'function') return [...selection].sort();
    const { metadata, config } = this.#parts;
    const visible = [...metadata.partitionCounts.keys()].filter(
      (topic) => !(config.excludeInternalTopics && metadata.isInternal(topic)) && selection(topic),
    );
    return visible.sort();
  }

  async #join(): Promise<void> {
    const { metadata, fetcher, cluster } = this.#parts;
    const backoff = Backoff.of(cluster);
    try {
      while (!metadata.known && !this.#closed) await metadata.update().catch(waitIfRetriable(backoff));
      this.#groupTopics = [];
      await this.#removeNamesake();
      const generation = await this.#member.join();
      const partitions = decodeAssignment(generation.assignment);
      fetcher.assign(partitions);
      const isCurrent = (): boolean => this.#member.generation === generation && this.#member.state === 'stable';
      backoff.reset();
      while (isCurrent() && this.#parts.positions.needed) {
        await this.#parts.positions.resolve().catch(waitIfRetriable(backoff));
      }
      if (isCurrent()) this.#granted = partitions;
    } catch (error) {
      if (!this.#closed) this.#failure = toError(error);
    }
  }

  /** What a consumer under the same client id left when its process died; its partitions would wait for its session to end. */
  async #removeNamesake(): Promise<void> {
    const { cluster, config, logger } = this.#parts;
    if (!config.replacesNamesake || this.#hasJoined) return;
    this.#hasJoined = true;
    try {
      const { clientId } = config.connection;
      const removed = await removeMembers(cluster, this.#groupId, (member) => member.clientId === clientId);
      for (const memberId of removed) {
        logger.info({ group: this.#groupId, memberId }, 'removed what a consumer of this name left in the group');
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
        this.#parts.logger.info({ partitions: partitions.map(partitionText) }, `partitions ${how}`);
        await (how === 'lost' ? this.#listener.onLost(partitions) : this.#listener.onRevoked(partitions));
      }
    } finally {
      this.#owned = undefined;
      this.#parts.fetcher.assign([]);
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
