import type { PackedRecords } from '../data/packed-records.ts';
import type { TopicPartition } from '../data/record.ts';
import type { ConsumedRecord } from './records/consumed-record.ts';
import type { ProducedRecord } from './records/produced-record.ts';
import type { RecordBlock } from './records/record-block.ts';

export type { ConsumedHeader, ConsumedRecord } from './records/consumed-record.ts';
export type { ProducedRecord } from './records/produced-record.ts';

export type { RecordBlock } from './records/record-block.ts';

/** Java client properties as in worker files and connector overrides (`bootstrap.servers`, `security.protocol`, …). */
export type ClientProperties = Readonly<Record<string, string>>;

export interface PartitionPosition extends TopicPartition {
  readonly offset: number;
  /** Epoch of the leader that wrote the record before the offset; absent if unknown. */
  readonly leaderEpoch?: number | undefined;
  /** Topic id as Kafka's tools print it. If absent, the position belongs to the current topic of this name. */
  readonly topicId?: string | undefined;
}

export interface PartitionLag extends TopicPartition {
  /** Number of records; `undefined` until both the position and the high watermark are known. */
  readonly lag: number | undefined;
  /** The high watermark; absent before the first response of the broker. */
  readonly end?: number | undefined;
}

/**
 * Selects topics by name. `pattern` is the equivalent Java regular expression, which brokers evaluate as RE2 (KIP-848).
 */
export type TopicPredicate = ((topic: string) => boolean) & { readonly pattern?: string };

/**
 * Called only from inside `poll`, `pollBlocks`, `close` and `handOver`. While the listener runs, the member keeps its
 * generation, so offsets that `onRevoked` commits are accepted.
 */
export interface RebalanceListener {
  onRevoked(partitions: readonly TopicPartition[]): Promise<void>;
  /** Called instead of `onRevoked` if the member no longer owns the partitions. The broker would then reject offset commits. */
  onLost(partitions: readonly TopicPartition[]): Promise<void>;
  onAssigned(partitions: readonly TopicPartition[]): Promise<void>;
}

/**
 * The group membership of a consumer that was closed without leaving its group, as plain data. The next consumer can resume the
 * membership until the session times out.
 */
export interface Handover {
  readonly groupId: string;
  readonly memberId: string;
  readonly generationId: number;
  readonly isLeader: boolean;
  readonly protocol: string;
  /** Base64 of the ConsumerProtocol assignment. */
  readonly assignment: string;
  /** The subscribed topics of the last JoinGroup. */
  readonly topics: readonly string[];
  /** Partition counts of the group's topics at the last assignment. Empty unless this member is the leader. */
  readonly partitions: Readonly<Record<string, number>>;
}

export interface Consumer {
  /**
   * Joins the group on the next `poll`, or resumes the membership of the handover. Topics that do not exist yet are read once they
   * appear.
   */
  subscribe(topics: readonly string[] | TopicPredicate, listener: RebalanceListener, handover?: Handover): void;
  /**
   * Assigns partitions without joining a group. Reading starts at the position set by `seek`. Without one, it starts at
   * the committed offset if `group.id` is set and the group has one, or else where `auto.offset.reset` specifies.
   */
  assign(partitions: readonly TopicPartition[]): void;
  /**
   * Returns at most `max.poll.records` records, in offset order per partition, and waits up to `timeoutMs` for the first one.
   * Rejects on errors that are not retriable (authorization, unsupported codec, group protocol). While a broker is unreachable,
   * `poll` retries, and the outage is logged once.
   */
  poll(timeoutMs: number): Promise<readonly ConsumedRecord[]>;
  /** Like `poll`, but returns undecoded blocks of at most `maxRecords` records in total. */
  pollBlocks(timeoutMs: number, maxRecords?: number): Promise<readonly RecordBlock[]>;
  assignment(): readonly TopicPartition[];
  /**
   * True from `onAssigned` until all partitions are revoked or lost, so also during a cooperative rebalance. While it is
   * false, a consumer that called `subscribe` has no `assignment`.
   */
  readonly isInGroup: boolean;
  /**
   * The offset of the next record that `poll` returns, or `undefined` if the partition is not assigned or has no position yet.
   */
  position(partition: TopicPartition): number | undefined;
  /** True if the position is before the end that the broker last reported. False while the partition is paused. */
  hasMore(partition: TopicPartition): boolean;
  /** The lag of each assigned partition behind the high watermark that the broker last reported. */
  lags(): readonly PartitionLag[];
  missingTopics(): readonly string[];
  /** Sets the position. If it has a leader epoch, it is validated against the log before anything is read. */
  seek(position: PartitionPosition): void;
  /**
   * Returns the position with the topic id under which its partition was read, and with the leader epoch of the record before
   * it. A position of a partition that is not assigned is returned unchanged.
   */
  identified(position: PartitionPosition): PartitionPosition;
  /**
   * Validates positions that were stored outside Kafka together with topic id and leader epoch, and returns where to resume. If
   * the topic was recreated, or its log does not contain the leader epoch, reading resumes at the beginning. If the log was
   * truncated, it resumes at the first offset at which the log differs from the records that were read. Otherwise, it resumes
   * at the stored position. Logs a warning for each truncated log and for each recreated topic. Rejects if a position
   * is invalid and `auto.offset.reset` is `none`.
   */
  kept(positions: readonly PartitionPosition[], signal?: AbortSignal): Promise<readonly PartitionPosition[]>;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  paused(): readonly TopicPartition[];
  /** Rejects with CommitRefusedError if the member no longer owns its generation. Retries if the coordinator has moved. */
  commit(positions: readonly PartitionPosition[]): Promise<void>;
  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]>;
  endOffsets(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]>;
  wakeup(): void;
  /** Revokes the partitions, leaves the group and closes the connections within `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
  /**
   * Like `close`, but stays in the group, so that another consumer can resume the membership. If that is not possible, leaves
   * the group and returns `undefined`.
   */
  handOver(timeoutMs: number): Promise<Handover | undefined>;
}

/**
 * Records of one topic that could not be delivered, in order. They belong to one partition, unless they failed before a
 * partition was chosen. Other records of the same call may have been stored.
 */
export interface SendFailure {
  readonly records: readonly ProducedRecord[];
  /** The block that the caller passed to the producer, if `records` are all or part of a block. */
  readonly packed?: PackedRecords | undefined;
  readonly error: Error;
}

export interface Producer {
  connect(): Promise<void>;
  /** Resolves when the broker has acknowledged all records (`acks=all` unless the properties differ). */
  send(records: readonly ProducedRecord[]): Promise<void>;
  /** Like `send`, but resolves with the failed records instead of rejecting. The producer chooses the partitions of packed records. */
  trySend(records: readonly (ProducedRecord | PackedRecords)[]): Promise<readonly SendFailure[]>;
  /**
   * Returns the error with which `send` would reject the record because of its size, or `undefined` if the size is within the
   * limit.
   */
  refusal(record: ProducedRecord): Error | undefined;
  /** Waits up to `timeoutMs` for pending records; those that are still pending then fail. */
  close(timeoutMs?: number): Promise<void>;
}

/**
 * A transactional producer: consumers with `isolation.level=read_committed` see either all records of a transaction or none of
 * them. After a failure, the transaction can only be aborted. After PRODUCER_FENCED, it cannot be aborted either.
 */
export interface TransactionalProducer extends Producer {
  /**
   * Must be called before the first transaction. Aborts open transactions of earlier producers with this `transactional.id`,
   * fences those producers, and then resolves.
   */
  init(): Promise<void>;
  /** Starts a transaction; subsequent records belong to it. */
  begin(): void;
  /** Resolves when all records sent since `begin` are acknowledged and the transaction is committed. */
  commit(): Promise<void>;
  abort(): Promise<void>;
}

export interface NewTopic {
  readonly name: string;
  /** -1 selects the broker's default. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly settings: Readonly<Record<string, string>>;
}

export interface Admin {
  clusterId(): Promise<string>;
  topics(): Promise<readonly string[]>;
  /** Returns the partition count of each topic in `names` that exists. */
  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  topicSettings(name: string): Promise<ReadonlyMap<string, string>>;
  /** Returns `false` if the topic already existed. */
  createTopic(topic: NewTopic): Promise<boolean>;
  deleteTopics(names: readonly string[]): Promise<void>;
  groupOffsets(groupId: string): Promise<readonly PartitionPosition[]>;
  /** Sets committed offsets; refused while the group has members (CommitRefusedError). */
  alterGroupOffsets(groupId: string, positions: readonly PartitionPosition[]): Promise<void>;
  /** Deletes committed offsets; refused for topics that a member is subscribed to. */
  deleteGroupOffsets(groupId: string, partitions: readonly TopicPartition[]): Promise<void>;
  /** Ignores a group that does not exist; refused for a group with members. */
  deleteGroup(groupId: string): Promise<void>;
  endOffsets(topic: string): Promise<readonly PartitionPosition[]>;
  /**
   * Returns an offset for each partition: the first offset (`earliest`), the high watermark (`latest`), or the first
   * offset at or after a time in milliseconds since the epoch. If no record is that recent, the high watermark is
   * returned.
   */
  offsetsAt(topic: string, time: 'earliest' | 'latest' | number): Promise<readonly PartitionPosition[]>;
  /** Fences the producers that use these transactional ids and aborts their open transactions. */
  fenceProducers(transactionalIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export type AclOperation =
  'Read' | 'Write' | 'Create' | 'Delete' | 'Alter' | 'Describe' | 'DescribeConfigs' | 'AlterConfigs';

export interface SurveyedCluster {
  readonly clusterId: string;
  readonly brokers: number;
  /**
   * Kafka release of the broker that responded, such as `4.3`. If the broker is newer than all releases known here,
   * this is the latest known release. `undefined` if the broker does not report it, as before 3.3.
   */
  readonly release: string | undefined;
}

export interface SurveyedTopic {
  /** `denied` means that this client is not authorized to see whether the topic exists. */
  readonly state: 'exists' | 'missing' | 'denied';
  readonly partitions: number;
  readonly leaderless: number;
  /** Replica count of the partition with the fewest replicas; 0 if the metadata contains no partitions. */
  readonly replicas: number;
  /** Operations that this client is authorized for; `undefined` for brokers before 2.8, which do not report them. */
  readonly allowed: ReadonlySet<AclOperation> | undefined;
}

/** Inspects a cluster and the client's authorizations. Read-only: no topic or group is created. */
export interface Survey {
  cluster(): Promise<SurveyedCluster>;
  topics(names: readonly string[]): Promise<ReadonlyMap<string, SurveyedTopic>>;
  topicSettings(name: string): Promise<ReadonlyMap<string, string>>;
  /** Whether brokers create missing topics (`auto.create.topics.enable`); `undefined` if this client may not see it. */
  brokersCreateTopics(): Promise<boolean | undefined>;
  /**
   * Returns bytes on disk by topic, counting the largest replica of each partition. Topics whose size no broker reports are
   * absent.
   */
  topicSizes(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Resolves with the error with which the creation of the topic would fail, or with `undefined` if it would succeed. */
  creationProblem(topic: NewTopic): Promise<Error | undefined>;
  mayJoin(groupId: string): Promise<boolean>;
  mayTransact(transactionalId: string): Promise<boolean>;
  /**
   * Resolves with a lower bound for how far the controller's clock is ahead of the local clock, in milliseconds; `undefined`
   * if unknown.
   */
  clockLeadMs(): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * A compacted topic that is read to its end and then followed (Connect's KafkaBasedLog). Stores of configurations, offsets and
 * statuses are built on it.
 */
export interface CompactedTopic {
  /**
   * Creates the topic if it is missing and may be created, fails if it is not compacted, and reads it up to its last
   * stable offset.
   */
  start(): Promise<void>;
  /** Resolves when the broker has acknowledged the record. `onRecord` may not have been called for it yet; see `readToEnd`. */
  send(key: string | Uint8Array, value: Uint8Array | null): Promise<void>;
  sendAll(records: readonly { key: string | Uint8Array; value: Uint8Array | null }[]): Promise<void>;
  /** Resolves when `onRecord` has been called for everything that was in the topic at the time of this call. */
  readToEnd(): Promise<void>;
  stop(): Promise<void>;
}

export interface CompactedTopicOptions {
  readonly topic: string;
  /** The worker property that names the topic, such as `config.storage.topic`; used in error messages. */
  readonly property: string;
  /** Connect's name for the content: `connector configurations`, `source connector offsets`, … */
  readonly purpose: string;
  /** Used if the topic is created; -1 selects the broker's default. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** Used if the topic is created. `cleanup.policy` is always `compact`. */
  readonly settings: Readonly<Record<string, string>>;
  /** `false`: `start` fails if the topic is missing. */
  readonly mayCreate?: boolean;
  /** If set, `start` fails if an existing topic has several partitions, because the order between keys matters. */
  readonly singlePartition?: boolean;
  /** Called in offset order per partition. The callee may retain the key and the value. */
  onRecord(record: ConsumedRecord): void;
}

/**
 * Creates clients of one cluster. Each client has its own connections and must be closed. `properties` override the properties
 * that the factory was created with; invalid ones throw a ConfigError.
 */
export interface KafkaClient {
  consumer(properties?: ClientProperties): Consumer;
  producer(properties?: ClientProperties): Producer;
  transactionalProducer(properties?: ClientProperties): TransactionalProducer;
  admin(properties?: ClientProperties): Admin;
  survey(properties?: ClientProperties): Survey;
  compactedTopic(options: CompactedTopicOptions, properties?: ClientProperties): CompactedTopic;
}
