import { BoundedMap } from '../../data/bounded-map.ts';
import { idle } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from './cluster.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { KafkaError, isRetriable } from '../errors/kafka-errors.ts';
import type { MetadataResponse } from './metadata-protocol.ts';
import { backoffOf } from './retry.ts';
import { Signal } from '../../async/signal.ts';

/** The topics whose metadata a client needs. */
export interface TopicInterest {
  readonly topics: readonly string[] | 'all';
  /** Refresh interval. */
  readonly maxAgeMs: number;
  /** Lets brokers with `auto.create.topics.enable` create missing topics. */
  readonly mayCreate?: boolean;
  /** Topics that only other members of the group read; their errors do not fail this client. */
  readonly others?: ReadonlySet<string>;
}

/** Refresh interval while a topic is missing or has no leader. */
const MISSING_TOPIC_MS = 1500;
const MISSING_GRACE_MS = 1000;
/** Minimum time between two updates. */
const MIN_INTERVAL_MS = 100;
/**
 * How long an older leader epoch is ignored. It usually comes from a broker with stale metadata; after this time it is
 * accepted.
 */
const EPOCH_WENT_BACK_MS = 5000;
/** Maximum number of ids of deleted topics to remember. */
const MAX_DELETED_IDS = 1000;

type TopicResponse = MetadataResponse['topicMetadata'][number];

interface Leader {
  /** -1 if there is currently no leader. */
  readonly node: number;
  /** -1 if unknown. */
  readonly epoch: number;
  /** Time at which a broker first reported an older leader epoch (`Date.now()`); `undefined` if none has. */
  readonly behindSince?: number | undefined;
}

/**
 * Keeps the metadata of the topics that a client needs up to date. Refreshes it after its maximum age, soon after
 * `requestUpdate`, and, for topics requested by name, every 1.5 s while a topic does not exist or a partition has no leader.
 * Runs in the background from `start` to `stop`.
 */
export class TopicMetadata {
  readonly #cluster: Cluster;
  readonly #logger: Logger;
  readonly #interest: () => TopicInterest;
  readonly #onUpdate: () => void;
  readonly #wake = new Signal();
  #counts: ReadonlyMap<string, number> = new Map();
  #leaders: ReadonlyMap<string, Leader> = new Map();
  /** Topic ids by name, including topics that are currently missing. */
  readonly #ids = new Map<string, string>();
  /** Ids of deleted topics. Ids are never reused, so a broker that reports one of these has stale metadata. */
  readonly #deletedIds = new BoundedMap<string, true>(MAX_DELETED_IDS);
  /** Since when each missing topic has been missing, and whether that was logged. */
  readonly #missing = new Map<string, { readonly since: number; logged: boolean }>();
  #internal = new Set<string>();
  #failure: Error | undefined;
  #updatedAt = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(cluster: Cluster, interest: () => TopicInterest, onUpdate: () => void, logger: Logger) {
    this.#cluster = cluster;
    this.#interest = interest;
    this.#onUpdate = onUpdate;
    this.#logger = logger;
  }

  /** Topics of interest that did not exist at the last update. */
  missingTopics(): readonly string[] {
    return [...this.#missing.keys()];
  }

  /** Returns the non-retriable error of the last update (authorization, invalid topic name), and clears it. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** True after the first successful update. */
  get known(): boolean {
    return this.#updatedAt > 0;
  }

  get partitionCounts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  isInternal(topic: string): boolean {
    return this.#internal.has(topic);
  }

  leaderOf({ topic, partition }: TopicPartition): number | undefined {
    const node = this.#leaders.get(topicPartitionKey(topic, partition))?.node ?? -1;
    return node < 0 ? undefined : node;
  }

  /** Increases with each leader election; -1 if unknown. */
  leaderEpochOf({ topic, partition }: TopicPartition): number {
    return this.#leaders.get(topicPartitionKey(topic, partition))?.epoch ?? -1;
  }

  /** Topic id as Kafka's tools print it, or `undefined` if unknown. It changes if the topic is deleted and recreated. */
  topicId(topic: string): string | undefined {
    return this.#ids.get(topic);
  }

  /** The name of the topic that last had this id, even if the topic is currently missing. */
  topicName(id: string): string | undefined {
    for (const [topic, known] of this.#ids) if (known === id) return topic;
    return undefined;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.#wake.notify();
  }

  /** Refreshes the metadata soon, regardless of its age. */
  requestUpdate(): void {
    this.#wake.notify();
  }

  /** Refreshes the metadata now. With `mayCreate`, brokers with `auto.create.topics.enable` create missing topics. */
  async update(mayCreate = false): Promise<void> {
    const { topics, mayCreate: mayAlwaysCreate = false, others } = this.#interest();
    const response = await this.#cluster.metadata(topics, mayCreate || mayAlwaysCreate);
    const counts = new Map<string, number>();
    const leaders = new Map<string, Leader>();
    this.#internal = new Set();
    this.#failure = undefined;
    for (const found of response.topicMetadata) {
      const { topic, topicErrorCode, isInternal, partitionMetadata } = found;
      if (others?.has(topic) !== true) this.#handleTopicError(topic, topicErrorCode);
      if (isInternal) this.#internal.add(topic);
      // With LEADER_NOT_AVAILABLE, the response has no partitions, so the last known count is kept.
      const known = topicErrorCode === ErrorCode.leaderNotAvailable ? this.#counts.get(topic) : undefined;
      const count = topicErrorCode === ErrorCode.none ? partitionMetadata.length : known;
      if (count !== undefined) counts.set(topic, count);
      const identity = this.#compareId(found);
      for (const { partitionId, leader: node, leaderEpoch: epoch } of partitionMetadata) {
        const key = topicPartitionKey(topic, partitionId);
        const known = identity === 'recreated' ? undefined : this.#leaders.get(key);
        const leader = newest(known, { node, epoch }, identity === 'stale');
        leaders.set(key, leader);
        if (known !== undefined && (leader.node !== known.node || leader.epoch !== known.epoch)) {
          const fields = { topic, partition: partitionId, leader: leader.node, leaderEpoch: leader.epoch };
          this.#logger.debug(fields, 'The partition leader changed');
        }
      }
    }
    this.#leaders = leaders;
    this.#counts = counts;
    this.#evictIds();
    this.#updatedAt = Date.now();
    this.#onUpdate();
  }

  async replicaRacks(
    topics: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<string>>>> {
    const { brokers, topicMetadata } = await this.#cluster.metadata(topics);
    const racks = new Map(brokers.flatMap(({ nodeId, rack }) => (rack === '' ? [] : [[nodeId, rack] as const])));
    return new Map(
      topicMetadata.map(({ topic, partitionMetadata }) => {
        const racksByPartition = partitionMetadata.map(({ partitionId, replicas }) => {
          return [partitionId, new Set(replicas.flatMap((node) => racks.get(node) ?? []))] as const;
        });
        return [topic, new Map(racksByPartition)] as const;
      }),
    );
  }

  /**
   * Compares the topic's id with the known one: the topic is the same, it was recreated, or the broker has stale metadata of a
   * deleted topic.
   */
  #compareId({ topic, topicId }: TopicResponse): 'same' | 'recreated' | 'stale' {
    if (topicId === undefined) return 'same';
    if (this.#deletedIds.has(topicId)) return 'stale';
    const known = this.#ids.get(topic);
    this.#ids.set(topic, topicId);
    if (known === undefined || known === topicId) return 'same';
    this.#deletedIds.set(known, true);
    this.#logger.debug({ topic, topicId, previousTopicId: known }, 'The topic was recreated');
    return 'recreated';
  }

  #evictIds(): void {
    for (const topic of this.#ids.keys()) {
      if (this.#ids.size <= this.#counts.size + MAX_DELETED_IDS) break;
      if (!this.#counts.has(topic)) this.#ids.delete(topic);
    }
  }

  #handleTopicError(topic: string, code: number): void {
    if (code === ErrorCode.none) {
      if (this.#missing.get(topic)?.logged === true) this.#logger.info({ topic }, 'Topic exists now');
      this.#missing.delete(topic);
      return;
    }
    const error = KafkaError.ofCode(code, `Topic ${topic}`);
    if (!error.retriable) this.#failure = error;
    if (code === ErrorCode.unknownTopicOrPartition) this.#noteMissing(topic);
  }

  /** A topic that was just created may be missing for a moment, so a short absence is not logged. */
  #noteMissing(topic: string): void {
    const missing = this.#missing.get(topic) ?? { since: Date.now(), logged: false };
    this.#missing.set(topic, missing);
    if (missing.logged || Date.now() - missing.since < MISSING_GRACE_MS) return;
    missing.logged = true;
    this.#logger.warn({ topic }, 'Topic does not exist; waiting for it');
  }

  async #run(): Promise<void> {
    const backoff = backoffOf(this.#cluster);
    while (!this.#stopped) {
      let waitMs: number;
      try {
        await this.update();
        backoff.reset();
        waitMs = this.#refreshMs();
      } catch (error) {
        if (this.#stopped) return;
        if (!isRetriable(error)) {
          this.#failure = toError(error);
          this.#onUpdate();
        }
        waitMs = backoff.nextMs();
      }
      const minimum = idle(MIN_INTERVAL_MS);
      await this.#wake.wait(waitMs);
      if (!this.#stopped) await minimum;
    }
  }

  #refreshMs(): number {
    const { topics, maxAgeMs } = this.#interest();
    if (topics === 'all') return maxAgeMs;
    for (const topic of this.#missing.keys()) if (!topics.includes(topic)) this.#missing.delete(topic);
    const waiting = topics.some((topic) => !this.#counts.has(topic)) || this.#hasLeaderlessPartition();
    return waiting ? Math.min(maxAgeMs, MISSING_TOPIC_MS) : maxAgeMs;
  }

  #hasLeaderlessPartition(): boolean {
    let partitions = 0;
    for (const count of this.#counts.values()) partitions += count;
    let led = 0;
    for (const { node } of this.#leaders.values()) if (node >= 0) led += 1;
    return led < partitions;
  }
}

/** Leader epochs do not decrease while the topic id stays the same, so an older epoch is ignored for `EPOCH_WENT_BACK_MS`. */
function newest(known: Leader | undefined, reported: Leader, isStale: boolean): Leader {
  if (isStale) return known ?? { node: -1, epoch: -1 };
  if (known === undefined || reported.epoch < 0 || reported.epoch >= known.epoch) return reported;
  const behindSince = known.behindSince ?? Date.now();
  return Date.now() - behindSince < EPOCH_WENT_BACK_MS ? { ...known, behindSince } : reported;
}
