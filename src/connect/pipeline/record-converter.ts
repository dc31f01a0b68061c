import type { Header, SinkRecord } from '../../data/record.ts';
import type { SourceRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { toError } from '../../errors.ts';
import type { ConsumedRecord, ProducedRecord } from '../../kafka/api.ts';
import type { TaskPlace } from '../../observe/work-place.ts';
import type { Converter, HeaderConverter, PartitionOffset, SchemaAndValue } from '../api.ts';
import type { ErrorPolicy, RecordOrigin } from './error-policy.ts';
import type { StageTimes } from './stage-times.ts';
import type { StructProgram } from './struct-plan.ts';
import type { TransformationChain } from './transformation-chain.ts';
import { Turn } from './turn.ts';

export interface Converters {
  readonly key: Converter;
  readonly keyClass: string;
  readonly value: Converter;
  readonly valueClass: string;
  readonly header: HeaderConverter;
  readonly headerClass: string;
}

/** `failed` contains the index and the error of the first record that fails the task. */
export interface ConvertedRecords {
  readonly records: readonly SinkRecord[];
  readonly failed: { readonly index: number; readonly error: Error } | undefined;
}

/** Receives the coordinates of each record before it is converted. */
type RecordPlace = Pick<TaskPlace, 'record' | 'leaveRecord'>;

const NO_PLACE: RecordPlace = { record: () => undefined, leaveRecord: () => undefined };
const NO_HEADERS: readonly Header[] = [];
const NO_PRODUCED_HEADERS: ProducedRecord['headers'] = [];

/** Converts consumed records to sink records; see SinkRecordConverter. */
export interface RecordConversion {
  readonly times: StageTimes;
  convert(consumed: readonly ConsumedRecord[]): Promise<ConvertedRecords>;
  convertOne(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined>;
  planned(source: ConsumedRecord, program: StructProgram): SinkRecord | undefined;
}

/**
 * Converts bytes to sink records: first the converters, then the transforms. The error policy handles failures. As long as
 * nothing fails and no converter must wait, only the synchronous path is used.
 */
export class SinkRecordConverter implements RecordConversion {
  readonly #converters: Converters;
  readonly #chain: TransformationChain;
  readonly #policy: ErrorPolicy;
  readonly #waits: boolean;
  readonly #place: RecordPlace;
  readonly #onDropped: ((place: PartitionOffset) => void) | undefined;

  /** `onDropped` is called with the coordinates of each record that a transform drops. */
  constructor(
    converters: Converters,
    chain: TransformationChain,
    policy: ErrorPolicy,
    place: RecordPlace = NO_PLACE,
    onDropped?: (place: PartitionOffset) => void,
  ) {
    this.#converters = converters;
    this.#chain = chain;
    this.#policy = policy;
    this.#place = place;
    this.#onDropped = onDropped;
    const { key, value } = converters;
    this.#waits = key.prepareToConnectData !== undefined || value.prepareToConnectData !== undefined;
  }

  get times(): StageTimes {
    return this.#chain.times;
  }

  /**
   * Converts records up to the first one that fails the task. The result does not contain records that a transform dropped or
   * the error policy skipped. If there are many records, the work is divided into several turns of the event loop.
   */
  async convert(consumed: readonly ConsumedRecord[]): Promise<ConvertedRecords> {
    const records: SinkRecord[] = [];
    const turn = new Turn();
    for (const [index, source] of consumed.entries()) {
      try {
        const converted = this.#start(source);
        const record = converted instanceof Promise ? await converted : converted;
        if (record !== undefined) records.push(record);
        if (turn.isOver(sizeOf(source))) {
          this.#place.leaveRecord();
          await turn.next();
        }
      } catch (error) {
        return { records, failed: { index, error: toError(error) } };
      }
    }
    this.#place.leaveRecord();
    return { records, failed: undefined };
  }

  /** Returns `undefined` if the record was dropped; returns a promise only after an exception or while a converter waits. */
  convertOne(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    const converted = this.#start(source);
    this.#place.leaveRecord();
    return converted;
  }

  /** Creates the record whose value `program` has transformed; `undefined` if it must be converted individually. */
  planned(source: ConsumedRecord, program: StructProgram): SinkRecord | undefined {
    const { topic } = source;
    this.#place.record(topic, source.partition, source.offset);
    try {
      const key = this.#converters.key.toConnectData(topic, source.key);
      const value = { schema: program.schema, value: program.struct() };
      const headers = program.headers(source.headers.length === 0 ? NO_HEADERS : this.#headers(source));
      return sinkRecord(source, program.key ?? key, value, headers, program.topic);
    } catch {
      return undefined;
    } finally {
      this.#place.leaveRecord();
    }
  }

  #start(source: ConsumedRecord): SinkRecord | undefined | Promise<SinkRecord | undefined> {
    const { topic, partition, offset } = source.deadLetter ?? source;
    this.#place.record(topic, partition, offset);
    try {
      const wait = this.#waits ? this.#prepare(source) : undefined;
      if (wait === undefined) {
        if (this.#chain.times.isRecordDue()) return this.#measured(source) ?? undefined;
        return this.#transform(this.#toSinkRecord(source)) ?? undefined;
      }
      return wait.then(
        () => this.#start(source),
        () => this.#convertSlowly(source).then((record) => record ?? undefined),
      );
    } catch {
      return this.#convertSlowly(source).then((record) => record ?? undefined);
    }
  }

  #measured(source: ConsumedRecord): SinkRecord | null {
    const { times } = this.#chain;
    const beganAt = performance.now();
    const record = this.#toSinkRecord(source);
    times.converted(performance.now() - beganAt);
    return this.#transform(record, true);
  }

  #prepare({ topic, key, value }: ConsumedRecord): Promise<void> | undefined {
    const converters = this.#converters;
    return converters.key.prepareToConnectData?.(topic, key) ?? converters.value.prepareToConnectData?.(topic, value);
  }

  #transform(record: SinkRecord, isMeasured = false): SinkRecord | null {
    if (this.#chain.empty) return record;
    const kept = this.#chain.apply(record, isMeasured);
    if (kept === null) this.#onDropped?.(record.consumed);
    return kept;
  }

  #toSinkRecord(source: ConsumedRecord): SinkRecord {
    const { key, value } = this.#converters;
    return sinkRecord(
      source,
      key.toConnectData(source.topic, source.key),
      value.toConnectData(source.topic, source.value),
      source.headers.length === 0 ? NO_HEADERS : this.#headers(source),
    );
  }

  #headers(source: ConsumedRecord): Header[] {
    return source.headers.map((header) => {
      const { schema, value } = this.#converters.header.toConnectHeader(source.topic, header.key, header.value);
      return { key: header.key, schema, value };
    });
  }

  /** Converts the record again stage by stage, to attribute the failure to the right stage. Only called after a failure. */
  async #convertSlowly(source: ConsumedRecord): Promise<SinkRecord | null | undefined> {
    const { key, keyClass, value, valueClass, headerClass } = this.#converters;
    const guard = guardOf(this.#policy, this.#chain, { consumed: source });
    const headers = await guard(
      'HEADER_CONVERTER',
      () => headerClass,
      () => this.#headers(source),
    );
    if (headers === undefined) return undefined;
    const keyData = await guard(
      'KEY_CONVERTER',
      () => keyClass,
      () => toConnectData(key, source.topic, source.key),
    );
    if (keyData === undefined) return undefined;
    const valueData = await guard(
      'VALUE_CONVERTER',
      () => valueClass,
      () => toConnectData(value, source.topic, source.value),
    );
    if (valueData === undefined) return undefined;
    const record = sinkRecord(source, keyData, valueData, headers);
    return guard(
      'TRANSFORMATION',
      () => this.#chain.lastClassName,
      () => this.#transform(record),
    );
  }
}

/** Size of the key, the value and the header values in bytes. */
function sizeOf({ key, value, headers }: ConsumedRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const header of headers) bytes += header.value?.length ?? 0;
  return bytes;
}

type Guard = <T>(
  stage: Parameters<ErrorPolicy['recover']>[0],
  name: () => string,
  run: () => T | Promise<T>,
) => Promise<T | undefined>;

/** Returns a function that runs one stage. The policy handles its errors; `undefined` means that it skips the record. */
function guardOf(policy: ErrorPolicy, chain: TransformationChain, origin: RecordOrigin): Guard {
  return async (stage, name, run) => {
    try {
      return await run();
    } catch (error) {
      let recovered: Awaited<ReturnType<typeof run>> | undefined;
      try {
        recovered = await policy.recover(stage, name(), error, run, origin);
        return recovered;
      } finally {
        if (recovered === undefined) {
          if (stage === 'TRANSFORMATION') chain.noteFailure();
          else chain.times.failed();
        }
      }
    }
  };
}

async function toConnectData(converter: Converter, topic: string, bytes: Uint8Array | null): Promise<SchemaAndValue> {
  await converter.prepareToConnectData?.(topic, bytes);
  return converter.toConnectData(topic, bytes);
}

function sinkRecord(
  source: ConsumedRecord,
  key: SchemaAndValue,
  value: SchemaAndValue,
  headers: readonly Header[],
  topic = source.topic,
): SinkRecord {
  return {
    topic,
    partition: source.partition,
    keySchema: key.schema,
    key: key.value,
    valueSchema: value.schema,
    value: value.value,
    timestamp: source.timestamp < 0 ? null : source.timestamp,
    headers,
    offset: source.offset,
    timestampType: source.timestamp < 0 ? 'NoTimestampType' : source.timestampType,
    original: source,
    consumed: source.deadLetter ?? source,
  };
}

/** Converts source records to bytes: first the transforms, then the converters. The error policy handles failures. */
export class SourceRecordConverter {
  readonly #converters: Converters;
  readonly #chain: TransformationChain;
  readonly #policy: ErrorPolicy;
  readonly #waits: boolean;
  /** The headers that were converted last. A source may add the same list to every record. */
  #lastHeaders:
    { readonly topic: string; readonly from: readonly Header[]; readonly to: ProducedRecord['headers'] } | undefined;

  constructor(converters: Converters, chain: TransformationChain, policy: ErrorPolicy) {
    this.#converters = converters;
    this.#chain = chain;
    this.#policy = policy;
    const { key, value } = converters;
    this.#waits = key.prepareFromConnectData !== undefined || value.prepareFromConnectData !== undefined;
  }

  /** Returns `null` if the record was dropped; returns a promise only after a failure or while a converter waits. */
  convert(record: SourceRecord): ProducedRecord | null | Promise<ProducedRecord | null> {
    try {
      const converted = this.#convertOnce(record);
      if (!(converted instanceof Promise)) return converted;
      return converted.catch(() => this.#convertSlowly(record));
    } catch {
      return this.#convertSlowly(record);
    }
  }

  #convertOnce(record: SourceRecord): ProducedRecord | null | Promise<ProducedRecord> {
    if (this.#chain.times.isRecordDue()) return this.#measured(record);
    const kept = this.#chain.empty ? record : this.#chain.apply(record);
    return kept === null ? null : this.#convertKept(kept);
  }

  #measured(record: SourceRecord): ProducedRecord | null | Promise<ProducedRecord> {
    const kept = this.#chain.empty ? record : this.#chain.apply(record, true);
    if (kept === null) return null;
    const beganAt = performance.now();
    const produced = this.#convertKept(kept);
    if (!(produced instanceof Promise)) this.#chain.times.converted(performance.now() - beganAt);
    return produced;
  }

  #convertKept(record: SourceRecord): ProducedRecord | Promise<ProducedRecord> {
    const wait = this.#waits ? this.#prepare(record) : undefined;
    return wait === undefined ? this.#toBytes(record) : wait.then(() => this.#convertKept(record));
  }

  #prepare({ topic, keySchema, key, valueSchema, value }: SourceRecord): Promise<void> | undefined {
    const converters = this.#converters;
    return (
      converters.key.prepareFromConnectData?.(topic, keySchema, key) ??
      converters.value.prepareFromConnectData?.(topic, valueSchema, value)
    );
  }

  #toBytes(record: SourceRecord): ProducedRecord {
    const { topic, keySchema, valueSchema } = record;
    const { key, value } = this.#converters;
    return producedRecord(record, {
      key: key.fromConnectData(topic, keySchema, record.key),
      value: value.fromConnectData(topic, valueSchema, record.value),
      headers: this.#headers(record),
    });
  }

  #headers({ topic, headers }: SourceRecord): ProducedRecord['headers'] {
    if (headers.length === 0) return NO_PRODUCED_HEADERS;
    const last = this.#lastHeaders;
    if (last?.from === headers && last.topic === topic) return last.to;
    const to = headers.map(({ key, schema, value }) => ({
      key,
      value: this.#converters.header.fromConnectHeader(topic, key, schema, value),
    }));
    this.#lastHeaders = { topic, from: headers, to };
    return to;
  }

  /** Converts the record again stage by stage, in Java's order, so that the failure is attributed to the right stage. */
  async #convertSlowly(record: SourceRecord): Promise<ProducedRecord | null> {
    const { key: keyConverter, keyClass, value: valueConverter, valueClass, headerClass } = this.#converters;
    const guard = guardOf(this.#policy, this.#chain, { consumed: undefined, source: record });
    const kept = await guard(
      'TRANSFORMATION',
      () => this.#chain.lastClassName,
      () => (this.#chain.empty ? record : this.#chain.apply(record)),
    );
    if (kept === null || kept === undefined) return null;
    const { topic, keySchema, valueSchema } = kept;
    const headers = await guard(
      'HEADER_CONVERTER',
      () => headerClass,
      () => this.#headers(kept),
    );
    if (headers === undefined) return null;
    const key = await guard(
      'KEY_CONVERTER',
      () => keyClass,
      () => fromConnectData(keyConverter, topic, keySchema, kept.key),
    );
    if (key === undefined) return null;
    const value = await guard(
      'VALUE_CONVERTER',
      () => valueClass,
      () => fromConnectData(valueConverter, topic, valueSchema, kept.value),
    );
    return value === undefined ? null : producedRecord(kept, { key, value, headers });
  }
}

async function fromConnectData(
  converter: Converter,
  topic: string,
  schema: Schema | null,
  value: ConnectValue,
): Promise<Uint8Array | null> {
  await converter.prepareFromConnectData?.(topic, schema, value);
  return converter.fromConnectData(topic, schema, value);
}

function producedRecord(
  { topic, partition, timestamp }: SourceRecord,
  { key, value, headers }: Pick<ProducedRecord, 'key' | 'value' | 'headers'>,
): ProducedRecord {
  return { topic, partition, key, value, timestamp, headers };
}
