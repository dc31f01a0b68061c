import { clockLead } from '../../data/finding.ts';
import { topicPartitionKey } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import { KafkaAdmin } from './admin.ts';
import type { AclOperation, NewTopic, Survey, SurveyedCluster, SurveyedTopic } from '../api.ts';
import { Cluster } from '../connections/cluster.ts';
import type { ConnectionConfig } from '../config/connection-config.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import { logDirsCall, type ReplicaSize } from './log-dirs-protocol.ts';
import type { MetadataResponse } from '../connections/metadata-protocol.ts';
import { Apis, libraryCall, type Call } from '../protocol/protocol.ts';
import { backoffOf, retry } from '../connections/retry.ts';
import { SLUICE_VERSION } from '../../version.ts';
import { quorumClockCall, supportedFeaturesCall } from './survey-protocol.ts';

/** Bit numbers of the operations (org.apache.kafka.common.acl.AclOperation). */
const OPERATION_BITS: readonly (readonly [AclOperation, number])[] = [
  ['Read', 3],
  ['Write', 4],
  ['Create', 5],
  ['Delete', 6],
  ['Alter', 7],
  ['Describe', 8],
  ['DescribeConfigs', 10],
  ['AlterConfigs', 11],
];

/** The lowest `metadata.version` level of each release (org.apache.kafka.server.common.MetadataVersion). */
const RELEASES: readonly (readonly [level: number, release: string])[] = [
  [30, '4.3'],
  [28, '4.2'],
  [26, '4.1'],
  [22, '4.0'],
  [21, '3.9'],
  [20, '3.8'],
  [15, '3.7'],
  [12, '3.6'],
  [9, '3.5'],
  [8, '3.4'],
  [4, '3.3'],
];
const BROKER_RESOURCE = 4;
const AUTO_CREATE = 'auto.create.topics.enable';
const UNKNOWN_MEMBER = { memberId: '', groupGenerationId: -1 };
const UNKNOWN_PRODUCER = { producerId: -1, producerEpoch: -1 };

/**
 * The survey probes the client's authorizations for groups and transactional ids with requests that always fail, but only
 * after the authorization check: a heartbeat of an unknown member, and the end of an unknown transaction.
 */
export class KafkaSurvey implements Survey {
  readonly #cluster: Cluster;
  readonly #admin: KafkaAdmin;
  #closed = false;

  constructor(config: ConnectionConfig, logger: Logger) {
    this.#cluster = new Cluster(config, logger);
    this.#admin = new KafkaAdmin(config, logger);
  }

  async cluster(): Promise<SurveyedCluster> {
    const { clusterId, brokers } = await this.#retry('Reading metadata', () => this.#cluster.metadata([]));
    const features = await this.#cluster.callAny(supportedFeaturesCall(SLUICE_VERSION)).catch(ifUnsupported);
    const level = features?.get('metadata.version') ?? 0;
    const release = RELEASES.find(([first]) => level >= first)?.[1];
    return { clusterId: clusterId ?? '', brokers: brokers.length, release };
  }

  async topics(names: readonly string[]): Promise<ReadonlyMap<string, SurveyedTopic>> {
    if (names.length === 0) return new Map();
    const { topicMetadata } = await this.#retry('Reading metadata', () => this.#cluster.metadata(names, false, true));
    return new Map(topicMetadata.map((each) => [each.topic, toSurveyedTopic(each)]));
  }

  topicSettings(name: string): Promise<ReadonlyMap<string, string>> {
    return this.#admin.topicSettings(name);
  }

  async brokersCreateTopics(): Promise<boolean | undefined> {
    const { brokers } = await this.#retry('Reading metadata', () => this.#cluster.metadata([]));
    const [broker] = brokers;
    if (broker === undefined) return undefined;
    const resource = { type: BROKER_RESOURCE, name: String(broker.nodeId), configNames: [AUTO_CREATE] };
    const call = libraryCall(Apis.describeConfigs, { resources: [resource], includeSynonyms: false });
    const response = await this.#cluster.callNode(broker.nodeId, 'main', call).catch(ifUnsupported);
    const entries = (response?.resources ?? []).flatMap(({ configEntries }) => configEntries);
    const value = entries.find(({ configName }) => configName === AUTO_CREATE)?.configValue;
    return value === undefined || value === null ? undefined : value === 'true';
  }

  async topicSizes(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { brokers, topicMetadata } = await this.#retry('Reading metadata', () => this.#cluster.metadata(names));
    const known = topicMetadata.filter(({ partitionMetadata }) => partitionMetadata.length > 0);
    const call = logDirsCall(
      new Map(known.map((each) => [each.topic, each.partitionMetadata.map(({ partitionId }) => partitionId)])),
    );
    const responses = await Promise.all(
      brokers.map(({ nodeId }) => this.#cluster.callNode(nodeId, 'main', call).catch(ifUnsupported)),
    );
    return sizesOf(responses.flatMap((response) => response ?? []));
  }

  async creationProblem({ name, partitions, replicationFactor, settings }: NewTopic): Promise<Error | undefined> {
    const configEntries = Object.entries(settings).map(([key, value]) => ({ name: key, value }));
    const wanted = { topic: name, numPartitions: partitions, replicationFactor, configEntries };
    const parameters = { topics: [wanted], timeout: this.#cluster.config.requestTimeoutMs, validateOnly: true };
    const what = `Creating topic ${name}`;
    const { topicErrors } = await this.#retry(what, () =>
      this.#cluster.callController(libraryCall(Apis.createTopics, parameters)),
    );
    const { errorCode, errorMessage } = topicErrors[0] ?? { errorCode: ErrorCode.none };
    return errorCode === ErrorCode.none ? undefined : KafkaError.ofCode(errorCode, what, errorMessage ?? null);
  }

  async mayJoin(groupId: string): Promise<boolean> {
    const code = await this.#errorCodeOf(libraryCall(Apis.heartbeat, { groupId, ...UNKNOWN_MEMBER }));
    return code !== ErrorCode.groupAuthorizationFailed;
  }

  async mayTransact(transactionalId: string): Promise<boolean> {
    const parameters = { transactionalId, ...UNKNOWN_PRODUCER, transactionResult: false };
    const code = await this.#errorCodeOf(libraryCall(Apis.endTxn, parameters));
    return code !== ErrorCode.transactionalIdAuthorizationFailed;
  }

  async clockLeadMs(): Promise<number | undefined> {
    const requestedAt = Date.now();
    const clock = await this.#cluster.callAny(quorumClockCall()).catch(ifUnsupported);
    return clock === undefined ? undefined : clockLead(clock, requestedAt, Date.now());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#cluster.close(), this.#admin.close()]);
  }

  async #errorCodeOf(call: Call<{ readonly errorCode: number }>): Promise<number> {
    const { errorCode } = await this.#retry('Checking authorization', () => this.#cluster.callAny(call));
    return errorCode;
  }

  #retry<T>(what: string, action: () => Promise<T>): Promise<T> {
    const { apiTimeoutMs } = this.#cluster.config;
    return retry(what, backoffOf(this.#cluster), apiTimeoutMs, action, () => this.#closed);
  }
}

function toSurveyedTopic({
  topic,
  topicErrorCode,
  operations,
  partitionMetadata,
}: MetadataResponse['topicMetadata'][number]): SurveyedTopic {
  const denied = topicErrorCode === ErrorCode.topicAuthorizationFailed;
  const missing = topicErrorCode === ErrorCode.unknownTopicOrPartition;
  const known: readonly number[] = [ErrorCode.none, ErrorCode.leaderNotAvailable];
  if (!denied && !missing && !known.includes(topicErrorCode)) throw KafkaError.ofCode(topicErrorCode, `Topic ${topic}`);
  return {
    state: denied ? 'denied' : missing ? 'missing' : 'exists',
    partitions: partitionMetadata.length,
    leaderless: partitionMetadata.filter(({ leader }) => leader < 0).length,
    replicas:
      partitionMetadata.length === 0 ? 0 : Math.min(...partitionMetadata.map(({ replicas }) => replicas.length)),
    allowed: operations === undefined ? undefined : allowedBy(operations),
  };
}

/** Uses the largest replica of each partition, because other replicas may lag. */
function sizesOf(replicas: readonly ReplicaSize[]): ReadonlyMap<string, number> {
  const largest = new Map<string, ReplicaSize>();
  for (const replica of replicas) {
    const key = topicPartitionKey(replica.topic, replica.partition);
    if ((largest.get(key)?.bytes ?? -1) < replica.bytes) largest.set(key, replica);
  }
  const sizes = new Map<string, number>();
  for (const { topic, bytes } of largest.values()) sizes.set(topic, (sizes.get(topic) ?? 0) + bytes);
  return sizes;
}

function allowedBy(operations: number): ReadonlySet<AclOperation> {
  return new Set(OPERATION_BITS.flatMap(([name, bit]) => ((operations & (1 << bit)) === 0 ? [] : [name])));
}

/** The result if a request fails, which usually means that the broker is too old for it. */
function ifUnsupported(): undefined {
  return undefined;
}
