import { sleep } from '../../async/sleep.ts';
import type { TopicPartition } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Admin, NewTopic, PartitionPosition } from '../api.ts';
import { Cluster } from '../connections/cluster.ts';
import type { ConnectionConfig } from '../config/connection-config.ts';
import { ErrorCode, describeErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import {
  OffsetTime,
  commitOffsets,
  deleteCommitted,
  fetchCommitted,
  listOffsets,
  toPosition,
  type Leaders,
} from '../consumer/offsets.ts';
import { adminMetrics } from '../metrics/network-metrics.ts';
import type { MetadataResponse } from '../connections/metadata-protocol.ts';
import { Apis, libraryCall } from '../protocol/protocol.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import { fence } from '../producer/transaction.ts';

const TOPIC_RESOURCE = 2;
const LEADER_WAIT_MS = 5000;
const LEADER_CHECK_MS = 10;
/** How long a broker may take to learn of a topic that exists (the limit in Java's TopicAdmin and KafkaBasedLog). */
const METADATA_PROPAGATION_MS = 30_000;

/** Connects on the first call. All calls retry retriable errors for up to `default.api.timeout.ms`. */
export class KafkaAdmin implements Admin {
  readonly #cluster: Cluster;
  readonly #logger: Logger;
  /**
   * Topics that a broker reported as existing, each with a deadline. Until the deadline, a request to a broker that does not
   * know the topic yet is retried.
   */
  readonly #existing = new Map<string, number>();
  #closed = false;

  constructor(config: ConnectionConfig, logger: Logger) {
    this.#logger = logger;
    this.#cluster = new Cluster(config, logger, adminMetrics(config.metricWindow));
  }

  async clusterId(): Promise<string> {
    const { clusterId } = await this.#metadata([]);
    return clusterId ?? '';
  }

  /** The number of brokers, which limits the replication factor. */
  async brokerCount(): Promise<number> {
    return (await this.#metadata([])).brokers.length;
  }

  async topics(): Promise<readonly string[]> {
    const { topicMetadata } = await this.#metadata('all');
    return topicMetadata.map(({ topic }) => topic);
  }

  async describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (names.length === 0) return new Map();
    const { topicMetadata } = await this.#metadata(names);
    const counts = new Map<string, number>();
    for (const { topic, topicErrorCode, partitionMetadata } of topicMetadata) {
      if (topicErrorCode === ErrorCode.none || topicErrorCode === ErrorCode.leaderNotAvailable) {
        counts.set(topic, partitionMetadata.length);
        this.#noteExisting(topic);
      } else if (topicErrorCode !== ErrorCode.unknownTopicOrPartition) {
        throw KafkaError.ofCode(topicErrorCode, `Topic ${topic}`);
      }
    }
    return counts;
  }

  topicSettings(name: string): Promise<ReadonlyMap<string, string>> {
    const parameters = {
      resources: [{ type: TOPIC_RESOURCE, name, configNames: [] }],
      includeSynonyms: false,
    };
    const read = async (): Promise<ReadonlyMap<string, string>> => {
      const { resources } = await this.#cluster.callAny(libraryCall(Apis.describeConfigs, parameters));
      const settings = new Map<string, string>();
      for (const { errorCode, errorMessage, configEntries } of resources) {
        if (errorCode !== ErrorCode.none) throw KafkaError.ofCode(errorCode, `Topic ${name}`, errorMessage);
        for (const { configName, configValue } of configEntries) {
          if (configValue !== null) settings.set(configName, configValue);
        }
      }
      return settings;
    };
    return this.#retry(`Reading the settings of topic ${name}`, read, name);
  }

  /**
   * Resolves when all partitions of the new or existing topic have leaders. Stops waiting for them after
   * `LEADER_WAIT_MS`, or when the metadata request returns an error that is not retriable.
   */
  async createTopic(topic: NewTopic): Promise<boolean> {
    const configEntries = Object.entries(topic.settings).map(([name, value]) => ({ name, value }));
    const wanted = {
      topic: topic.name,
      numPartitions: topic.partitions,
      replicationFactor: topic.replicationFactor,
      configEntries,
    };
    const parameters = { topics: [wanted], timeout: this.#cluster.config.requestTimeoutMs, validateOnly: false };
    const created = await this.#retry(`Creating topic ${topic.name}`, async () => {
      const { topicErrors } = await this.#cluster.callController(libraryCall(Apis.createTopics, parameters));
      const [outcome] = topicErrors;
      if (outcome === undefined || outcome.errorCode === ErrorCode.none) return true;
      if (outcome.errorCode === ErrorCode.topicAlreadyExists) return false;
      throw KafkaError.ofCode(outcome.errorCode, `Creating topic ${topic.name}`, outcome.errorMessage ?? null);
    });
    this.#noteExisting(topic.name);
    await this.#awaitLeaders(topic.name);
    return created;
  }

  /** Ignores topics that do not exist. */
  async deleteTopics(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    for (const name of names) this.#existing.delete(name);
    const parameters = { topics: names, timeout: this.#cluster.config.requestTimeoutMs };
    await this.#retry(`Deleting topics ${names.join(', ')}`, async () => {
      const { topicErrors } = await this.#cluster.callController(libraryCall(Apis.deleteTopics, parameters));
      for (const { topic, errorCode } of topicErrors) {
        if (errorCode === ErrorCode.none || errorCode === ErrorCode.unknownTopicOrPartition) continue;
        throw KafkaError.ofCode(errorCode, `Deleting topic ${topic}`);
      }
    });
  }

  groupOffsets(groupId: string): Promise<readonly PartitionPosition[]> {
    return this.#retry(`Reading the offsets of group ${groupId}`, async () =>
      (await fetchCommitted(this.#cluster, groupId, undefined)).map(toPosition),
    );
  }

  /** Rejects with CommitRefusedError (UNKNOWN_MEMBER_ID) if the group has members; creates the group if it does not exist. */
  async alterGroupOffsets(groupId: string, positions: readonly PartitionPosition[]): Promise<void> {
    if (positions.length === 0) return;
    await this.#retry(`Altering the offsets of group ${groupId}`, () =>
      commitOffsets(this.#cluster, { groupId, memberId: '', generationId: -1 }, positions),
    );
  }

  async deleteGroupOffsets(groupId: string, partitions: readonly TopicPartition[]): Promise<void> {
    if (partitions.length === 0) return;
    await this.#retry(`Deleting offsets of group ${groupId}`, () =>
      deleteCommitted(this.#cluster, groupId, partitions),
    );
  }

  /** Ignores a group that does not exist; the broker rejects a group with members (NON_EMPTY_GROUP). */
  async deleteGroup(groupId: string): Promise<void> {
    await this.#retry(`Deleting group ${groupId}`, async () => {
      const { results } = await this.#cluster.callCoordinator(groupId, libraryCall(Apis.deleteGroups, [groupId]));
      for (const { errorCode } of results) {
        if (errorCode === ErrorCode.none || errorCode === ErrorCode.groupIdNotFound) continue;
        this.#cluster.forgetCoordinator(groupId);
        throw KafkaError.ofCode(errorCode, `Deleting group ${groupId}`);
      }
    });
  }

  endOffsets(topic: string): Promise<readonly PartitionPosition[]> {
    return this.#offsetsAt(topic, OffsetTime.latest);
  }

  async offsetsAt(topic: string, time: 'earliest' | 'latest' | number): Promise<readonly PartitionPosition[]> {
    if (typeof time !== 'number') return this.#offsetsAt(topic, OffsetTime[time]);
    const found = await this.#offsetsAt(topic, Math.max(0, time));
    if (found.every(({ offset }) => offset >= 0)) return found;
    const ends = new Map((await this.endOffsets(topic)).map((end) => [end.partition, end]));
    return found.map((each) => (each.offset >= 0 ? each : (ends.get(each.partition) ?? each)));
  }

  #offsetsAt(topic: string, time: number): Promise<readonly PartitionPosition[]> {
    const read = async (): Promise<readonly PartitionPosition[]> => {
      const { topicMetadata } = await this.#cluster.metadata([topic]);
      const leaders = new Map<number, { leader: number; leaderEpoch: number }>();
      for (const { topicErrorCode, partitionMetadata } of topicMetadata) {
        if (topicErrorCode !== ErrorCode.none) throw KafkaError.ofCode(topicErrorCode, `Topic ${topic}`);
        for (const each of partitionMetadata) if (each.leader >= 0) leaders.set(each.partitionId, each);
      }
      const partitions = topicMetadata.flatMap(({ partitionMetadata }) =>
        partitionMetadata.map(({ partitionId }) => ({ topic, partition: partitionId })),
      );
      const known: Leaders = {
        leaderOf: ({ partition }) => leaders.get(partition)?.leader,
        leaderEpochOf: ({ partition }) => leaders.get(partition)?.leaderEpoch ?? -1,
      };
      return (await listOffsets(this.#cluster, known, partitions, time, false)).map(toPosition);
    };
    return this.#retry(`Reading offsets of topic ${topic}`, read, topic);
  }

  async fenceProducers(transactionalIds: readonly string[]): Promise<void> {
    await Promise.all(
      transactionalIds.map(async (transactionalId) => {
        const id = await fence(this.#cluster, transactionalId, () => this.#closed);
        this.#logger.debug({ transactionalId, ...id }, 'Fenced the producers of a transactional id');
      }),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#cluster.close();
  }

  /**
   * A broker acknowledges the creation of a topic before all brokers know the topic. A client that used the topic immediately
   * could fail.
   */
  async #awaitLeaders(topic: string): Promise<void> {
    const deadline = Date.now() + LEADER_WAIT_MS;
    while (Date.now() < deadline && !this.#closed) {
      const { topicMetadata } = await this.#metadata([topic]);
      const [found] = topicMetadata;
      const code = found?.topicErrorCode ?? ErrorCode.unknownTopicOrPartition;
      if (code === ErrorCode.none && found?.partitionMetadata.every(({ leader }) => leader >= 0) === true) return;
      if (!describeErrorCode(code).retriable && code !== ErrorCode.none) return;
      await sleep(LEADER_CHECK_MS);
    }
  }

  #metadata(topics: readonly string[] | 'all'): Promise<MetadataResponse> {
    return this.#retry('Reading metadata', () => this.#cluster.metadata(topics));
  }

  #noteExisting(topic: string): void {
    const now = Date.now();
    for (const [name, until] of this.#existing) if (until <= now) this.#existing.delete(name);
    this.#existing.set(topic, now + METADATA_PROPAGATION_MS);
  }

  /**
   * Retries retriable errors. UNKNOWN_TOPIC_OR_PARTITION is only retried for `topic`, while a broker may not have learned of
   * its creation yet.
   */
  #retry<T>(what: string, action: () => Promise<T>, topic?: string): Promise<T> {
    const { apiTimeoutMs } = this.#cluster.config;
    const attempt = async (): Promise<T> => {
      try {
        return await action();
      } catch (error) {
        const isMissing = error instanceof KafkaError && error.code === ErrorCode.unknownTopicOrPartition;
        const mayAppear = topic !== undefined && (this.#existing.get(topic) ?? 0) > Date.now();
        throw isMissing && !mayAppear ? error.asFinal() : error;
      }
    };
    return retry(what, backoffOf(this.#cluster), apiTimeoutMs, attempt, () => this.#closed);
  }
}
