import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import type { SchemaAndValue } from '../../connect/api.ts';
import type { RegisteredSchema } from '../schema-registry/registry-client.ts';
import type { SchemaFormat, SchemaReader, SchemaText, SchemaWriter } from '../schema-registry/schema-format.ts';
import { messageAt, messageIndexBytes, pathOf, readMessageIndexes } from './message-indexes.ts';
import { fullNameOf } from './protobuf-fields.ts';
import { loadProtobuf, parseProtobuf, type MessageType } from './protobuf-files.ts';
import { describeProtobuf, wrapperName } from './protobuf-from-connect.ts';
import type { ProtobufSettings } from './protobuf-names.ts';
import { MessageReader, readWrapped } from './protobuf-read.ts';
import { ConnectSchemas, wrappedType } from './protobuf-to-connect.ts';
import { MessageWriter, wrappedWriter, written } from './protobuf-write.ts';

/** Reads messages of one type, which are the bytes from `from` up to `end`. */
type ReadMessage = (message: Buffer, from: number, end: number) => SchemaAndValue;

/** The Protobuf format, with schemas and values translated as Confluent's ProtobufData does. */
export class ProtobufFormat implements SchemaFormat {
  readonly schemaType = 'PROTOBUF';
  readonly #settings: ProtobufSettings;

  constructor(settings: ProtobufSettings) {
    this.#settings = settings;
  }

  readFailure(topic: string): string {
    return `Failed to deserialize data for topic ${topic} to Protobuf: `;
  }

  writeFailure(topic: string): string {
    return `Failed to serialize Protobuf data from topic ${topic} : `;
  }

  reader({ text, references }: RegisteredSchema, version: number | undefined): SchemaReader {
    const { messages } = parseProtobuf(text, references);
    // Readers by message path; a file has few paths.
    const readers = new Map<string, ReadMessage>();
    return {
      read: (message, from, to) => {
        const { path, end } = readMessageIndexes(message, from, to);
        const key = path.join();
        let read = readers.get(key);
        if (read === undefined) {
          read = this.#readerOf(messageAt(messages, path), version);
          readers.set(key, read);
        }
        return read(message, end, to);
      },
    };
  }

  recordName({ text, references }: SchemaText): string | undefined {
    const [first] = parseProtobuf(text, references).messages;
    return first === undefined ? undefined : fullNameOf(first);
  }

  isTombstone(_schema: Schema | null, value: ConnectValue): boolean {
    return value === null;
  }

  describe(schema: Schema | null): SchemaText {
    if (schema === null) throw new DataError('Protobuf needs a schema, and the data has none');
    return { text: describeProtobuf(schema, this.#settings), references: [] };
  }

  writer(schema: Schema | null, target: SchemaText, strict: boolean): SchemaWriter {
    if (schema === null) throw new DataError('Protobuf needs a schema, and the data has none');
    const { messages } = parseProtobuf(target.text, target.references);
    const path = this.#pathFor(schema, messages);
    const message = messageAt(messages, path);
    const indexes = messageIndexBytes(path);
    const write = this.#writerOf(schema, message, strict);
    return {
      write: (value, prefix) => Buffer.concat([prefix, indexes, written((writer) => write(writer, value))]),
    };
  }

  #readerOf(type: MessageType, version: number | undefined): ReadMessage {
    const schema = new ConnectSchemas(this.#settings).schemaOf(type, version);
    const { Reader } = loadProtobuf();
    const wrapped = wrappedType(type);
    const reader = schema.type === 'struct' ? new MessageReader(type, schema, this.#settings) : undefined;
    return (message, from, end) => {
      // A reader ends with its buffer, so the bytes after the message are cut off.
      const content = Reader.create(message.subarray(from, end));
      try {
        const value =
          reader === undefined
            ? readWrapped(content, end - from, wrapped ?? 'string', schema)
            : reader.read(content, end - from);
        if (content.pos !== end - from) throw new DataError('The bytes end before the message does');
        return { schema, value };
      } catch (error) {
        if (error instanceof DataError) throw error;
        throw new DataError('The bytes are not a message of the schema', { cause: error });
      }
    };
  }

  #writerOf(schema: Schema, message: MessageType, strict: boolean) {
    const wrapped = wrappedType(message);
    if (schema.type !== 'struct' && wrapped !== undefined) return wrappedWriter(wrapped, schema);
    const writer = new MessageWriter(schema, message, this.#settings, strict);
    return writer.write.bind(writer);
  }

  /** The path of the message with the schema's name; that of the first message if there is none. */
  #pathFor(schema: Schema, messages: readonly MessageType[]): readonly number[] {
    if (schema.type !== 'struct') return pathOf(messages, wrapperName(schema)) ?? [0];
    return (schema.name === undefined ? undefined : pathOf(messages, schema.name)) ?? [0];
  }
}
