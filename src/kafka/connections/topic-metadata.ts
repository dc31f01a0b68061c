import { BoundedMap } from '../../data/bounded-map.ts';
import { idle } from '../../async/sleep.ts';
import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Cluster } from './cluster.ts';
import { ErrorCode } from '../error-codes.ts';
import { KafkaError, isRetriable } from '../errors.ts';
import type { MetadataAnswer } from './metadata-protocol.ts';
import { backoffOf } from './retry.ts';
import { Signal } from '../../async/signal.ts';

/** What a client wants to know of: named topics, or all. */
export interface TopicInterest {
  readonly topics: readonly string[] | 'all';
  /** How long the answer may be used. */
  readonly maxAgeMs: number;
  /** Brokers that create topics on demand create those that are missing. */
  readonly mayCreate?: boolean;
  /** Topics that only other members of the group read; errors of these topics do not fail this client. */
  readonly others?: ReadonlySet<string>;
}

/** A topic that is waited for is asked about this often. */
const MISSING_TOPIC_MS = 1500;
const UNREMARKABLE_MS = 1000;
/** However often an update is asked for, updates are at least this far apart. */
const MIN_INTERVAL_MS = 100;
/** An epoch that has gone back is that of a broker which lags behind, unless brokers go on saying so for this long. */
const EPOCH_WENT_BACK_MS = 5000;
/** Ids of topics that are gone are kept up to this number. */
const MAX_OLD_IDS = 1000;

type TopicAnswer = MetadataAnswer['topicMetadata'][number];

interface Leader {
  /** -1: none, just now. */
  readonly node: number;
  /** -1: not known. */
  readonly epoch: number;
  /** Since when brokers have given an older epoch. */
  readonly behindSince?: number | undefined;
}

/**
 * Keeps partition counts and leaders of the topics a client is interested in up to date: at their age, soon after
 * `requestUpdate`, and every 1.5 s while a named topic does not exist. Runs in the background from `start` to `stop`.
 */
export class TopicMetadata {
  readonly #cluster: Cluster;
  readonly #logger: Logger;
  readonly #interest: () => TopicInterest;
  readonly #onUpdate: () => void;
  readonly #wake = new Signal();
  #counts: ReadonlyMap<string, number> = new Map();
  #leaders: ReadonlyMap<string, Leader> = new Map();
  /** By topic; also of topics that are missing just now. */
  readonly #ids = new Map<string, string>();
  /** Ids never come back; a broker that gives one again lags behind. */
  readonly #goneIds = new BoundedMap<string, true>(MAX_OLD_IDS);
  /** Since when a topic has been missing, and whether that was logged. */
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

  /** Topics by name that did not exist when the cluster was asked last, although somebody is interested in them. */
  missingTopics(): readonly string[] {
    return [...this.#missing.keys()];
  }

  /** The error that waiting does not mend (authorization, invalid name) of the last update, once. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** False until the first answer. */
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

  /** Grows with each change of leader; -1: not known. */
  leaderEpochOf({ topic, partition }: TopicPartition): number {
    return this.#leaders.get(topicPartitionKey(topic, partition))?.epoch ?? -1;
  }

  /** As Kafka's tools print it; another one once the topic has been deleted and created again. `undefined`: not known. */
  topicId(topic: string): string | undefined {
    return this.#ids.get(topic);
  }

  /** The topic that has this id now; `undefined`: not known. */
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

  /** Asks the cluster again soon, whatever the age of what is known. */
  requestUpdate(): void {
    this.#wake.notify();
  }

  /** Asks the cluster now. With `mayCreate`, brokers that create topics on demand create those that are missing. */
  async update(mayCreate = false): Promise<void> {
    const { topics, mayCreate: mayAlwaysCreate = false, others } = this.#interest();
    const answer = await this.#cluster.metadata(topics, mayCreate || mayAlwaysCreate);
    const counts = new Map<string, number>();
    const leaders = new Map<string, Leader>();
    this.#internal = new Set();
    this.#failure = undefined;
    for (const found of answer.topicMetadata) {
      const { topic, topicErrorCode, isInternal, partitionMetadata } = found;
      if (others?.has(topic) !== true) this.#noteTopicError(topic, topicErrorCode);
      if (isInternal) this.#internal.add(topic);
      // An election says nothing about how many partitions there are.
      const known = topicErrorCode === ErrorCode.leaderNotAvailable ? this.#counts.get(topic) : undefined;
      const count = topicErrorCode === ErrorCode.none ? partitionMetadata.length : known;
      if (count !== undefined) counts.set(topic, count);
      const identity = this.#noteId(found);
      for (const { partitionId, leader: node, leaderEpoch: epoch } of partitionMetadata) {
        const key = topicPartitionKey(topic, partitionId);
        const known = identity === 'new' ? undefined : this.#leaders.get(key);
        leaders.set(key, newest(known, { node, epoch }, identity === 'gone'));
      }
    }
    this.#leaders = leaders;
    this.#counts = counts;
    this.#forgetOldIds();
    this.#updatedAt = Date.now();
    this.#onUpdate();
  }

  /** Asks the cluster now for the racks of the replicas, per topic and partition. */
  async replicaRacks(
    topics: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<string>>>> {
    const { brokers, topicMetadata } = await this.#cluster.metadata(topics);
    const racks = new Map(brokers.flatMap(({ nodeId, rack }) => (rack === '' ? [] : [[nodeId, rack] as const])));
    return new Map(
      topicMetadata.map(({ topic, partitionMetadata }) => {
        const ofPartitions = partitionMetadata.map(({ partitionId, replicas }) => {
          return [partitionId, new Set(replicas.flatMap((node) => racks.get(node) ?? []))] as const;
        });
        return [topic, new Map(ofPartitions)] as const;
      }),
    );
  }

  /** Whether the answer is about the topic that is known, about a new one of its name, or about one that is gone. */
  #noteId({ topic, topicId }: TopicAnswer): 'same' | 'new' | 'gone' {
    if (topicId === undefined) return 'same';
    if (this.#goneIds.has(topicId)) return 'gone';
    const known = this.#ids.get(topic);
    this.#ids.set(topic, topicId);
    if (known === undefined || known === topicId) return 'same';
    this.#goneIds.set(known, true);
    return 'new';
  }

  #forgetOldIds(): void {
    for (const topic of this.#ids.keys()) {
      if (this.#ids.size <= this.#counts.size + MAX_OLD_IDS) break;
      if (!this.#counts.has(topic)) this.#ids.delete(topic);
    }
  }

  #noteTopicError(topic: string, code: number): void {
    if (code === ErrorCode.none) {
      if (this.#missing.get(topic)?.logged === true) this.#logger.info({ topic }, 'the topic exists now');
      this.#missing.delete(topic);
      return;
    }
    const error = KafkaError.ofCode(code, `Topic ${topic}`);
    if (!error.retriable) this.#failure = error;
    if (code === ErrorCode.unknownTopicOrPartition) this.#noteMissing(topic);
  }

  /** One that was created a moment ago is no news. */
  #noteMissing(topic: string): void {
    const missing = this.#missing.get(topic) ?? { since: Date.now(), logged: false };
    this.#missing.set(topic, missing);
    if (missing.logged || Date.now() - missing.since < UNREMARKABLE_MS) return;
    missing.logged = true;
    this.#logger.warn({ topic }, 'the topic does not exist, waiting for it');
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
    const waiting = topics.some((topic) => !this.#counts.has(topic)) || this.#someWithoutLeader();
    return waiting ? Math.min(maxAgeMs, MISSING_TOPIC_MS) : maxAgeMs;
  }

  #someWithoutLeader(): boolean {
    let partitions = 0;
    for (const count of this.#counts.values()) partitions += count;
    let led = 0;
    for (const { node } of this.#leaders.values()) if (node >= 0) led += 1;
    return led < partitions;
  }
}

/** What is to be believed of a partition's leader: epochs do not go back as long as the topic is the same. */
function newest(known: Leader | undefined, told: Leader, isGone: boolean): Leader {
  if (isGone) return known ?? { node: -1, epoch: -1 };
  if (known === undefined || told.epoch < 0 || told.epoch >= known.epoch) return told;
  const behindSince = known.behindSince ?? Date.now();
  return Date.now() - behindSince < EPOCH_WENT_BACK_MS ? { ...known, behindSince } : told;
}
