import type { MessageBlock, TakeStruct } from '../../data/message-block.ts';
import type { ConnectRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { Finding } from '../../data/finding.ts';
import type { ConnectorConfig, DiagnosisContext, PluginBase } from './connector.ts';

/** A value with its schema, as converters receive and return it. */
export interface SchemaAndValue {
  readonly schema: Schema | null;
  readonly value: ConnectValue;
}

/**
 * Converts Connect's data to the bytes of keys or values, and back. After it has been configured, the result depends only on
 * the parameters. docs/plugins.md#3-a-converter has an example.
 *
 * A converter that must wait (for a schema from a registry) has the `prepare…` methods. The worker calls them first and awaits
 * the promise, if one is returned.
 */
export interface Converter {
  /**
   * @param schema `null` for data without a schema
   * @returns the bytes; `null` for a record without a value (a tombstone)
   * @throws DataError if the value does not match the schema or cannot be represented as bytes
   */
  fromConnectData(topic: string, schema: Schema | null, value: ConnectValue): Uint8Array | null;
  /**
   * @param bytes `null` for a record without a value
   * @throws DataError if the bytes cannot be read; `errors.tolerance` applies to the record
   */
  toConnectData(topic: string, bytes: Uint8Array | null): SchemaAndValue;
  /**
   * Returns a promise if something must be awaited before `fromConnectData` is called with these parameters. The promise
   * rejects with a DataError if this record is at fault, and with an UnavailableError if every record would fail.
   */
  prepareFromConnectData?(topic: string, schema: Schema | null, value: ConnectValue): Promise<void> | undefined;
  /** Like `prepareFromConnectData`, but for `toConnectData`. */
  prepareToConnectData?(topic: string, bytes: Uint8Array | null): Promise<void> | undefined;
  /**
   * Reads structs for `SinkRecordBlock.readStructs`. If the converter cannot read a value, the worker calls `toConnectData`,
   * which reports the error.
   */
  readStructs?(block: MessageBlock, from: number, to: number, take: TakeStruct): number;
  /**
   * If `true`, the converter accepts all bytes and returns them unchanged or as UTF-8 text, so that sinks may read the bytes
   * directly.
   */
  readonly passesMessages?: boolean;
  /**
   * If the result is `true`, `fromConnectData` encodes strings with this schema as UTF-8, and returns `null` for null without a
   * schema.
   */
  passesText?(schema: Schema): boolean;
  /**
   * If `true`, `fromConnectData` returns only the JSON of the value, and the JSON of a struct consists of the JSON of its
   * fields.
   */
  readonly writesPlainJson?: boolean;
  /** Called when the task stops. Pending promises reject with an AbortError. */
  close?(): void;
}

export interface ConverterPlugin extends PluginBase {
  readonly type: 'converter';
  /**
   * Called for each task.
   * @param config the properties below `key.converter.` or `value.converter.`, without this prefix, and
   *   `converter.type`, which is `key` or `value`
   * @throws ConfigError that names the invalid option
   */
  create(config: ConnectorConfig, isKey: boolean): Converter;
  /** Like `diagnose` of connectors, with the properties that `create` receives. */
  diagnose?(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]>;
}

/** Like Converter, but for the values of headers. A DataError means that the record is at fault. */
export interface HeaderConverter {
  fromConnectHeader(topic: string, key: string, schema: Schema | null, value: ConnectValue): Uint8Array | null;
  toConnectHeader(topic: string, key: string, bytes: Uint8Array | null): SchemaAndValue;
}

export interface HeaderConverterPlugin extends PluginBase {
  readonly type: 'header_converter';
  /** Like `create` of converters, with the properties below `header.converter.`. */
  create(config: ConnectorConfig): HeaderConverter;
}

/**
 * Changes records one at a time: after the converter in a sink, and before it in a source. docs/plugins.md#2-a-transform has an
 * example.
 */
export interface Transformation {
  /**
   * @param record must not be modified: return a copy with other members (`{ ...record, topic }`)
   * @returns the record that replaces the given one; `null` drops the record
   * @throws DataError if the record is at fault
   * @throws RetriableError if the worker should repeat the call, within `errors.retry.timeout`
   */
  apply<R extends ConnectRecord>(record: R): R | null;
  /** Called when the task stops. */
  close?(): void;
}

export interface TransformationPlugin extends PluginBase {
  readonly type: 'transformation';
  /**
   * Called for each task.
   * @param config the properties below `transforms.NAME.`, without this prefix
   * @throws ConfigError that names the invalid option
   */
  create(config: ConnectorConfig): Transformation;
}

/** Decides for each record whether a transform applies to it. */
export interface Predicate {
  /** @throws DataError if the record is at fault */
  test(record: ConnectRecord): boolean;
  /** Called when the task stops. */
  close?(): void;
}

export interface PredicatePlugin extends PluginBase {
  readonly type: 'predicate';
  /** Like `create` of transforms, with the properties below `predicates.NAME.`. */
  create(config: ConnectorConfig): Predicate;
}
