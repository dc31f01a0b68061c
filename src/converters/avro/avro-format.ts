import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import type { RegisteredSchema } from '../schema-registry/registry-client.ts';
import type { SchemaFormat, SchemaReader, SchemaText, SchemaWriter } from '../schema-registry/schema-format.ts';
import { anythingOf, anythingToConnect, isAnything } from './avro-anything.ts';
import { avroCodec } from './avro-codec.ts';
import { ANYTHING_TEXT, describeAvro } from './avro-from-connect.ts';
import { avroToConnect } from './avro-read.ts';
import { parseAvroSchema } from './avro-schema.ts';
import type { AvroSettings } from './avro-settings.ts';
import { AvroReader } from './avro-reader.ts';
import { ConnectSchemas } from './avro-to-connect.ts';
import { AvroWriting } from './avro-write.ts';

/** The Avro format, with schemas and values translated as Confluent's AvroData does. */
export class AvroFormat implements SchemaFormat {
  readonly schemaType = 'AVRO';
  readonly #settings: AvroSettings;

  constructor(settings: AvroSettings) {
    this.#settings = settings;
  }

  readFailure(topic: string): string {
    return `Failed to deserialize data for topic ${topic} to Avro: `;
  }

  writeFailure(topic: string): string {
    return `Failed to serialize Avro data from topic ${topic} : `;
  }

  reader({ text, references }: RegisteredSchema, version: number | undefined): SchemaReader {
    const avro = parseAvroSchema(text, references);
    if (isAnything(avro)) {
      const codec = avroCodec(avro);
      return {
        read: (message, from, to) => ({ schema: null, value: anythingToConnect(codec.decode(message, from, to)) }),
      };
    }
    const schema = new ConnectSchemas(this.#settings).schemaOf(avro, version);
    const codec = avroCodec(avro);
    const toConnect = avroToConnect(avro, schema);
    const reader = new AvroReader(avro, schema);
    return {
      read: (message, from, to) => {
        const value = reader.read(message, from, to);
        return { schema, value: value === undefined ? toConnect(codec.decode(message, from, to)) : value };
      },
      structs: avro.type === 'record' ? reader : undefined,
    };
  }

  recordName({ text, references }: SchemaText): string | undefined {
    const avro = parseAvroSchema(text, references);
    return avro.type === 'record' ? avro.fullName : undefined;
  }

  isTombstone(schema: Schema | null, value: ConnectValue): boolean {
    if (value === null && schema?.optional === false) throw new DataError('Found null value for non-optional schema');
    return value === null;
  }

  describe(schema: Schema | null): SchemaText {
    return { text: schema === null ? ANYTHING_TEXT : describeAvro(schema, this.#settings), references: [] };
  }

  writer(schema: Schema | null, target: SchemaText, strict: boolean): SchemaWriter {
    const avro = parseAvroSchema(target.text, target.references);
    const codec = avroCodec(avro);
    const toAvro = schema === null ? anythingOf : new AvroWriting(this.#settings, strict).writer(schema, avro);
    return { write: (value, prefix) => codec.encode(toAvro(value), prefix) };
  }
}
