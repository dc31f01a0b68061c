import { topicPartitionKey, type TopicPartition } from '../data/record.ts';
import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { Cluster } from './cluster.ts';
import { ErrorCode } from './error-codes.ts';
import { KafkaError, isRetriable } from './errors.ts';
import { Backoff, idle } from './retry.ts';
import { Signal } from './signal.ts';

/** What a client wants to know of: named topics, or all. */
export interface TopicInterest {
  readonly topics: readonly string[] | 'all';
  /** How long the answer may be used. */
  readonly maxAgeMs: number;
}

/** A topic that is waited for is asked about this often. */
const MISSING_TOPIC_MS = 1500;
const UNREMARKABLE_MS = 1000;
/** However often an update is asked for, updates are at least this far apart. */
const MIN_INTERVAL_MS = 100;

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
  readonly #leaders = new Map<string, number>();
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
    return this.#leaders.get(topicPartitionKey(topic, partition));
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
    const { topics } = this.#interest();
    const answer = await this.#cluster.metadata(topics, mayCreate);
    const counts = new Map<string, number>();
    this.#leaders.clear();
    this.#internal = new Set();
    this.#failure = undefined;
    for (const { topic, topicErrorCode, isInternal, partitionMetadata } of answer.topicMetadata) {
      this.#noteTopicError(topic, topicErrorCode);
      if (isInternal) this.#internal.add(topic);
      // An election says nothing about how many partitions there are.
      const known = topicErrorCode === ErrorCode.leaderNotAvailable ? this.#counts.get(topic) : undefined;
      const count = topicErrorCode === ErrorCode.none ? partitionMetadata.length : known;
      if (count !== undefined) counts.set(topic, count);
      for (const { partitionId, leader } of partitionMetadata) {
        if (leader >= 0) this.#leaders.set(topicPartitionKey(topic, partitionId), leader);
      }
    }
    this.#counts = counts;
    this.#updatedAt = Date.now();
    this.#onUpdate();
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
    const backoff = Backoff.of(this.#cluster);
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
    return this.#leaders.size < partitions;
  }
}
