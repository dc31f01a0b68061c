import { BlockText } from '../../data/block-text.ts';
import type { MessageBlock, TakeStruct } from '../../data/message-block.ts';
import type { Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { DataError, SluiceError, toError } from '../../errors.ts';
import type { Converter, SchemaAndValue } from '../../connect/api.ts';
import { asBuffer } from '../../json/json-bytes.ts';
import { BoundedMap } from '../../data/bounded-map.ts';
import { RegistryAnswerError } from './registry-request.ts';
import type { RegisteredSchema, RegistryClient } from './registry-client.ts';
import type { SchemaFormat, SchemaReader, SchemaText, SchemaWriter } from './schema-format.ts';
import type { SubjectNaming } from './subject-names.ts';
import { schemaIdOf, SerializationError, WIRE_PREFIX_BYTES, wirePrefix } from './wire-format.ts';

export interface RegistryConverterOptions {
  readonly format: SchemaFormat;
  readonly client: RegistryClient;
  readonly naming: SubjectNaming;
  readonly cacheSize: number;
  /** Schema with which values are written: derived from the Connect schema, the subject's latest version, or the one with an id. */
  readonly target: 'own' | 'latest' | { readonly id: number };
  /** Whether a schema that the registry does not have is registered. Applies to the target `own` only. */
  readonly register: boolean;
  /** Whether a target schema other than `own` must have all fields of the values. */
  readonly strict: boolean;
}

interface Output {
  readonly prefix: Buffer;
  readonly writer: SchemaWriter;
  /** Set for the target `latest`: the subject, and the version of the schema with which values are written. */
  readonly latest: { readonly subject: string; readonly schema: RegisteredSchema } | undefined;
}

const NO_DATA: SchemaAndValue = { schema: null, value: null };
/** Key of schemaless data in the maps by Connect schema. */
const NO_SCHEMA = {};

/**
 * Confluent's converters, whose messages contain the id of a schema in the registry. The `prepare…` methods fetch or register a
 * schema when it is first needed. Conversion itself is synchronous and uses cached schemas only.
 */
export class RegistryConverter implements Converter {
  readonly #options: RegistryConverterOptions;
  /** Readers by topic and schema id. */
  readonly #readers: BoundedMap<string, BoundedMap<number, SchemaReader>>;
  /** The topic, schema id and reader of the previous message, because consecutive messages mostly have the same schema. */
  #lastTopic = '';
  #lastId = -1;
  #lastReader: SchemaReader | undefined;
  readonly #blockText = new BlockText();
  readonly #values: ConnectValue[] = [];
  readonly #texts = new WeakMap<object, SchemaText>();
  /** Prepared outputs by Connect schema and topic. */
  readonly #outputs = new WeakMap<object, BoundedMap<string, Output>>();

  constructor(options: RegistryConverterOptions) {
    this.#options = options;
    this.#readers = new BoundedMap(options.cacheSize);
  }

  prepareToConnectData(topic: string, bytes: Uint8Array | null): Promise<void> | undefined {
    if (bytes === null) return undefined;
    const id = schemaIdOf(asBuffer(bytes), 0, bytes.length);
    return id < 0 || this.#reader(topic, id) !== undefined ? undefined : this.#fetchReader(topic, id);
  }

  toConnectData(topic: string, bytes: Uint8Array | null): SchemaAndValue {
    if (bytes === null) return NO_DATA;
    const message = asBuffer(bytes);
    const id = schemaIdOf(message, 0, message.length);
    const reader = this.#reader(topic, id);
    try {
      if (id < 0) throw new SerializationError('Unknown magic byte!');
      if (reader === undefined) throw new SerializationError(`Schema ${String(id)} has not been fetched`);
      return reader.read(message, WIRE_PREFIX_BYTES, message.length);
    } catch (error) {
      throw this.#readFailure(topic, id, error);
    }
  }

  readStructs(block: MessageBlock, from: number, to: number, take: TakeStruct): number {
    const { topic, bytes, valueStarts, valueEnds } = block;
    let index = from;
    for (; index < to; index++) {
      const end = valueEnds[index] ?? 0;
      const reader = this.#reader(topic, schemaIdOf(bytes, valueStarts[index] ?? 0, end));
      if (reader === undefined) break;
      const start = (valueStarts[index] ?? 0) + WIRE_PREFIX_BYTES;
      const { structs } = reader;
      if (structs === undefined) {
        if (!readAndTake(reader, bytes, start, end, index, take)) break;
        continue;
      }
      this.#blockText.open(block, index);
      if (!structs.readInto(this.#blockText, bytes, start, end, this.#values)) break;
      if (!take(structs.schema, this.#values, index)) break;
    }
    if (index === block.count) this.#blockText.close();
    return index;
  }

  prepareFromConnectData(topic: string, schema: Schema | null, value: ConnectValue): Promise<void> | undefined {
    if (value === null && this.#isTombstone(topic, schema, value)) return undefined;
    const output = this.#output(topic, schema);
    return output === undefined || this.#isOutdated(output) ? this.#prepareOutput(topic, schema) : undefined;
  }

  fromConnectData(topic: string, schema: Schema | null, value: ConnectValue): Uint8Array | null {
    if (value === null && this.#isTombstone(topic, schema, value)) return null;
    const output = this.#output(topic, schema);
    try {
      if (output === undefined) throw new SerializationError('The schema has not been registered');
      return output.writer.write(value, output.prefix);
    } catch (error) {
      throw this.#writeFailure(topic, error);
    }
  }

  close(): void {
    this.#options.client.close();
  }

  #reader(topic: string, id: number): SchemaReader | undefined {
    if (id === this.#lastId && topic === this.#lastTopic) return this.#lastReader;
    const reader = this.#readers.get(topic)?.get(id);
    if (reader !== undefined) {
      this.#lastTopic = topic;
      this.#lastId = id;
      this.#lastReader = reader;
    }
    return reader;
  }

  async #fetchReader(topic: string, id: number): Promise<void> {
    const { format, client, naming, cacheSize } = this.#options;
    try {
      const schema = await client.schemaById(id, naming.byRecord ? undefined : naming.subject(topic, undefined));
      if (schema.schemaType !== format.schemaType) {
        throw new SerializationError(`Schema ${String(id)} is of type ${schema.schemaType}, not ${format.schemaType}`);
      }
      const version = await this.#version(topic, schema);
      const reader = format.reader(schema, version);
      let readers = this.#readers.get(topic);
      if (readers === undefined) {
        readers = new BoundedMap(cacheSize);
        this.#readers.set(topic, readers);
      }
      readers.set(id, reader);
    } catch (error) {
      throw this.#readFailure(topic, id, error);
    }
  }

  /** A schema that does not belong to the subject has no version, but can still be read. */
  async #version(topic: string, schema: RegisteredSchema): Promise<number | undefined> {
    const { format, client, naming } = this.#options;
    const recordName = naming.byRecord ? format.recordName(schema) : undefined;
    if (naming.byRecord && recordName === undefined) return undefined;
    return client.versionOf(schema.id, naming.subject(topic, recordName));
  }

  /** The cached output, or a new one if it can be created without a request; otherwise `undefined`. */
  #output(topic: string, schema: Schema | null): Output | undefined {
    const { target, client } = this.#options;
    const output = this.#outputs.get(schema ?? NO_SCHEMA)?.get(topic);
    if (output !== undefined || target !== 'own') return output;
    try {
      const text = this.#text(schema);
      const id = client.knownId(this.#subject(topic, text), text.text);
      return id === undefined ? undefined : this.#cache(topic, schema, id, text, undefined);
    } catch (error) {
      throw this.#writeFailure(topic, error);
    }
  }

  /**
   * Called only when a record is prepared. A prepared record is written with the version that was the latest at that
   * time.
   */
  #isOutdated({ latest }: Output): boolean {
    return latest !== undefined && this.#options.client.knownLatest(latest.subject) !== latest.schema;
  }

  async #prepareOutput(topic: string, schema: Schema | null): Promise<void> {
    const { target, client, register } = this.#options;
    try {
      const text = this.#text(schema);
      if (target === 'own') {
        const id = await client.idOf(this.#subject(topic, text), text.text, register);
        this.#cache(topic, schema, id, text, undefined);
        return;
      }
      if (target !== 'latest') {
        const found = await client.schemaById(target.id);
        this.#cache(topic, schema, found.id, found, undefined);
        return;
      }
      const subject = this.#subject(topic, text);
      const found = await client.latest(subject);
      this.#cache(topic, schema, found.id, found, { subject, schema: found });
    } catch (error) {
      throw this.#writeFailure(topic, error);
    }
  }

  #cache(topic: string, schema: Schema | null, id: number, text: SchemaText, latest: Output['latest']): Output {
    const { format, strict, cacheSize } = this.#options;
    const output = { prefix: wirePrefix(id), writer: format.writer(schema, text, strict), latest };
    const key = schema ?? NO_SCHEMA;
    let byTopic = this.#outputs.get(key);
    if (byTopic === undefined) {
      byTopic = new BoundedMap(cacheSize);
      this.#outputs.set(key, byTopic);
    }
    byTopic.set(topic, output);
    return output;
  }

  #text(schema: Schema | null): SchemaText {
    const key = schema ?? NO_SCHEMA;
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = this.#options.format.describe(schema);
      this.#texts.set(key, text);
    }
    return text;
  }

  #subject(topic: string, text: SchemaText): string {
    const { naming, format } = this.#options;
    return naming.subject(topic, naming.byRecord ? format.recordName(text) : undefined);
  }

  #isTombstone(topic: string, schema: Schema | null, value: ConnectValue): boolean {
    try {
      return this.#options.format.isTombstone(schema, value);
    } catch (error) {
      throw this.#writeFailure(topic, error);
    }
  }

  #readFailure(topic: string, id: number, error: unknown): Error {
    return asRecordError(this.#options.format.readFailure(topic), id < 0 ? '' : ` (schema id ${String(id)})`, error);
  }

  #writeFailure(topic: string, error: unknown): Error {
    return asRecordError(this.#options.format.writeFailure(topic), '', error);
  }
}

function readAndTake(
  reader: SchemaReader,
  bytes: Buffer,
  from: number,
  to: number,
  index: number,
  take: TakeStruct,
): boolean {
  try {
    const { schema, value } = reader.read(bytes, from, to);
    return schema !== null && value instanceof Struct && take(schema, value.values, index);
  } catch {
    // The error is reported when the record is converted individually.
    return false;
  }
}

/** An error that concerns a single record becomes a DataError with the message of Java's converter; other errors are unchanged. */
function asRecordError(prefix: string, suffix: string, error: unknown): Error {
  const cause = toError(error);
  const concernsRecord = cause instanceof SluiceError ? cause.scope === 'record' : cause.name !== 'AbortError';
  if (!concernsRecord) return cause;
  const reason = cause instanceof RegistryAnswerError ? `the registry says: ${cause.message}` : cause.message;
  return new DataError(`${prefix}${reason}${suffix}`, { cause });
}
