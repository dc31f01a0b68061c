import type { MessageBlock } from '../data/message-block.ts';
import type { PackedRecords } from '../data/packed-records.ts';
import type { TopicPartition } from '../data/record.ts';

/** Java client properties as worker files and overrides have them (`bootstrap.servers`, `security.protocol`, …). */
export type ClientProperties = Readonly<Record<string, string>>;

/** A record as the broker has it. */
export interface ConsumedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch; -1 when the record has none. */
  readonly timestamp: number;
  readonly timestampType: 'CreateTime' | 'LogAppendTime';
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly ConsumedHeader[];
  /** The dead letter that this record was read as, if it is one that is replayed: offsets and failures are that one's. */
  readonly letter?: ConsumedRecord | undefined;
}

export interface ConsumedHeader {
  readonly key: string;
  readonly value: Buffer | null;
}

/** Consecutive records of one partition, from which single ones can be made. */
export interface ConsumedBlock extends MessageBlock {
  key(index: number): Buffer | null;
  headers(index: number): readonly ConsumedHeader[];
  /** Whether any record has headers. */
  readonly hasHeaders: boolean;
  record(index: number): ConsumedRecord;
  /** Set if the records are not those in `bytes`: they cannot be read there. */
  readonly records?: readonly ConsumedRecord[] | undefined;
}

export interface PartitionPosition extends TopicPartition {
  /** The next offset to read. */
  readonly offset: number;
  /** Epoch of the leader that wrote the record before the offset; absent: not known. */
  readonly leaderEpoch?: number | undefined;
  /** Id of the topic as Kafka's tools print it; absent: not known, then taken for that of the topic of this name. */
  readonly topicId?: string | undefined;
}

export interface PartitionLag extends TopicPartition {
  /** Records; `undefined` before the first answer of the broker. */
  readonly lag: number | undefined;
  /** The next offset of the log; absent before the first answer of the broker. */
  readonly end?: number | undefined;
}

/** Which topics, by name; `pattern`: the Java regular expression that it evaluates, for brokers that can do that themselves. */
export type TopicPredicate = ((topic: string) => boolean) & { readonly pattern?: string };

/**
 * Called from inside `poll` (and `close`), never at any other time, as in the Java consumer. While a listener runs the
 * member still holds its generation: offsets committed in `onRevoked` are accepted.
 */
export interface RebalanceListener {
  onRevoked(partitions: readonly TopicPartition[]): Promise<void>;
  /** Membership was lost before it could be given back; commits would be refused. */
  onLost(partitions: readonly TopicPartition[]): Promise<void>;
  onAssigned(partitions: readonly TopicPartition[]): Promise<void>;
}

/**
 * A consumer with the Java consumer's contract, on kafkajs' cluster layer: fetching and heartbeats go on in the
 * background, records and rebalance callbacks are handed out by `poll` alone, so that the caller stays in charge.
 * Heartbeats never depend on `poll`. All buffers are bounded (`fetch.max.bytes` ahead of the caller at most).
 */
/**
 * The membership of a consumer that was closed without leaving its group, for the consumer that goes on in its place; plain data.
 * It is worth something as long as a session lasts.
 */
export interface Handover {
  readonly groupId: string;
  readonly memberId: string;
  readonly generationId: number;
  readonly isLeader: boolean;
  /** The assignor that the group chose. */
  readonly protocol: string;
  /** The partitions, as the group has them; base64. */
  readonly assignment: string;
  /** What the group was told to be subscribed. */
  readonly topics: readonly string[];
  /** Leader only: how many partitions each topic of the group had when they were divided. */
  readonly partitions: Readonly<Record<string, number>>;
}

export interface Consumer {
  /**
   * Joins the group on the next `poll`, or goes on as the member of the handover. Topics that do not exist yet are picked up when
   * they appear.
   */
  subscribe(topics: readonly string[] | TopicPredicate, listener: RebalanceListener, handover?: Handover): void;
  /** Reads partitions without a group; start positions by `seek`, else by `auto.offset.reset`. */
  assign(partitions: readonly TopicPartition[]): void;
  /**
   * At most `max.poll.records` records, in offset order per partition; waits up to `timeoutMs` for the first. Rejects on
   * errors that waiting cannot mend (authorization, unsupported codec, group protocol); an unreachable broker is
   * waited for, logged once per outage.
   */
  poll(timeoutMs: number): Promise<readonly ConsumedRecord[]>;
  /** As `poll`, with the records left where the broker packed them, and no more than `maxRecords` of them. */
  pollBlocks(timeoutMs: number, maxRecords?: number): Promise<readonly ConsumedBlock[]>;
  assignment(): readonly TopicPartition[];
  /** False while the group divides its partitions; then `assignment` is empty and says nothing. */
  readonly isInGroup: boolean;
  /** The next offset that `poll` would hand out; `undefined` when not assigned or not known yet. */
  position(partition: TopicPartition): number | undefined;
  /** Whether the broker has told of records at `position` or behind it that `poll` may hand out; not while it is paused. */
  hasMore(partition: TopicPartition): boolean;
  /** How far each assigned partition's end is ahead of `position`, as far as the broker said so lately. */
  lags(): readonly PartitionLag[];
  /** Topics that are subscribed by name and do not exist. */
  missingTopics(): readonly string[];
  /** With an epoch, the log is compared with it before anything is read. */
  seek(position: PartitionPosition): void;
  /** The position of an assigned partition, with the topic id and the leader epoch that it was read under. */
  identified(position: PartitionPosition): PartitionPosition;
  /**
   * Where reading goes on from positions that were kept somewhere with topic id and leader epoch: there, at the beginning of a
   * topic that was created again, or behind the last record that the log has in common with what was read; with a warning
   * for what changes. Rejects, besides for authorization, where `auto.offset.reset` is `none` and a position is gone.
   */
  kept(positions: readonly PartitionPosition[], signal?: AbortSignal): Promise<readonly PartitionPosition[]>;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  paused(): readonly TopicPartition[];
  /** Rejects with CommitRefusedError when the member no longer owns its generation. Retries coordinator moves. */
  commit(positions: readonly PartitionPosition[]): Promise<void>;
  committed(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]>;
  endOffsets(partitions: readonly TopicPartition[]): Promise<readonly PartitionPosition[]>;
  /** Ends a waiting `poll` early. */
  wakeup(): void;
  /** Revokes, leaves the group, closes connections; bounded by `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
  /**
   * As `close`, but the group keeps the place of this member for the consumer that gets the result. `undefined` where that is not
   * possible; the group was left then.
   */
  handOver(timeoutMs: number): Promise<Handover | undefined>;
}

export interface ProducedRecord {
  readonly topic: string;
  /** `null`: the default partitioner (murmur2 of the key, sticky without) decides. */
  readonly partition: number | null;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly timestamp: number | null;
  readonly headers: readonly { readonly key: string; readonly value: Uint8Array | null }[];
}

/** Records that a producer gave up, of one partition, in order. Others of the same call may be stored. */
export interface SendFailure {
  readonly records: readonly ProducedRecord[];
  /** The packed records, as they were handed over, that these are part of. */
  readonly packed?: PackedRecords | undefined;
  readonly error: Error;
}

export interface Producer {
  connect(): Promise<void>;
  /** Resolves when all records are acknowledged by the broker (acks=all unless the properties say otherwise). */
  send(records: readonly ProducedRecord[]): Promise<void>;
  /**
   * As `send`, and tells which records were given up in place of rejecting; none when all were acknowledged. Packed records have no
   * partition of their own.
   */
  trySend(records: readonly (ProducedRecord | PackedRecords)[]): Promise<readonly SendFailure[]>;
  /** Waits for what was sent, but not beyond `timeoutMs`; what is left then fails. */
  close(timeoutMs?: number): Promise<void>;
}

/**
 * A producer that writes in transactions: readers with `isolation.level=read_committed` see all records of a transaction
 * or none. Failures of its methods are final for the transaction: `abort` is all that helps then; with
 * PRODUCER_FENCED nothing does.
 */
export interface TransactionalProducer extends Producer {
  /**
   * Takes `transactional.id` over, to be called first: resolves when transactions that an earlier holder left open are
   * aborted. From then on that holder is fenced.
   */
  init(): Promise<void>;
  /** Records sent from here on belong to a new transaction. */
  begin(): void;
  /** Resolves when all records sent since `begin` are acknowledged and the transaction is committed. */
  commit(): Promise<void>;
  /** Resolves when another transaction may begin. */
  abort(): Promise<void>;
}

export interface NewTopic {
  readonly name: string;
  /** -1: the broker's default. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly settings: Readonly<Record<string, string>>;
}

export interface Admin {
  clusterId(): Promise<string>;
  topics(): Promise<readonly string[]>;
  /** Partition count per existing topic among `names`. */
  describeTopics(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  topicSettings(name: string): Promise<ReadonlyMap<string, string>>;
  /** `false` when the topic existed already. */
  createTopic(topic: NewTopic): Promise<boolean>;
  deleteTopics(names: readonly string[]): Promise<void>;
  groupOffsets(groupId: string): Promise<readonly PartitionPosition[]>;
  /** Sets committed offsets; refused while the group has members (CommitRefusedError). */
  alterGroupOffsets(groupId: string, positions: readonly PartitionPosition[]): Promise<void>;
  /** Takes committed offsets away; refused for topics that a member is subscribed to. */
  deleteGroupOffsets(groupId: string, partitions: readonly TopicPartition[]): Promise<void>;
  /** A group that does not exist is passed over; one with members is refused. */
  deleteGroup(groupId: string): Promise<void>;
  endOffsets(topic: string): Promise<readonly PartitionPosition[]>;
  /** The first offset of each partition, the end, or the first one of a time in milliseconds (the end where there is none). */
  offsetsAt(topic: string, time: 'earliest' | 'latest' | number): Promise<readonly PartitionPosition[]>;
  /** Whoever writes under one of these transactional ids can no longer; its open transaction is aborted. */
  fenceProducers(transactionalIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Operations as Kafka's ACLs and `kafka-acls.sh` name them. */
export type AclOperation =
  'Read' | 'Write' | 'Create' | 'Delete' | 'Alter' | 'Describe' | 'DescribeConfigs' | 'AlterConfigs';

export interface SurveyedCluster {
  readonly clusterId: string;
  readonly brokers: number;
  /** Such as `4.3`, at least; `undefined`: brokers before 3.3 do not tell. */
  readonly release: string | undefined;
}

export interface SurveyedTopic {
  /** `denied`: it may exist, but this client is not told. */
  readonly state: 'exists' | 'missing' | 'denied';
  readonly partitions: number;
  /** Partitions without a leader. */
  readonly leaderless: number;
  /** Of the partition with the fewest. */
  readonly replicas: number;
  /** What this client may do with it; `undefined`: brokers before 2.8 do not tell. */
  readonly allowed: ReadonlySet<AclOperation> | undefined;
}

/** Looks at a cluster and at what this client may do in it. Nothing is changed by it, no topic and no group comes to be. */
export interface Survey {
  cluster(): Promise<SurveyedCluster>;
  topics(names: readonly string[]): Promise<ReadonlyMap<string, SurveyedTopic>>;
  topicSettings(name: string): Promise<ReadonlyMap<string, string>>;
  /** Bytes on disk, of one replica of each partition together; without those topics of which no broker tells them. */
  topicSizes(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Why the topic could not be created; `undefined` when it could. */
  creationProblem(topic: NewTopic): Promise<Error | undefined>;
  /** Whether this client may be a member of the group. */
  mayJoin(groupId: string): Promise<boolean>;
  /** Whether it may write in transactions of the id. */
  mayTransact(transactionalId: string): Promise<boolean>;
  /** How far the controller's clock is ahead of ours, at least, in milliseconds; `undefined`: not told. */
  clockLeadMs(): Promise<number | undefined>;
  close(): Promise<void>;
}

/** A compacted topic read whole and followed (Connect's KafkaBasedLog): the store behind configs, offsets and status. */
export interface CompactedTopic {
  /** Creates the topic when missing, refuses one that is not compacted, reads to its end; then follows it. */
  start(): Promise<void>;
  /** Resolves when the broker has the record; its own `onRecord` comes later, see `readToEnd`. */
  send(key: string | Uint8Array, value: Uint8Array | null): Promise<void>;
  sendAll(records: readonly { key: string | Uint8Array; value: Uint8Array | null }[]): Promise<void>;
  /** Resolves when everything that was in the topic at the time of the call went through `onRecord`. */
  readToEnd(): Promise<void>;
  stop(): Promise<void>;
}

export interface CompactedTopicOptions {
  readonly topic: string;
  /** The worker property that names the topic, for messages: `config.storage.topic`. */
  readonly property: string;
  /** What the topic keeps, in Connect's words: `connector configurations`, `source connector offsets`, … */
  readonly purpose: string;
  /** For creation; -1: the broker's default. */
  readonly partitions: number;
  readonly replicationFactor: number;
  /** For creation; `cleanup.policy` is always `compact`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Refuse an existing topic with several partitions, as order between keys matters. */
  readonly singlePartition?: boolean;
  /** In offset order per partition, during `start` and from then on; key and value are the callee's to keep. */
  onRecord(record: ConsumedRecord): void;
}

/**
 * Opens clients of one cluster. Each has connections of its own and must be closed. `properties` come over those the
 * client was created with; wrong ones are a ConfigError here, not later.
 */
export interface KafkaClient {
  consumer(properties?: ClientProperties): Consumer;
  producer(properties?: ClientProperties): Producer;
  /** `transactional.id` must be among the properties. */
  transactionalProducer(properties?: ClientProperties): TransactionalProducer;
  admin(properties?: ClientProperties): Admin;
  survey(properties?: ClientProperties): Survey;
  compactedTopic(options: CompactedTopicOptions, properties?: ClientProperties): CompactedTopic;
}
