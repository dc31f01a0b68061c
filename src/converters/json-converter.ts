import { declareOptions, type ParsedOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { oneOfIgnoringCase } from '../config/validators.ts';
import { BlockText } from '../data/block-text.ts';
import type { MessageBlock, TakeStruct } from '../data/message-block.ts';
import { JSON_TEXT, type Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import type {
  ConnectorConfig,
  Converter,
  ConverterPlugin,
  HeaderConverter,
  HeaderConverterPlugin,
  SchemaAndValue,
} from '../connect/api.ts';
import { CONNECT_VERSION } from '../version.ts';
import { converterType } from './converter-type.ts';
import { RecentEnvelopes, type EnvelopeStart } from './envelope-cache.ts';
import { asBuffer, decodeJsonBytes } from '../json/json-bytes.ts';
import { StructReader } from './json-payload.ts';
import { readValue, type ReadSettings } from './json-reader.ts';
import { schemaFromJson, schemaToJson } from './json-schema.ts';
import { JsonMissing, JsonNumber, JsonScanner, JsonTextError, type JsonTree } from '../json/json-tree.ts';
import { writeValue, type WriteSettings } from './json-writer.ts';
import { BoundedMap } from '../data/bounded-map.ts';

export const jsonConverterOptions = declareOptions({
  'converter.type': converterType,
  'schemas.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'HIGH',
    documentation: 'Whether each message carries its schema: `{"schema":…,"payload":…}`.',
    group: 'Schemas',
    order: 0,
    width: 'MEDIUM',
    displayName: 'Enable Schemas',
  },
  'schemas.cache.size': {
    type: 'INT',
    default: 1000,
    importance: 'HIGH',
    documentation: 'Number of schemas that are cached in memory.',
    group: 'Schemas',
    order: 1,
    width: 'MEDIUM',
    displayName: 'Schema Cache Size',
  },
  'schema.content': {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation:
      'The schema of all messages, as JSON. Messages then consist of the payload only. Applies only to reading with `schemas.enable=true`.',
    group: 'Schemas',
    order: 2,
    width: 'MEDIUM',
    displayName: 'Schema Content',
  },
  'decimal.format': {
    type: 'STRING',
    default: 'BASE64',
    importance: 'LOW',
    documentation: 'How decimals are written: BASE64 of their unscaled value, or NUMERIC. Both can be read.',
    group: 'Serialization',
    order: 0,
    width: 'MEDIUM',
    displayName: 'Decimal Format',
    validator: oneOfIgnoringCase('NUMERIC', 'BASE64'),
  },
  'replace.null.with.default': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether a null becomes the default value of its field.',
    group: 'Serialization',
    order: 1,
    width: 'MEDIUM',
    displayName: 'Replace null with default',
  },
});

const CLOSE_BRACE = 0x7d;
const NO_DATA: SchemaAndValue = { schema: null, value: null };

const NO_ENVELOPE =
  'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain additional fields. ' +
  'If you are trying to deserialize plain JSON data, set schemas.enable=false in your converter configuration.';

/** org.apache.kafka.connect.json.JsonConverter. Messages that it writes are identical to Java's, byte for byte. */
export class JsonConverter implements Converter, HeaderConverter {
  readonly #schemasEnabled: boolean;
  readonly #read: ReadSettings;
  readonly #write: WriteSettings;
  /** `schema.content`. */
  readonly #fixedSchema: Schema | null;
  readonly #fixedPayload: StructReader | undefined;
  readonly #schemas: BoundedMap<string, Schema | null>;
  readonly #envelopes = new RecentEnvelopes();
  readonly #blockText = new BlockText();
  readonly #values: ConnectValue[] = [];
  readonly #schemaTexts = new WeakMap<Schema, string>();

  constructor(options: ParsedOptions<typeof jsonConverterOptions>, strict: boolean) {
    this.#schemasEnabled = options['schemas.enable'];
    const replaceNullWithDefault = options['replace.null.with.default'];
    this.#read = { replaceNullWithDefault, strict };
    const decimalFormat = options['decimal.format'].toUpperCase() === 'NUMERIC' ? 'NUMERIC' : 'BASE64';
    this.#write = { replaceNullWithDefault, decimalFormat };
    this.#schemas = new BoundedMap(options['schemas.cache.size']);
    const content = options['schema.content'];
    this.#fixedSchema = content === null || content.trim() === '' ? null : this.#parseContent(content);
    this.#fixedPayload = this.#fixedSchema === null ? undefined : this.#payloadReader(this.#fixedSchema);
  }

  get writesPlainJson(): boolean {
    return !this.#schemasEnabled;
  }

  passesText(schema: Schema): boolean {
    return schema === JSON_TEXT && !this.#schemasEnabled;
  }

  fromConnectData(_topic: string, schema: Schema | null, value: ConnectValue): Uint8Array | null {
    if (schema === null && value === null) return null;
    if (schema === JSON_TEXT && typeof value === 'string') {
      return Buffer.from(this.#schemasEnabled ? `{"schema":null,"payload":${value}}` : value, 'utf8');
    }
    if (!this.#schemasEnabled) return Buffer.from(writeValue(schema, value, this.#write), 'utf8');
    const start = `{"schema":${this.#schemaText(schema)},"payload":`;
    return Buffer.from(`${start}${writeValue(schema, value, this.#write)}}`, 'utf8');
  }

  toConnectData(_topic: string, bytes: Uint8Array | null): SchemaAndValue {
    if (bytes === null) return NO_DATA;
    const message = asBuffer(bytes);
    if (!this.#schemasEnabled) return { schema: null, value: this.#schemaless(message) };
    return this.#fixedSchema === null ? this.#envelope(message) : this.#payloadAlone(message, this.#fixedSchema);
  }

  /** Reads only ASCII messages of the form `{"schema":…,"payload":…}` whose beginning is cached. */
  readStructs(block: MessageBlock, from: number, to: number, take: TakeStruct): number {
    if (!this.#schemasEnabled || this.#fixedSchema !== null) return from;
    let index = from;
    for (; index < to; index++) {
      this.#blockText.open(block, index);
      const { text } = this.#blockText;
      const begin = this.#blockText.start(index);
      const end = this.#blockText.end(index);
      if (end <= begin) break;
      const start = this.#envelopes.findIn(text, begin);
      if (start?.text === undefined || start.schema === null || start.payload === undefined) break;
      if (!this.#blockText.isAscii(index, start.text.length)) break;
      const { payload, schema } = start;
      const isRead = payload.readInto(text, begin + start.text.length, this.#values) && payload.end === end - 1;
      if (!isRead || text.charCodeAt(end - 1) !== CLOSE_BRACE || !take(schema, this.#values, index)) break;
    }
    if (index === block.count) this.#blockText.close();
    return index;
  }

  fromConnectHeader(topic: string, _key: string, schema: Schema | null, value: ConnectValue): Uint8Array | null {
    return this.fromConnectData(topic, schema, value);
  }

  toConnectHeader(topic: string, _key: string, bytes: Uint8Array | null): SchemaAndValue {
    return this.toConnectData(topic, bytes);
  }

  #schemaText(schema: Schema | null): string {
    if (schema === null) return 'null';
    let text = this.#schemaTexts.get(schema);
    if (text === undefined) {
      text = schemaToJson(schema, (of, value) => writeValue(of, value, this.#write));
      this.#schemaTexts.set(schema, text);
    }
    return text;
  }

  #schemaless(message: Buffer): ConnectValue {
    const { tree } = this.#parse(message, this.#read.strict ? strictNumber : plainNumber);
    return tree === undefined || tree instanceof JsonMissing ? null : (tree as ConnectValue);
  }

  #payloadAlone(message: Buffer, schema: Schema): SchemaAndValue {
    const quick = this.#fixedPayload === undefined ? undefined : this.#readQuickly(message, 0, this.#fixedPayload, '');
    if (quick !== undefined) return { schema, value: quick };
    const { tree } = this.#parse(message, exactNumber);
    return { schema, value: readValue(schema, tree === undefined ? new JsonMissing() : tree, this.#read) };
  }

  #envelope(message: Buffer): SchemaAndValue {
    const start = this.#envelopes.find(message);
    const known = start === undefined ? undefined : this.#knownEnvelope(message, start);
    if (known !== undefined) return known;
    const { tree, text } = this.#parse(message, exactNumber);
    if (!(tree instanceof Map) || tree.size !== 2 || !tree.has('schema') || !tree.has('payload')) {
      throw new DataError(NO_ENVELOPE);
    }
    const schema = start === undefined ? this.#readSchema(message, text, tree.get('schema') ?? null) : start.schema;
    return { schema, value: this.#readPayload(schema, tree.get('payload') ?? null) };
  }

  /**
   * Reads only the payload of a message whose beginning is cached. Returns `undefined` if the whole message must be
   * parsed, for example to report an error.
   */
  #knownEnvelope(message: Buffer, start: EnvelopeStart): SchemaAndValue | undefined {
    const { schema } = start;
    if (start.payload !== undefined) {
      const value = this.#readQuickly(message, start.bytes.length, start.payload, '}');
      if (value !== undefined) return { schema, value };
    }
    const text = message.toString('utf8', start.bytes.length);
    if (text.includes('\ufffd')) return undefined;
    const payload = payloadOf(text);
    return payload === undefined ? undefined : { schema, value: this.#readPayload(schema, payload) };
  }

  /** Reads the payload with the fast reader. Returns `undefined` if the text after the payload is not exactly `rest`. */
  #readQuickly(message: Buffer, from: number, reader: StructReader, rest: string): ConnectValue | undefined {
    const text = message.toString('utf8', from);
    const value = reader.read(text, 0);
    return value !== undefined && text.length === reader.end + rest.length && text.endsWith(rest) ? value : undefined;
  }

  #readPayload(schema: Schema | null, payload: JsonTree): ConnectValue {
    return schema === null ? withoutSchema(payload) : readValue(schema, payload, this.#read);
  }

  /** Reads the schema of an envelope. If the schema is the first member, the bytes up to the payload are cached. */
  #readSchema(message: Buffer, text: string, json: JsonTree): Schema | null {
    const parts = envelopeParts(text);
    if (parts === undefined) return this.#schemaOf(JSON.stringify(toPlain(json)), json);
    const schema = this.#schemaOf(parts.schema, json);
    const length = Buffer.byteLength(parts.start);
    const start: EnvelopeStart = {
      bytes: Buffer.from(message.subarray(0, length)),
      text: length === parts.start.length ? parts.start : undefined,
      schema,
      payload: schema === null ? undefined : this.#payloadReader(schema),
    };
    if (start.bytes.toString('utf8') === parts.start) this.#envelopes.add(start);
    return schema;
  }

  /** Returns the same Schema object for the same schema text, as long as the text is cached. */
  #schemaOf(key: string, json: JsonTree): Schema | null {
    return this.#schemas.getOrCreate(key, () => schemaFromJson(json, this.#read));
  }

  #payloadReader(schema: Schema): StructReader | undefined {
    return StructReader.of(schema, this.#read);
  }

  #parse<N>(
    message: Buffer,
    number: (text: string, integral: boolean) => N,
  ): { tree: JsonTree<N> | undefined; text: string } {
    try {
      const text = decodeJsonBytes(message);
      const scanner = new JsonScanner(text, number);
      const tree = scanner.readFirst();
      if (this.#read.strict && scanner.hasMore()) throw new JsonTextError('text after the end of the JSON value');
      return { tree, text };
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
      throw new DataError('Converting byte[] to Kafka Connect data failed due to serialization error: ', {
        cause: error,
      });
    }
  }

  #parseContent(content: string): Schema | null {
    let tree: JsonTree | undefined;
    try {
      tree = new JsonScanner(content, exactNumber).readFirst();
    } catch (error) {
      throw new DataError('Failed to parse schema in converter config due to serialization error: ', { cause: error });
    }
    return schemaFromJson(tree ?? null, this.#read);
  }
}

function exactNumber(text: string, integral: boolean): JsonNumber {
  return new JsonNumber(text, integral);
}

/** Without a schema, integers have 64 bits and overflow as in Java. Other numbers are never -0, because Java reads decimals. */
function plainNumber(text: string, integral: boolean): bigint | number {
  if (!integral) return Number(text) + 0;
  return text.length < 19 ? BigInt(text) : BigInt.asIntN(64, BigInt(text));
}

function strictNumber(text: string, integral: boolean): bigint | number {
  const number = plainNumber(text, integral);
  if (integral ? BigInt(text) !== number : !Number.isFinite(number)) {
    throw new DataError(`${text} does not fit ${integral ? 'a 64-bit integer' : 'a double'}`);
  }
  return number;
}

function withoutSchema(tree: JsonTree): ConnectValue {
  if (tree instanceof JsonNumber) return plainNumber(tree.text, tree.integral);
  if (Array.isArray(tree)) return tree.map(withoutSchema);
  if (tree instanceof Map) return new Map([...tree].map(([key, value]) => [key, withoutSchema(value)]));
  return tree instanceof JsonMissing ? null : tree;
}

/** Converts a JSON tree to a value that JSON.stringify turns into a cache key. */
function toPlain(tree: JsonTree): unknown {
  if (tree instanceof JsonNumber) return { number: tree.text };
  if (Array.isArray(tree)) return tree.map(toPlain);
  return tree instanceof Map ? { object: [...tree].map(([key, value]) => [key, toPlain(value)]) } : tree;
}

/** Reads the payload at the beginning of a text. Returns `undefined` if anything but the closing brace follows the payload. */
function payloadOf(text: string): JsonTree | undefined {
  const scanner = new JsonScanner(text, exactNumber);
  try {
    const payload = scanner.readValue();
    return /^[ \t\r\n]*\}[ \t\r\n]*$/.test(text.slice(scanner.position)) ? payload : undefined;
  } catch {
    // The general reader reports the error with its position in the whole message.
    return undefined;
  }
}

/** The text before the payload and the text of the schema; `undefined` if the schema is not the first member of the envelope. */
function envelopeParts(text: string): { start: string; schema: string } | undefined {
  const head = /^[ \t\r\n]*\{[ \t\r\n]*"schema"[ \t\r\n]*:[ \t\r\n]*/.exec(text)?.[0];
  if (head === undefined) return undefined;
  const scanner = new JsonScanner(text, exactNumber, head.length);
  scanner.readValue();
  const schema = text.slice(head.length, scanner.position);
  const between = /^[ \t\r\n]*,[ \t\r\n]*"payload"[ \t\r\n]*:[ \t\r\n]*/.exec(text.slice(scanner.position))?.[0];
  return between === undefined ? undefined : { start: head + schema + between, schema };
}

/**
 * `strict` is the worker's option `json.converter.strict` (see `ReadSettings.strict`). It also rejects text after the
 * JSON value.
 */
export function jsonConverterPlugins(strict: boolean): readonly [ConverterPlugin, HeaderConverterPlugin] {
  const base = {
    className: 'org.apache.kafka.connect.json.JsonConverter',
    version: CONNECT_VERSION,
    options: jsonConverterOptions,
  };
  const create = (config: ConnectorConfig, type: string): JsonConverter =>
    new JsonConverter(
      parseOptions(jsonConverterOptions, { ...config, 'converter.type': type }, { errors: 'first' }),
      strict,
    );
  return [
    { ...base, type: 'converter', create: (config, isKey) => create(config, isKey ? 'key' : 'value') },
    { ...base, type: 'header_converter', create: (config) => create(config, 'header') },
  ];
}
