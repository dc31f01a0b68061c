import type { PackedHeaders, PackedRecords } from '../../data/packed-records.ts';
import type { Header, SourceCoordinates, SourceRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorConfig, ConnectorPluginBase } from './connector.ts';
import type { WaitingInTask } from './sink.ts';

/** A source connector, which reads another system and writes records to topics. docs/plugins.md#4-a-source has an example. */
export interface SourceConnectorPlugin extends ConnectorPluginBase {
  readonly type: 'source';
  /** Returns a new task that has not been started. `config` is the configuration of the connector. */
  createTask(config: ConnectorConfig): SourceTask;
  /**
   * Called for connectors with `exactly.once.support=required`.
   * @returns `supported` if no record is lost or duplicated when each record is stored together with its offset. Without this
   *   method, the support is unknown
   * @throws any error; it is shown to the user
   */
  exactlyOnceSupport?(config: ConnectorConfig): 'supported' | 'unsupported';
  /**
   * Returns whether the tasks can define transaction boundaries themselves (`transaction.boundary=connector`). Without this
   * method, they cannot.
   */
  canDefineTransactionBoundaries?(config: ConnectorConfig): boolean;
  /** Like `alterOffsets` of sinks. Partitions and offsets are what the user sent, and can have any keys and values. */
  alterOffsets?(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean>;
  /**
   * Describes the effect of other offsets, for `POST /connectors/{connector}/offsets/preview`. It must not change anything.
   * @param stored the current offsets of the connector
   * @throws any error; the response has the status 400
   */
  previewOffsets?(
    config: ConnectorConfig,
    target: SourceTarget,
    stored: readonly SourceOffset[],
  ): Promise<readonly SourcePreview[]>;
  /**
   * Lists the tables that a source could read with this connection, so that the user can choose some of them. Only the
   * options of the connection must be valid; other options may be missing.
   * @throws any error; the response has the status 400
   */
  listTables?(config: ConnectorConfig): Promise<readonly SourceTableInfo[]>;
}

/** A table that a source could read. */
export interface SourceTableInfo {
  /** The name of the table, as the options of the source expect it. */
  readonly name: string;
  /** Number of rows; `null` if unknown. `precision` states how exact it is. */
  readonly rows: number | null;
  readonly precision: 'exact' | 'estimate' | 'atLeast';
  /** Why the source would not read the table with this configuration; `null` if it would. */
  readonly problem: string | null;
}

/** Where a source would resume. `time` is in milliseconds since the epoch. */
export type SourceTarget =
  { readonly to: 'earliest' | 'latest' } | { readonly time: number } | { readonly offsets: readonly SourceOffset[] };

/** The effect of another offset of a source partition. */
export interface SourcePreview {
  readonly partition: SourceCoordinates;
  /** `null` means that the partition is read as by a new connector. */
  readonly offset: SourceCoordinates | null;
  /** Number of records that would be sent again, and number of records that would never be sent; `null` if unknown. */
  readonly again: number | null;
  readonly skipped: number | null;
}

/** A change of one source partition's offset. */
export interface SourceOffset {
  readonly partition: SourceCoordinates | null;
  readonly offset: SourceCoordinates | null;
}

/** The context that the worker provides to a source task. */
export interface SourceTaskContext {
  readonly connectorName: string;
  /** Index of the task, starting at 0. */
  readonly taskIndex: number;
  /** The configuration that `taskConfigs` returned for this task. The worker adds `task.class`. */
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  /** Aborted when the task must stop. Waits inside `poll` should then end. */
  readonly signal: AbortSignal;
  /** The last stored offset of this source partition; `null` if there is none. */
  offset(partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  /**
   * Maximum number of records of the next poll, according to `rate.limit.records` and `rate.limit.bytes`; `undefined` if there
   * is no limit. After a poll that returns more records, the worker waits longer before the next poll.
   */
  pollMax?(): number | undefined;
  /** Set only with exactly-once delivery and `transaction.boundary=connector`. */
  readonly transactions?: SourceTransactions;
  /**
   * Set if keys and values are written as JSON without schemas, and there are no transforms, no dead-letter topic and
   * no `transactions`.
   */
  readonly json?: JsonEncoding;
}

/**
 * How the converters of the connector write keys and values. Used by tasks that write the JSON of records as blocks
 * (`SourceTask.pollBlocks`, with the schema JSON_TEXT). The JSON of a struct consists of the JSON of its fields and their names
 * (`Converter.writesPlainJson`).
 */
export interface JsonEncoding {
  key(topic: string, schema: Schema, value: ConnectValue): Uint8Array;
  value(topic: string, schema: Schema, value: ConnectValue): Uint8Array;
  headers(topic: string, headers: readonly Header[]): PackedHeaders;
}

/**
 * Ends transactions after the given record of the current poll, or, without a record, after the last record of this poll
 * (org.apache.kafka.connect.source.TransactionContext). The records of an aborted transaction are discarded, but their offsets
 * are stored.
 */
export interface SourceTransactions {
  commit(record?: SourceRecord): void;
  abort(record?: SourceRecord): void;
}

/** State and counts of one part of a task, such as a table, for the status and for metrics. */
export interface TaskPart {
  readonly name: string;
  /**
   * FAILED means that the task retries this part and continues with the others. WAITING means that something that the part
   * needs does not exist yet.
   */
  readonly state: 'RUNNING' | 'FAILED' | 'WAITING';
  /** The last error of a FAILED part, or what a WAITING part is waiting for. */
  readonly error: string | undefined;
  /** Totals since the task started, by name in camel case (`rows`, `lateRows`). */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * A record that the source could not create. The error policy decides whether the task fails, the record is skipped or a
 * dead-letter record is written (`errors.tolerance`, `errors.deadletterqueue.topic.name`).
 */
export interface FailedRecord {
  readonly error: Error;
  /** The topic that the record was intended for. */
  readonly topic: string;
  readonly sourcePartition: SourceCoordinates;
  readonly sourceOffset: SourceCoordinates;
  /** The content of its dead-letter record, without secrets. */
  readonly content: string | null;
}

/** One element of the list that `poll` returns. */
export type PolledRecord = SourceRecord | FailedRecord | OffsetUpdate;

/** A metric of a task for `/metrics`. It is a gauge with the labels `connector` and `task` in addition to its own labels. */
export interface TaskMetric {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Serialized records of one topic and one source partition, for `SourceTask.pollBlocks`. Keys and values are UTF-8 strings. The
 * records have no partition and no timestamp.
 */
export interface SourceBlock {
  /** Created by a RecordPacker (src/data/packed-records.ts). */
  readonly packed: PackedRecords;
  /** The schema of keys. Records without a key have no key schema. */
  readonly keySchema: Schema;
  readonly valueSchema: Schema;
  readonly sourcePartition: SourceCoordinates;
  /** The offset to store while some of the records are not acknowledged. `offsetAfter` is stored once all of them are. */
  readonly offsetBefore: SourceCoordinates;
  readonly offsetAfter: SourceCoordinates;
}

/**
 * An offset without a record, which is stored once all records before it are stored. Used by sources whose position advances
 * while there is nothing to send.
 */
export interface OffsetUpdate {
  readonly sourcePartition: SourceCoordinates;
  readonly sourceOffset: SourceCoordinates;
}

/**
 * A source task. Calls of `start`, `poll` (or `pollBlocks`) and `stop` do not overlap. All other methods may be called while one of
 * these calls is in progress.
 */
export interface SourceTask {
  /** @throws any error; it sets the task to FAILED */
  start(context: SourceTaskContext): Promise<void>;
  /**
   * Called repeatedly.
   * @returns the next records, in order for each source partition. If there are none, it waits for a limited time, or until
   *   `context.signal` is aborted, and may then return an empty list
   * @throws RetriableError if the worker should call `poll` again after a short pause
   * @throws any other error; it sets the task to FAILED
   */
  poll(): Promise<readonly PolledRecord[]>;
  /**
   * Replaces `poll`. Returns records in order, many of them as blocks. The worker creates records from the blocks if
   * there are transforms, a dead-letter topic, `transactions`, or converters that do not pass text unchanged
   * (`Converter.passesText`). `commitRecord` is then called for each of these records; otherwise, `commitBlock` is
   * called for the block.
   */
  pollBlocks?(): Promise<readonly (PolledRecord | SourceBlock)[]>;
  /** Called after each offset commit, even if there were no new offsets. Errors are logged, but have no other effect. */
  commit?(): Promise<void>;
  /**
   * Called when the broker has acknowledged this record (with exactly-once delivery: when its transaction has been
   * committed), or when it was dropped. Also called for each offset update, in order.
   */
  commitRecord?(record: PolledRecord): void;
  /** Called when the broker has acknowledged all records of this block, or when they were dropped. */
  commitBlock?(block: SourceBlock): void;
  /** Describes the origin of a record (`table t, row id=7`), for error messages. */
  describe?(record: SourceRecord): string | undefined;
  /** Called at any time, even before `start` or during another call. It must be cheap. */
  parts?(): readonly TaskPart[];
  /** Returns the metrics of the task. Called at the same times as `parts`. */
  metrics?(): readonly TaskMetric[];
  /**
   * Returns why and for how long the task has been waiting (`GET /connectors/{connector}/health`); `undefined` if it is not
   * waiting. Called at the same times as `parts`. The worker itself detects a `poll` that does not return or fails repeatedly.
   */
  waiting?(): WaitingInTask | undefined;
  /** Whole sentences for the user about the running task, without secrets. Called at the same times as `parts`. */
  hints?(): readonly string[];
  /** Releases the resources that `start` acquired. Also called after failures, and possibly more than once. */
  stop(): Promise<void>;
}
