import type { SinkRecordBlock } from '../../data/message-block.ts';
import type { SinkRecord, TopicPartition } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorConfig, ConnectorPluginBase } from './connector.ts';

/**
 * A sink connector, which writes records of topics to another system.
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
 * docs/plugins.md#5-a-sink has the complete example.
 */
export interface SinkConnectorPlugin extends ConnectorPluginBase {
  readonly type: 'sink';
  /** Returns a new task that has not been started. */
  createTask(): SinkTask;
  /**
   * Describes what a task with this configuration would do with these records (`POST /connector-plugins/{plugin}/preview`). It
   * must not change anything.
   * @returns one preview for each record, in the same order
   * @throws any error; the request fails with it
   */
  preview?(
    config: ConnectorConfig,
    records: readonly SinkRecord[],
    context: PreviewContext,
  ): Promise<readonly RecordPreview[]>;
  /**
   * Called in three cases: when a user changes the offsets of a stopped connector; when a connector is created with initial
   * offsets; and when a replay of dead-letter records has ended and the offsets of its group are deleted. In the last case,
   * `consumer.override.group.id` in `config` is the group of the replay.
   * @param offsets the new offsets, by partition; `null` removes the offset of a partition; an empty list means that all
   *   offsets are reset
   * @returns `true` if the connector stores no other offsets, or has changed those as well. Otherwise, and without this method,
   *   the response asks the user to check for offsets in the other system
   * @throws any error; the change is rejected, and the response contains its message
   */
  alterOffsets?(config: ConnectorConfig, offsets: readonly SinkOffset[]): Promise<boolean>;
}

/** A change of one partition's offset in a consumer group. */
export interface SinkOffset extends TopicPartition {
  readonly offset: number | null;
}

/** Reports records that a sink task could not store. Connect's error policy applies (tolerance, log, dead-letter topic). */
export interface ErrantRecordReporter {
  /**
   * `true` with `errors.tolerance=all`: reported records are skipped, and the task continues. If `false`, the task must not
   * store any later record of the same partition.
   */
  readonly tolerant: boolean;
  /**
   * Reports a record. If there is a dead-letter topic, waits until the broker has stored the dead-letter record.
   * @param error the fault of the record; the log and the headers of the dead-letter record contain its message
   * @throws an error if the task must fail, because `errors.tolerance` is `none` or the dead-letter record could not be written.
   * `put` must then reject with this error
   */
  report(record: SinkRecord, error: Error): Promise<void>;
}

/** The context that the worker provides to a sink task. */
export interface SinkTaskContext {
  readonly connectorName: string;
  /** Index of the task, starting at 0. */
  readonly taskIndex: number;
  /**
   * The configuration that `taskConfigs` returned for this task. The worker adds `task.class`, and `topics` or
   * `topics.regex` of the connector.
   */
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  /** Aborted when the task must stop. Waits and retries inside `put` should then end. */
  readonly signal: AbortSignal;
  /**
   * Returns false if another worker may already run this task. As long as it returns false, this worker does not call
   * `put`. A task that writes outside of `put` must call this immediately before each write.
   */
  mayWrite(): boolean;
  readonly errantRecords: ErrantRecordReporter;
  /** The partitions that are currently assigned to the task. */
  assignment(): readonly TopicPartition[];
  /**
   * Offset of the next record to be read from an assigned partition; known once `open` was called. Records that are waiting for
   * `put` have lower offsets.
   */
  position(partition: TopicPartition): number | undefined;
  /**
   * True if the broker has reported further records of an assigned partition, so that `put` will soon be called with
   * them. False while the partition is paused.
   */
  hasMore(partition: TopicPartition): boolean;
  /**
   * Returns the offset of an assigned partition together with the topic id and the leader epoch under which the partition was
   * read, if the brokers report them.
   */
  identified(offset: PartitionOffset): PartitionOffset;
  /**
   * Validates offsets that the task stored itself, together with topic id and leader epoch, and returns the offsets at which
   * reading resumes. An offset changes in two cases, each of which is logged as a warning. If the topic was recreated, reading
   * resumes at its beginning. If a leader without the last records was elected, reading resumes after the last record that its
   * log has in common with what was read. Waits while the brokers are unreachable.
   */
  kept(offsets: readonly PartitionOffset[], signal: AbortSignal): Promise<readonly PartitionOffset[]>;
  /**
   * Resumes reading at other offsets. Records that were read but not put are dropped. Must only be called during a call from
   * the worker (`open`, `put`, …).
   */
  seek(offsets: readonly PartitionOffset[]): void;
  /**
   * Sets how long the worker waits after `put` failed with a RetriableError before it calls `put` with the same records again.
   * The default is 3 s.
   */
  retryAfterMs(delayMs: number): void;
  /** Requests an offset commit soon, instead of after `offset.flush.interval.ms`. */
  requestCommit(): void;
}

/** Totals of a task's writes since its start. */
export interface WrittenRows {
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  /** Recent time per row; `null` if nothing has been written yet. */
  readonly microseconds: number | null;
}

/** The wait of a task, for example for a database. */
export interface WaitingInTask {
  /** Number of records that the task has received but not stored yet. */
  readonly records: number;
  /** Milliseconds without progress: since a record was last stored, or since the wait began. */
  readonly waitedMs: number;
  /** Part of a sentence, without secrets; absent if the cause is unknown. */
  readonly cause?: string | undefined;
}

/**
 * A sink task. These calls never overlap: `start`, then `open`, `put`, `preCommit` and `close` in any order, then `stop`. `put` may
 * return before the records are stored. `preCommit` must not return an offset after a record that is not stored.
 */
export interface SinkTask {
  /** @throws any error; it sets the task to FAILED */
  start(context: SinkTaskContext): Promise<void>;
  /** Called when partitions were assigned to this task, in addition to those that it already has. */
  open?(partitions: readonly TopicPartition[]): Promise<void>;
  /**
   * Called with the next records, in order for each partition. The list can be empty. A task that is slower than the consumer
   * waits inside `put`.
   * @throws RetriableError if the worker should pause all partitions and call `put` with the same records after `retryAfterMs`
   * @throws any other error; it sets the task to FAILED
   */
  put(records: readonly SinkRecord[]): Promise<void>;
  /**
   * Called instead of `put` to let the task read the bytes of a block, without an object for each record. If the task cannot
   * read some of the messages, it creates records of them (`sinkRecord`), in order. The worker calls this in two cases: the
   * value converter has `readStructs` and all transforms can be planned; or there are no transforms and the converter has
   * `passesMessages`.
   * @throws the error of a record that cannot be created; all records before it count as put. All other errors are handled as
   * in `put`
   */
  putBlock?(block: SinkRecordBlock): Promise<void>;
  /**
   * Called before each commit.
   * @param delivered the offset after the last record that was put, by partition (the key is `topic/partition`)
   * @param flush `true` if the worker waits for the commit, such as before partitions are revoked and before the stop: wait until
   * all records that were put are stored
   * @returns the next offset to read of each partition; all earlier records must be stored. Nothing is committed for a partition
   * that is absent from the result
   * @throws any error; it sets the task to FAILED
   */
  preCommit(delivered: ReadonlyMap<string, PartitionOffset>, flush: boolean): Promise<readonly PartitionOffset[]>;
  /**
   * Returns immediately what `preCommit` without `flush` would return. The displayed lag is based on these offsets. Without
   * this method, it is based on the last result of `preCommit`. Called at any time, also while `put` is running.
   * @param delivered as for `preCommit`
   */
  stored?(delivered: ReadonlyMap<string, PartitionOffset>): readonly PartitionOffset[];
  /**
   * Returns the number of records that were put but are not stored, and what the task is waiting for; `undefined` if it is not
   * waiting. Shown by `GET /connectors/{connector}/health`. Called at any time, also while `put` is running.
   */
  waiting?(): WaitingInTask | undefined;
  /** Whole sentences for the user about the running task, without secrets. Called at the same times as `waiting`. */
  hints?(): readonly string[];
  /**
   * Returns the totals of the task's writes, for the console; `undefined` if the task does not count them. Called at the same times
   * as `waiting`.
   */
  written?(): WrittenRows | undefined;
  /**
   * Called when partitions were revoked or lost, and for the assigned partitions when the task ends. The task drops the
   * records that it has buffered for them.
   */
  close?(partitions: readonly TopicPartition[]): Promise<void>;
  /** Releases the resources that `start` acquired. Also called after failures, and possibly more than once. */
  stop(): Promise<void>;
}

/** The offset of the next record to read from a partition. */
export interface PartitionOffset extends TopicPartition {
  readonly offset: number;
  /** Epoch of the leader that wrote the record before the offset; absent if unknown. */
  readonly leaderEpoch?: number | undefined;
  /** Id of the topic as Kafka's tools print it; absent if unknown. */
  readonly topicId?: string | undefined;
}

/** The context that the worker provides to a preview. */
export interface PreviewContext {
  readonly logger: Logger;
  /** Aborted when the client of the request has disconnected. */
  readonly signal: AbortSignal;
  /**
   * True if the configuration contains secrets that the caller of the preview did not supply: stored ones, or values of config
   * providers. A preview must then not execute anything that a message contains.
   */
  readonly usesStoredSecrets: boolean;
}

/** The effect of a sink on one record. */
export interface RecordPreview {
  readonly rows?: readonly PreviewedRow[];
  /** Lines of text that would be written. */
  readonly lines?: readonly string[];
  /** SQL statements that would run, in order. */
  readonly statements?: readonly string[];
  readonly faults?: readonly PreviewFault[];
}

/** One row that would be stored or deleted. */
export interface PreviewedRow {
  readonly table: string;
  readonly operation: 'store' | 'delete';
  readonly columns: readonly string[];
  /**
   * Values in the order of the columns. A value that JSON cannot represent as a number or text is the text that the database
   * prints.
   */
  readonly values: readonly (string | number | boolean | null)[];
}

/** One fault of a record. */
export interface PreviewFault {
  readonly message: string;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  readonly sqlstate?: string | undefined;
}
