import { isUtf8 } from 'node:buffer';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { StructReader } from '../json-payload.ts';
import type { RegisteredSchema } from '../schema-registry/registry-client.ts';
import type { SchemaFormat, SchemaReader, SchemaText, SchemaWriter } from '../schema-registry/schema-format.ts';
import { JsonSchemaDocument, JsonSchemaError, parseJson, type SchemaNode } from './json-schema-document.ts';
import { describeJsonSchema } from './json-schema-from-connect.ts';
import { isUntyped, textOf } from './json-schema-kind.ts';
import type { JsonSchemaSettings } from './json-schema-names.ts';
import { isUnion, readAnything, readJson } from './json-schema-read.ts';
import { ConnectSchemas } from './json-schema-to-connect.ts';
import { writeJson } from './json-schema-write.ts';

/** The JSON Schema format, with schemas and values translated as Confluent's JsonSchemaData does. */
export class JsonSchemaFormat implements SchemaFormat {
  readonly schemaType = 'JSON';
  readonly #settings: JsonSchemaSettings;

  constructor(settings: JsonSchemaSettings) {
    this.#settings = settings;
  }

  readFailure(topic: string): string {
    return `Converting byte[] to Kafka Connect data failed due to serialization error of topic ${topic}: `;
  }

  writeFailure(topic: string): string {
    return `Converting Kafka Connect data to byte[] failed due to serialization error of topic ${topic}: `;
  }

  reader(registered: RegisteredSchema, version: number | undefined): SchemaReader {
    const root = rootOf(registered);
    if (isUntyped(root)) {
      return { read: (message, from, to) => ({ schema: null, value: readAnything(textIn(message, from, to)) }) };
    }
    const schema = new ConnectSchemas(this.#settings).schemaOf(root, version);
    const quick = isPlain(schema) ? StructReader.of(schema, { replaceNullWithDefault: true, strict: true }) : undefined;
    return {
      read: (message, from, to) => {
        const text = message.toString('utf8', from, to);
        const struct = quick?.read(text, 0);
        if (struct !== undefined && quick?.end === text.length) return { schema, value: struct };
        return { schema, value: readJson(schema, parseJson(textIn(message, from, to))) };
      },
    };
  }

  recordName(schema: SchemaText): string | undefined {
    return textOf(rootOf(schema).json, 'title');
  }

  /**
   * A null is not a tombstone if the schema is optional, or if its default is written for null. As in Java, the message
   * then contains the text `null` or the default.
   */
  isTombstone(schema: Schema | null, value: ConnectValue): boolean {
    return value === null && writeJson(schema, null, this.#settings) === undefined;
  }

  describe(schema: Schema | null): SchemaText {
    return { text: schema === null ? '{}' : describeJsonSchema(schema, this.#settings), references: [] };
  }

  writer(schema: Schema | null, target: SchemaText, strict: boolean): SchemaWriter {
    if (schema !== null && strict && target.text !== describeJsonSchema(schema, this.#settings)) {
      checkFields(schema, new ConnectSchemas(this.#settings).schemaOf(rootOf(target)));
    }
    return {
      write: (value, prefix) => {
        const text = writeJson(schema, value, this.#settings) ?? 'null';
        const message = Buffer.allocUnsafe(prefix.length + Buffer.byteLength(text));
        prefix.copy(message);
        message.write(text, prefix.length, 'utf8');
        return message;
      },
    };
  }
}

function rootOf({ text, references }: SchemaText): SchemaNode {
  const document = new JsonSchemaDocument(text, references);
  if (document.root instanceof Map) return { json: document.root, document };
  throw new JsonSchemaError('Unsupported schema type: a schema that is not an object does not specify a type');
}

function textIn(message: Buffer, from: number, to: number): string {
  if (!isUtf8(message.subarray(from, to))) throw new DataError('The text is not valid UTF-8');
  return message.toString('utf8', from, to);
}

/**
 * Whether StructReader can read all parts: there are no unions, and the keys of all maps are strings and not optional.
 */
function isPlain(schema: Schema): boolean {
  const { keySchema, valueSchema } = schema;
  if (isUnion(schema)) return false;
  if (keySchema !== undefined && (keySchema.type !== 'string' || keySchema.optional)) return false;
  return (valueSchema === undefined || isPlain(valueSchema)) && schema.fields.every((field) => isPlain(field.schema));
}

/** Throws a DataError if the target schema lacks a field of the schema. */
function checkFields(schema: Schema, target: Schema): void {
  if (schema.type !== 'struct' || target.type !== 'struct' || isUnion(schema) || isUnion(target)) return;
  for (const { name, schema: field } of schema.fields) {
    const known = target.field(name);
    if (known === undefined) throw new DataError(`Incompatible schema: there is no property ${name}`);
    checkFields(field, known.schema);
  }
}
