import type { SinkRecordBlock } from '../../data/message-block.ts';
import type { SinkRecord, TopicPartition } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorConfig, ConnectorPluginBase } from './connector.ts';

/**
 * A sink connector: records of topics go to another system.
 *
 * ```ts
 * export const webhookSink: SinkConnectorPlugin = {
 *   type: 'sink',
 *   className: 'com.acme.WebhookSinkConnector',
 *   taskClassName: 'com.acme.WebhookSinkTask',
 *   version: '1.0.0',
 *   options: declareOptions({ url: { type: 'STRING', importance: 'HIGH', documentation: 'Where records are sent.' } }),
 *   createConnector: () => new WebhookConnector(),
 *   createTask: () => new WebhookTask(),
 * };
 * ```
 * The whole example is in docs/plugins.md#5-a-sink.
 */
export interface SinkConnectorPlugin extends ConnectorPluginBase {
  readonly type: 'sink';
  /** Returns a new task, which is not started. */
  createTask(): SinkTask;
  /**
   * Says what a task with this configuration would do with these records (`POST /connector-plugins/{plugin}/preview`). It must
   * not change anything.
   * @returns one preview for each record, in their order
   * @throws any error becomes the answer of the request
   */
  preview?(
    config: ConnectorConfig,
    records: readonly SinkRecord[],
    context: PreviewContext,
  ): Promise<readonly RecordPreview[]>;
  /**
   * Called when a user changes the offsets of the consumer group while the connector is stopped.
   * @param offsets the new offsets; `null` removes one; an empty list means that all offsets are reset
   * @returns `true` if the connector keeps no other offsets, or has changed those as well. Otherwise, and without this member,
   *   the answer tells the user to check for offsets in the other system
   * @throws any error refuses the change; its message is in the answer
   */
  alterOffsets?(config: ConnectorConfig, offsets: readonly SinkOffset[]): Promise<boolean>;
}

/** A change of one partition's offset in a consumer group. */
export interface SinkOffset extends TopicPartition {
  readonly offset: number | null;
}

/** Reports records that a sink task could not store, by Connect's error policy (tolerance, log, dead-letter topic). */
export interface ErrantRecordReporter {
  /**
   * `true` with `errors.tolerance=all`: reported records are skipped, and the task continues. Otherwise the task must not store
   * any later record of the same partition.
   */
  readonly tolerant: boolean;
  /**
   * Reports a record and waits until the broker has its dead letter, if there is a dead-letter topic.
   * @param error what is wrong with the record; its message goes into the log and the headers of the dead letter
   * @throws with `errors.tolerance=none`: `put` must reject with this error
   */
  report(record: SinkRecord, error: Error): Promise<void>;
}

/** The context that the worker provides to a sink task. */
export interface SinkTaskContext {
  readonly connectorName: string;
  /** The first task is 0. */
  readonly taskIndex: number;
  /** The configuration that `taskConfigs` returned for this task. */
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  /** Aborted when the task must stop: waits and retries inside `put` should end then. */
  readonly signal: AbortSignal;
  /**
   * False when another worker may have this task by now, and this one will be stopped. `put` is not called then; a task that writes
   * outside of its calls asks right before each write.
   */
  mayWrite(): boolean;
  readonly errantRecords: ErrantRecordReporter;
  /** The partitions that the task has now. */
  assignment(): readonly TopicPartition[];
  /** The next offset that will be read of an assigned partition, known from `open` on. Records that wait for `put` are before it. */
  position(partition: TopicPartition): number | undefined;
  /** Whether the broker has reported further records of an assigned partition: `put` gets them soon. */
  hasMore(partition: TopicPartition): boolean;
  /** The offset of an assigned partition, with the topic id and the leader epoch under which it was read, if the brokers report them. */
  identified(offset: PartitionOffset): PartitionOffset;
  /**
   * For tasks that store offsets themselves, with topic id and leader epoch: the offsets at which reading continues. An offset
   * stays as it is, unless the topic was created again (then it is the beginning), or a leader without the last records was
   * elected (then it follows the last common record); each change is logged as a warning. Waits while the brokers are unreachable.
   */
  kept(offsets: readonly PartitionOffset[], signal: AbortSignal): Promise<readonly PartitionOffset[]>;
  /**
   * Continues reading at other offsets; records that were read but not put are dropped. Must only be called inside a call of the worker
   * (`open`, `put`, …).
   */
  seek(offsets: readonly PartitionOffset[]): void;
  /** How long the worker waits after a RetriableError of `put` before it puts the same records again (3 s without a call). */
  retryAfterMs(delayMs: number): void;
  /** Asks for a commit of offsets soon, instead of after `offset.flush.interval.ms`. */
  requestCommit(): void;
}

/** Totals of a task's writes since its start. */
export interface WrittenRows {
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** Recent time for one row; `null`: nothing was written yet. */
  readonly microseconds: number | null;
}

/** Records that a task has taken and not stored yet. */
export interface WaitingInTask {
  readonly records: number;
  /** Milliseconds for which nothing of it was stored. */
  readonly waitedMs: number;
  /** Part of a sentence without secrets; absent: not known. */
  readonly cause?: string | undefined;
}

/**
 * A sink task. Calls never overlap: `start`, then `open`, `put`, `preCommit` and `close` in any order, then `stop`.
 * `put` may return before the records are stored, as long as `preCommit` returns no offset after a record that is not stored.
 */
export interface SinkTask {
  /** @throws any error sets the task to FAILED */
  start(context: SinkTaskContext): Promise<void>;
  /** Partitions were assigned to this task, in addition to those that it has. */
  open?(partitions: readonly TopicPartition[]): Promise<void>;
  /**
   * Called with the next records, in order for each partition; the list can be empty. A task that is slower than the consumer
   * waits inside `put`.
   * @throws RetriableError: the worker pauses all partitions and calls `put` with the same records after `retryAfterMs`
   * @throws any other error sets the task to FAILED
   */
  put(records: readonly SinkRecord[]): Promise<void>;
  /**
   * The task reads the bytes of a block without an object for each record. It makes records (`sinkRecord`) of what it cannot read,
   * in order. Called instead of `put` in two cases: the value converter has `readStructs` and all transforms can be planned; or
   * there are no transforms and the converter `passesMessages`.
   * @throws the error of such a record: all records before it count as put. Otherwise as `put`
   */
  putBlock?(block: SinkRecordBlock): Promise<void>;
  /**
   * Called before each commit.
   * @param delivered for each partition (its key is `topic/partition`) the offset after the last record that was put
   * @param flush `true` before a rebalance and before the stop: wait until everything that was put is stored
   * @returns for each partition the next offset to read, such that all earlier records are stored; absent: no commit for it
   * @throws any error sets the task to FAILED
   */
  preCommit(delivered: ReadonlyMap<string, PartitionOffset>, flush: boolean): Promise<readonly PartitionOffset[]>;
  /**
   * Returns immediately what `preCommit` without `flush` would return. The lag that is shown counts from these offsets. Absent: it
   * counts from the last answer of `preCommit`. Called at any time, also while `put` runs.
   * @param delivered as for `preCommit`
   */
  stored?(delivered: ReadonlyMap<string, PartitionOffset>): readonly PartitionOffset[];
  /**
   * The records that were put and are not stored, and what they wait for (`GET /connectors/{connector}/health`); absent: nothing waits. Called
   * at any time, also while `put` runs.
   */
  waiting?(): WaitingInTask | undefined;
  /** Whole sentences that the user should know while the task works, without secrets. Called as `waiting`. */
  hints?(): readonly string[];
  /** Numbers of written rows, for the console; absent if the task does not count them. Called at the same times as `waiting`. */
  written?(): WrittenRows | undefined;
  /** Partitions were revoked: the task drops the records that it keeps for them. */
  close?(partitions: readonly TopicPartition[]): Promise<void>;
  /** Releases what `start` acquired. Also called after failures, and possibly more than once. */
  stop(): Promise<void>;
}

/** The next offset to read of a partition. */
export interface PartitionOffset extends TopicPartition {
  readonly offset: number;
  /** Epoch of the leader that wrote the record before the offset; absent if not known. */
  readonly leaderEpoch?: number | undefined;
  /** Id of the topic as Kafka's tools print it; absent if not known. */
  readonly topicId?: string | undefined;
}

/** The context that the worker provides to a preview. */
export interface PreviewContext {
  readonly logger: Logger;
  /** Aborted when the client of the request has gone. */
  readonly signal: AbortSignal;
  /**
   * The configuration has secrets that the caller of the preview did not give: stored ones, or values of config providers. A
   * preview must then execute nothing that a message contains.
   */
  readonly usesStoredSecrets: boolean;
}

/** The effect of a sink on one record. All members are optional. */
export interface RecordPreview {
  readonly rows?: readonly PreviewedRow[];
  /** Lines of text that would be written. */
  readonly lines?: readonly string[];
  /** SQL statements that would run, in their order. */
  readonly statements?: readonly string[];
  readonly faults?: readonly PreviewFault[];
}

/** One row that would be stored or removed. */
export interface PreviewedRow {
  readonly table: string;
  readonly operation: 'store' | 'delete';
  readonly columns: readonly string[];
  /** In the order of the columns; what JSON has no number or text for is text as the database prints it. */
  readonly values: readonly (string | number | boolean | null)[];
}

/** One thing that is wrong with a record. */
export interface PreviewFault {
  readonly message: string;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly sqlstate?: string | undefined;
}
