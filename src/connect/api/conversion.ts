import type { MessageBlock, TakeStruct } from '../../data/message-block.ts';
import type { ConnectRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import type { Finding } from '../../data/finding.ts';
import type { ConnectorConfig, DiagnosisContext, PluginBase } from './connector.ts';

/** A value with its schema, as converters exchange it. */
export interface SchemaAndValue {
  readonly schema: Schema | null;
  readonly value: ConnectValue;
}

/**
 * Turns Connect's data into the bytes of keys or values, and back. It is configured once; after that the result depends on
 * the parameters alone. docs/plugins.md#3-a-converter has an example.
 *
 * A converter that must wait (for a schema from a registry) has the `prepare…` methods: the worker calls them first and
 * awaits the promise, if there is one.
 */
export interface Converter {
  /**
   * @param schema `null` for data without a schema
   * @returns the bytes; `null` for a record without a value (a tombstone)
   * @throws DataError if the value does not match the schema or has no form in bytes
   */
  fromConnectData(topic: string, schema: Schema | null, value: ConnectValue): Uint8Array | null;
  /**
   * @param bytes `null` for a record without a value
   * @throws DataError if the bytes cannot be read; `errors.tolerance` applies to the record
   */
  toConnectData(topic: string, bytes: Uint8Array | null): SchemaAndValue;
  /**
   * Returns a promise if something must be awaited before `fromConnectData` with these parameters. It rejects with a
   * DataError for a fault of this record, and with an UnavailableError if the same would happen to all records.
   */
  prepareFromConnectData?(topic: string, schema: Schema | null, value: ConnectValue): Promise<void> | undefined;
  /** The same for `toConnectData`. */
  prepareToConnectData?(topic: string, bytes: Uint8Array | null): Promise<void> | undefined;
  /** For `SinkRecordBlock.readStructs`. Values that it cannot read are left to `toConnectData`, which reports what is wrong. */
  readStructs?(block: MessageBlock, from: number, to: number, take: TakeStruct): number;
  /** `true`: the converter accepts all bytes and returns them unchanged or as UTF-8 text, so that sinks may read the bytes. */
  readonly passesMessages?: boolean;
  /** `true`: `fromConnectData` returns strings with this schema as their UTF-8, and `null` for null without a schema. */
  passesText?(schema: Schema): boolean;
  /** `true`: `fromConnectData` returns the JSON of the value alone, and that of a struct is made of the JSON of its fields. */
  readonly writesPlainJson?: boolean;
  /** The task stops: pending promises reject with an AbortError. */
  close?(): void;
}

export interface ConverterPlugin extends PluginBase {
  readonly type: 'converter';
  /**
   * Called for each task.
   * @param config the properties below `key.converter.` or `value.converter.`, without this prefix
   * @throws ConfigError that names the option that is wrong
   */
  create(config: ConnectorConfig, isKey: boolean): Converter;
  /** As for connectors, with the properties that `create` gets. */
  diagnose?(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]>;
}

/** The same for the values of headers. A DataError is a fault of the record. */
export interface HeaderConverter {
  fromConnectHeader(topic: string, key: string, schema: Schema | null, value: ConnectValue): Uint8Array | null;
  toConnectHeader(topic: string, key: string, bytes: Uint8Array | null): SchemaAndValue;
}

export interface HeaderConverterPlugin extends PluginBase {
  readonly type: 'header_converter';
  /** As for converters, with the properties below `header.converter.`. */
  create(config: ConnectorConfig): HeaderConverter;
}

/** Changes records one by one, after the converter in a sink and before it in a source. docs/plugins.md#2-a-transform has an example. */
export interface Transformation {
  /**
   * @param record must not be changed: return a copy with other members (`{ ...record, topic }`)
   * @returns the record to continue with; `null` drops the record
   * @throws DataError for a fault of the record; RetriableError: the call is repeated within `errors.retry.timeout`
   */
  apply<R extends ConnectRecord>(record: R): R | null;
  /** The task stops. */
  close?(): void;
}

export interface TransformationPlugin extends PluginBase {
  readonly type: 'transformation';
  /**
   * Called for each task.
   * @param config the properties below `transforms.NAME.`, without this prefix
   * @throws ConfigError that names the option that is wrong
   */
  create(config: ConnectorConfig): Transformation;
}

/** Decides for each record whether a transform applies to it. */
export interface Predicate {
  /** @throws DataError for a fault of the record */
  test(record: ConnectRecord): boolean;
  /** The task stops. */
  close?(): void;
}

export interface PredicatePlugin extends PluginBase {
  readonly type: 'predicate';
  /** As for transforms, with the properties below `predicates.NAME.`. */
  create(config: ConnectorConfig): Predicate;
}
