import type { OptionDeclarations, OptionResult } from '../config/option.ts';
import type { MessageBlock, SinkRecordBlock, TakeStruct } from '../data/message-block.ts';
import type { SinkRecord, SourceCoordinates, SourceRecord, TopicPartition } from '../data/record.ts';
import type { ConnectRecord, Header } from '../data/record.ts';
import type { Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import type { Logger } from '../observe/logger.ts';

/** A flat configuration as Connect keeps it. Values that came from a config provider are already resolved. */
export type ConnectorConfig = Readonly<Record<string, string>>;

/** What the worker lends a connector instance. */
export interface ConnectorContext {
  readonly connectorName: string;
  readonly logger: Logger;
  /** Asks the herder to call `taskConfigs` again (tables came or went, for instance). */
  requestTaskReconfiguration(): void;
  /** Makes the connector FAILED with this error's trace; its tasks go on. */
  raiseError(error: Error): void;
}

/** One connector instance per connector and worker; it owns no data, it only decides how work is divided. */
export interface Connector {
  /** Called once, before `taskConfigs`. A throw makes the connector FAILED. */
  start(config: ConnectorConfig, context: ConnectorContext): Promise<void>;
  /** At most `maxTasks` configurations, one per task. Called after `start` and after each reconfiguration request. */
  taskConfigs(maxTasks: number): Promise<readonly ConnectorConfig[]>;
  /** Releases what `start` took; called at most once, also after a failed start. */
  stop(): Promise<void>;
}

interface PluginBase {
  /** The names a config may use: the first is the full class name that responses show. */
  readonly className: string;
  readonly version: string;
  /** The plugin's own options, in display order (without Connect's common ones). */
  readonly options: OptionDeclarations;
}

interface ConnectorPluginBase extends PluginBase {
  /** Java name of the task's class, kept in task configurations as `task.class`. */
  readonly taskClassName: string;
  createConnector(): Connector;
  /**
   * Checks that need several options at once or the database; results are merged over the declared checks
   * by name (errors are added). Must not throw for bad configurations.
   */
  validate?(config: ConnectorConfig): Promise<readonly OptionResult[]>;
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

/** What would become of one record; a plugin leaves out what it has not. */
export interface RecordPreview {
  readonly rows?: readonly PreviewedRow[];
  /** Text that would be written. */
  readonly lines?: readonly string[];
  /** Statements that would run, in their order. */
  readonly statements?: readonly string[];
  readonly faults?: readonly PreviewFault[];
}

/** What the worker lends a preview. */
export interface PreviewContext {
  readonly logger: Logger;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface SinkConnectorPlugin extends ConnectorPluginBase {
  readonly type: 'sink';
  createTask(): SinkTask;
  /**
   * What a task with this configuration would do with these records: one preview each, in their order. Nothing may be left
   * behind. A throw is the answer's error.
   */
  preview?(
    config: ConnectorConfig,
    records: readonly SinkRecord[],
    context: PreviewContext,
  ): Promise<readonly RecordPreview[]>;
  /**
   * Someone changes the consumer group's offsets (`null`: removes one; none at all: resets them) while the connector is
   * stopped. `true`: the connector keeps no others, or has changed those too; absent or `false`: the user is told to look
   * at offsets that the connector may keep elsewhere. A throw refuses the change with its message.
   */
  alterOffsets?(config: ConnectorConfig, offsets: readonly SinkOffset[]): Promise<boolean>;
}

export interface SourceConnectorPlugin extends ConnectorPluginBase {
  readonly type: 'source';
  createTask(): SourceTask;
  /**
   * Whether no record is lost or doubled when each is stored together with its offset (`exactly.once.support=required` asks
   * for it); absent: nobody knows. A throw is shown to the user.
   */
  exactlyOnceSupport?(config: ConnectorConfig): 'supported' | 'unsupported';
  /** Whether its tasks end transactions themselves (`transaction.boundary=connector`); absent: they do not. */
  canDefineTransactionBoundaries?(config: ConnectorConfig): boolean;
  /** As for sinks, with what users gave: anything may be in it. */
  alterOffsets?(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean>;
}

/** A change of one partition's offset in a consumer group. */
export interface SinkOffset extends TopicPartition {
  readonly offset: number | null;
}

/** A change of one source partition's offset. */
export interface SourceOffset {
  readonly partition: SourceCoordinates | null;
  readonly offset: SourceCoordinates | null;
}

export type ConnectorPlugin = SinkConnectorPlugin | SourceConnectorPlugin;

/** Reports records that a sink task could not store, by Connect's error policy (tolerance, log, dead-letter topic). */
export interface ErrantRecordReporter {
  /**
   * Hands one record over; resolves when its dead letter, if any, is acknowledged. Rejects when
   * `errors.tolerance=none`: the task must let that error out.
   */
  report(record: SinkRecord, error: Error): Promise<void>;
}

export interface SinkTaskContext {
  readonly connectorName: string;
  readonly taskIndex: number;
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  /** Aborted when the task must stop: waits and retries inside `put` end then. */
  readonly signal: AbortSignal;
  readonly errantRecords: ErrantRecordReporter;
  assignment(): readonly TopicPartition[];
  /** The next offset that will be read of an assigned partition, known from `open` on; what waits to be put is before it. */
  position(partition: TopicPartition): number | undefined;
  /** Rewinds (or forwards) partitions; what was read of them and has not been put yet will not be. Not to be called between calls. */
  seek(offsets: readonly (TopicPartition & { readonly offset: number })[]): void;
  /** After a RetriableError from `put`: wait this long before the same records are put again. */
  retryAfterMs(delayMs: number): void;
  requestCommit(): void;
}

/**
 * A sink task. Calls never overlap: start, then open / put / preCommit / close in any order, then stop.
 * `put` may return before the rows are stored, as long as `preCommit` tells no offset that is not.
 */
export interface SinkTask {
  start(context: SinkTaskContext): Promise<void>;
  /** Partitions were assigned to this task, in addition to those it has. */
  open?(partitions: readonly TopicPartition[]): Promise<void>;
  /**
   * Takes records in partition order. RetriableError: the worker puts the same records again, with all partitions
   * paused. Any other error: the task FAILS. Waiting inside `put` is the way to slow the consumer down.
   */
  put(records: readonly SinkRecord[]): Promise<void>;
  /**
   * Takes the place of `put` where records go from broker to task as they are: no transforms, and a value converter that
   * `passesMessages` or can `readStructs`. The task makes records of what it cannot read in the block.
   */
  putBlock?(block: SinkRecordBlock): Promise<void>;
  /**
   * The offsets that are safe to commit (next offset to read, per partition), out of `delivered`, which holds the next
   * offset after everything put so far. `flush`: wait until everything put is stored first (before a rebalance or stop).
   */
  preCommit(delivered: ReadonlyMap<string, PartitionOffset>, flush: boolean): Promise<readonly PartitionOffset[]>;
  /** Partitions were taken away; everything kept for them must be dropped. */
  close?(partitions: readonly TopicPartition[]): Promise<void>;
  /** Idempotent; also called after failures. */
  stop(): Promise<void>;
}

export interface PartitionOffset extends TopicPartition {
  readonly offset: number;
}

export interface SourceTaskContext {
  readonly connectorName: string;
  readonly taskIndex: number;
  readonly config: ConnectorConfig;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** The offset stored last for this partition, or `null`. */
  offset(partition: SourceCoordinates): Promise<SourceCoordinates | null>;
  /** With exactly-once delivery and `transaction.boundary=connector` only. */
  readonly transactions?: SourceTransactions;
}

/**
 * Ends of transactions, as a task sets them (org.apache.kafka.connect.source.TransactionContext): after a record of the poll
 * that is under way, or after all of them. Records of an aborted transaction are discarded, their offsets are stored.
 */
export interface SourceTransactions {
  commit(record?: SourceRecord): void;
  abort(record?: SourceRecord): void;
}

/** One part of what a task does, such as a table: how it is doing, for status pages and metrics. */
export interface TaskPart {
  readonly name: string;
  /** FAILED: it is tried again; the task itself goes on with its other parts. */
  readonly state: 'RUNNING' | 'FAILED';
  /** Why it failed last, while it is FAILED. */
  readonly error: string | undefined;
  /** Totals since the task started, by name in camel case (`rows`, `lateRows`). */
  readonly counts: Readonly<Record<string, number>>;
}

/** A source task. Calls never overlap, except `commitRecord`, which comes with the producer's acknowledgements. */
export interface SourceTask {
  start(context: SourceTaskContext): Promise<void>;
  /**
   * The next records, in order per source partition; waits (bounded, and ended by `context.signal`) when there are none
   * and may then give an empty list. RetriableError: polled again; other errors: the task FAILS.
   */
  poll(): Promise<readonly SourceRecord[]>;
  /** Offsets were committed. Errors are logged only. */
  commit?(): Promise<void>;
  /** The broker has this record (or a transform dropped it). */
  commitRecord?(record: SourceRecord): void;
  /** What a record of the last polls is made of (`table t, row id=7`), for the message of a failure that is about it. */
  describe?(record: SourceRecord): string | undefined;
  /** At any time after the start, also while another call runs; costs little. */
  parts?(): readonly TaskPart[];
  stop(): Promise<void>;
}

/** A value with its schema, as converters exchange it. */
export interface SchemaAndValue {
  readonly schema: Schema | null;
  readonly value: ConnectValue;
}

/**
 * Bytes to Connect data and back. Errors thrown are record faults (DataError). Configured once, then pure.
 *
 * A converter that must wait for something (a schema from its registry) says so by `prepare…`: who converts calls it first,
 * waits for the promise if there is one, and converts then. It costs little where nothing is to be waited for.
 */
export interface Converter {
  fromConnectData(topic: string, schema: Schema | null, value: ConnectValue): Uint8Array | null;
  toConnectData(topic: string, bytes: Uint8Array | null): SchemaAndValue;
  /**
   * A promise when something must be waited for before `fromConnectData` can be called with this. It rejects with a
   * DataError for a fault of this record, with an UnavailableError where all records would have to wait.
   */
  prepareFromConnectData?(topic: string, schema: Schema | null, value: ConnectValue): Promise<void> | undefined;
  /** The same for `toConnectData`. */
  prepareToConnectData?(topic: string, bytes: Uint8Array | null): Promise<void> | undefined;
  /** For `SinkRecordBlock.readStructs`: what it cannot read so is for `toConnectData`, which says what is wrong. */
  readStructs?(block: MessageBlock, from: number, to: number, take: TakeStruct): number;
  /** Takes all bytes, and gives them as they are or as UTF-8 text: who wants a message may read it from the bytes. */
  readonly passesMessages?: boolean;
  /** The task stops: what is being waited for is given up, with an AbortError. */
  close?(): void;
}

export interface HeaderConverter {
  fromConnectHeader(topic: string, key: string, schema: Schema | null, value: ConnectValue): Uint8Array | null;
  toConnectHeader(topic: string, key: string, bytes: Uint8Array | null): SchemaAndValue;
}

export interface ConverterPlugin extends PluginBase {
  readonly type: 'converter';
  /** `config` has the sub-keys without their `key.converter.` prefix. A ConfigError names what is wrong. */
  create(config: ConnectorConfig, isKey: boolean): Converter;
}

export interface HeaderConverterPlugin extends PluginBase {
  readonly type: 'header_converter';
  create(config: ConnectorConfig): HeaderConverter;
}

export interface Transformation {
  /** The record to pass on, or `null` to drop it. */
  apply<R extends ConnectRecord>(record: R): R | null;
  close?(): void;
}

export interface TransformationPlugin extends PluginBase {
  readonly type: 'transformation';
  create(config: ConnectorConfig): Transformation;
}

export interface Predicate {
  test(record: ConnectRecord): boolean;
  close?(): void;
}

export interface PredicatePlugin extends PluginBase {
  readonly type: 'predicate';
  create(config: ConnectorConfig): Predicate;
}

/** What the worker lends a service. */
export interface ServiceContext {
  readonly logger: Logger;
}

/** Something that runs beside the connectors, once per worker that names it. `new` -> started -> stopped. */
export interface Service {
  /** Resolves when it answers; what it depends on need not be there yet. A throw stops the worker's start. */
  start(): Promise<void>;
  /** Finishes what runs, within bounds; called at most once, also after a failed start. */
  stop(): Promise<void>;
  /** Where it answers once started, for people. */
  readonly address?: string | undefined;
}

/**
 * A service of the worker, switched on by the worker property `services`. It is no plugin of Connect: the registry and
 * `/connector-plugins` do not know it.
 */
export interface ServicePlugin extends PluginBase {
  readonly type: 'service';
  /** As `services` names it: `database-http`. */
  readonly name: string;
  /** Worker properties that begin so are the service's own: `database.http.`. */
  readonly optionPrefix: string;
  /** `config` has the service's properties without their prefix. A ConfigError names what is wrong. */
  create(config: ConnectorConfig, context: ServiceContext): Service;
}

export type Plugin = ConnectorPlugin | ConverterPlugin | HeaderConverterPlugin | TransformationPlugin | PredicatePlugin;

export type { ConnectRecord, Header };
