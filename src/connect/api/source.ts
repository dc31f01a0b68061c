import type { PackedRecords } from '../../data/packed-records.ts';
import type { SourceCoordinates, SourceRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
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
  /** Aborted when the task has to stop: waits inside `poll` should end then. */
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
 * Records of one topic and one source partition that were written as bytes, for `SourceTask.pollBlocks`. Keys and values are the UTF-8
 * of strings. They have no partition, timestamp or headers.
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
 * A source task. Calls never overlap, except `commitRecord`, `describe`, `parts` and `waiting`.
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
  poll(): Promise<readonly SourceRecord[]>;
  /**
   * Replaces `poll`: records in order, many of them as blocks. If there are transforms, or converters that do not pass texts on
   * (`Converter.passesText`), the worker makes records of the blocks. `commitRecord` is not called for records of blocks.
   */
  pollBlocks?(): Promise<readonly (SourceRecord | SourceBlock)[]>;
  /** Called after offsets were stored. Errors are only logged. */
  commit?(): Promise<void>;
  /** Called when the broker has acknowledged this record, or a transform has dropped it. */
  commitRecord?(record: SourceRecord): void;
  /** Where a record comes from (`table t, row id=7`), for the message of a failure. */
  describe?(record: SourceRecord): string | undefined;
  /** Called at any time after the start, also during another call; it must be cheap. */
  parts?(): readonly TaskPart[];
  /**
   * The reason for which the task waits, and for how long (`GET /connectors/{connector}/health`); absent: nothing. Called as `parts`. A `poll`
   * that does not return, or fails repeatedly, need not be reported.
   */
  waiting?(): WaitingInTask | undefined;
  /** Releases what `start` acquired. Also called after failures, and possibly more than once. */
  stop(): Promise<void>;
}
