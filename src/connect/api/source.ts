import type { PackedHeaders, PackedRecords } from '../../data/packed-records.ts';
import type { Header, SourceCoordinates, SourceRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorConfig, ConnectorPluginBase } from './connector.ts';
import type { WaitingInTask } from './sink.ts';

/** A source connector: data of another system become records of topics. docs/plugins.md#4-a-source has an example. */
export interface SourceConnectorPlugin extends ConnectorPluginBase {
  readonly type: 'source';
  /** Returns a new task, which is not started. `config` is the connector's. */
  createTask(config: ConnectorConfig): SourceTask;
  /**
   * Called for connectors with `exactly.once.support=required`.
   * @returns `supported` if no record is lost or duplicated when each record is stored together with its offset. Without this
   *   member the answer is that this is not known
   * @throws any error is shown to the user
   */
  exactlyOnceSupport?(config: ConnectorConfig): 'supported' | 'unsupported';
  /** Whether its tasks can end transactions themselves (`transaction.boundary=connector`). Without this member: no. */
  canDefineTransactionBoundaries?(config: ConnectorConfig): boolean;
  /** As for sinks. Partitions and offsets are what the user sent and can have any keys and values. */
  alterOffsets?(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean>;
  /**
   * Says what other offsets come to, for `POST /connectors/{connector}/offsets/preview`; it must not change anything.
   * @param stored the offsets that the connector has
   * @throws any error is answered 400
   */
  previewOffsets?(
    config: ConnectorConfig,
    target: SourceTarget,
    stored: readonly SourceOffset[],
  ): Promise<readonly SourcePreview[]>;
  /**
   * Lists the tables that a source could read with this connection, for a user who chooses some. The configuration may be incomplete
   * otherwise.
   * @throws any error is answered 400
   */
  listTables?(config: ConnectorConfig): Promise<readonly SourceTableInfo[]>;
}

/** A table that a source could read. */
export interface SourceTableInfo {
  /** As the options of the source name it. */
  readonly name: string;
  /** `null`: unknown. */
  readonly rows: number | null;
  readonly precision: 'exact' | 'estimate' | 'atLeast';
  /** Why the table is not read with this configuration; `null`: it is. */
  readonly problem: string | null;
}

/** Where a source would continue; `time` in milliseconds since the epoch. */
export type SourceTarget =
  { readonly to: 'earliest' | 'latest' } | { readonly time: number } | { readonly offsets: readonly SourceOffset[] };

/** The effect of another offset of a source partition. */
export interface SourcePreview {
  readonly partition: SourceCoordinates;
  /** `null`: as a new connector begins. */
  readonly offset: SourceCoordinates | null;
  /** Records that are sent again, and records that are never sent; `null`: unknown. */
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
  /** The first task is 0. */
  readonly taskIndex: number;
  /** The configuration that `taskConfigs` returned for this task. */
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  /** Aborted when the task must stop: waits inside `poll` should end then. */
  readonly signal: AbortSignal;
  /** The last stored offset of this source partition; `null` if there is none. */
  offset(partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  /**
   * The largest number of records of the next poll, by `rate.limit.records` and `rate.limit.bytes`; `undefined`: no limit.
   * After more records the worker waits longer before it polls again.
   */
  pollMax?(): number | undefined;
  /** Present only with exactly-once delivery and `transaction.boundary=connector`. */
  readonly transactions?: SourceTransactions;
  /** Present if there are no transforms, and keys and values are written as JSON without schemas. */
  readonly json?: JsonEncoding;
}

/**
 * How the converters of the connector write keys and values, for tasks that write the JSON of records as blocks
 * (`SourceTask.pollBlocks`, with the schema JSON_TEXT). The bytes of a struct are those of its fields between their names
 * (`Converter.writesPlainJson`).
 */
export interface JsonEncoding {
  key(topic: string, schema: Schema, value: ConnectValue): Uint8Array;
  value(topic: string, schema: Schema, value: ConnectValue): Uint8Array;
  headers(topic: string, headers: readonly Header[]): PackedHeaders;
}

/**
 * Ends transactions (org.apache.kafka.connect.source.TransactionContext) after the given record of the current poll, or after
 * its last record. The records of an aborted transaction are discarded; their offsets are stored.
 */
export interface SourceTransactions {
  commit(record?: SourceRecord): void;
  abort(record?: SourceRecord): void;
}

/** State and counts of one part of a task, such as a table, for status and metrics. */
export interface TaskPart {
  readonly name: string;
  /**
   * FAILED: the task tries this part again and continues with the others. WAITING: something that the part needs does not
   * exist yet.
   */
  readonly state: 'RUNNING' | 'FAILED' | 'WAITING';
  /** The last error while the part is FAILED; what a WAITING one waits for. */
  readonly error: string | undefined;
  /** Totals since the task started, by name in camel case (`rows`, `lateRows`). */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * A record that the source could not make. The error policy decides: the task fails, or the record is skipped or becomes a dead letter
 * (`errors.tolerance`, `errors.deadletterqueue.topic.name`).
 */
export interface FailedRecord {
  readonly error: Error;
  /** The topic that it was for. */
  readonly topic: string;
  readonly sourcePartition: SourceCoordinates;
  readonly sourceOffset: SourceCoordinates;
  /** The content of its dead letter, without secrets. */
  readonly content: string | null;
}

/** One result of `poll`. */
export type PolledRecord = SourceRecord | FailedRecord | OffsetUpdate;

/** A figure of a task for `/metrics`, a gauge with the labels `connector` and `task` in addition to its own. */
export interface TaskMetric {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Records of one topic and one source partition that were written as bytes, for `SourceTask.pollBlocks`. Keys and values are the UTF-8
 * of strings. They have no partition and no timestamp.
 */
export interface SourceBlock {
  /** Made by a RecordPacker. */
  readonly packed: PackedRecords;
  /** The schema of keys; records without a key have no key schema. */
  readonly keySchema: Schema;
  readonly valueSchema: Schema;
  readonly sourcePartition: SourceCoordinates;
  /** The offset to store while not all of the records are acknowledged, and when they are. */
  readonly offsetBefore: SourceCoordinates;
  readonly offsetAfter: SourceCoordinates;
}

/**
 * An offset that is stored once all records before it are, without a record. For sources whose position moves while there is nothing
 * to send.
 */
export interface OffsetUpdate {
  readonly sourcePartition: SourceCoordinates;
  readonly sourceOffset: SourceCoordinates;
}

/**
 * A source task. Calls never overlap, except `commitRecord`, `describe`, `parts`, `metrics` and `waiting`.
 */
export interface SourceTask {
  /** @throws any error sets the task to FAILED */
  start(context: SourceTaskContext): Promise<void>;
  /**
   * Called again and again.
   * @returns the next records, in order for each source partition. If there are none, it waits a limited time, or until
   *   `context.signal` is aborted, and can then return an empty list
   * @throws RetriableError: `poll` is called again after a short pause
   * @throws any other error sets the task to FAILED
   */
  poll(): Promise<readonly PolledRecord[]>;
  /**
   * Replaces `poll`: records in order, many of them as blocks. If there are transforms, or converters that do not pass texts on
   * (`Converter.passesText`), the worker makes records of the blocks. `commitRecord` is not called for records of blocks, but
   * `commitBlock` for each block.
   */
  pollBlocks?(): Promise<readonly (PolledRecord | SourceBlock)[]>;
  /** Called after offsets were stored. Errors are only logged. */
  commit?(): Promise<void>;
  /** Called when the broker has acknowledged this record, or it was dropped; and for an offset update in its turn. */
  commitRecord?(record: PolledRecord): void;
  /** Called when the broker has acknowledged all records of this block, or they were dropped. */
  commitBlock?(block: SourceBlock): void;
  /** Where a record comes from (`table t, row id=7`), for the message of a failure. */
  describe?(record: SourceRecord): string | undefined;
  /** Called at any time after the start, also during another call; it must be cheap. */
  parts?(): readonly TaskPart[];
  /** Figures for metrics. Called as `parts`. */
  metrics?(): readonly TaskMetric[];
  /**
   * The reason for which the task waits, and for how long (`GET /connectors/{connector}/health`); absent: nothing. Called as `parts`. A `poll`
   * that does not return, or fails repeatedly, need not be reported.
   */
  waiting?(): WaitingInTask | undefined;
  /** Releases what `start` acquired. Also called after failures, and possibly more than once. */
  stop(): Promise<void>;
}
