import { LogicalName, type Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { nodeType, readValue, type ReadSettings } from '../json-reader.ts';
import { JsonNumber, JsonScanner, type JsonTree } from '../../json/json-tree.ts';
import { ONE_OF, Parameter } from './json-schema-names.ts';

const SETTINGS: ReadSettings = { replaceNullWithDefault: true, strict: true };

/** Whether a struct represents a `oneOf`: it has a field per member, one of which is set. */
export function isUnion({ type, name, parameters }: Schema): boolean {
  return type === 'struct' && (name === ONE_OF || parameters?.has(Parameter.generalizedUnion) === true);
}

/** Converts a JSON value to Connect data of a schema (JsonSchemaData.toConnectData); `undefined` is a missing field. */
export function readJson(schema: Schema, json: JsonTree | undefined): ConnectValue {
  if (json === null || json === undefined) {
    if (schema.defaultValue !== undefined) return schema.defaultValue as ConnectValue;
    if (json === undefined || schema.optional) return null;
    throw new DataError(`Invalid null value for required ${schema.type.toUpperCase()} field`);
  }
  switch (schema.type) {
    case 'array':
      return readArray(schema, json);
    case 'map':
      return readMap(schema, json);
    case 'struct':
      return isUnion(schema) ? readUnion(schema, json) : readStruct(schema, json);
    case 'string':
      return enumText(schema, json) ?? readValue(schema, json, SETTINGS);
    default:
      return readValue(schema, json, SETTINGS);
  }
}

/** The text of an enum symbol that is not a string in JSON but, for example, a number; otherwise `undefined`. */
function enumText({ parameters }: Schema, json: JsonTree): string | undefined {
  if (parameters === undefined || typeof json === 'string') return undefined;
  if (!parameters.has(Parameter.enum) && !parameters.has(Parameter.generalizedEnum)) return undefined;
  return json instanceof JsonNumber ? json.text : JSON.stringify(json);
}

function readArray(schema: Schema, json: JsonTree): ConnectValue[] {
  const { valueSchema } = schema;
  if (!Array.isArray(json) || valueSchema === undefined) {
    throw new DataError(`Arrays should be encoded as JSON arrays, but found ${nodeType(json)}`);
  }
  return json.map((entry) => readJson(valueSchema, entry));
}

function readMap({ keySchema, valueSchema }: Schema, json: JsonTree): Map<ConnectValue, ConnectValue> {
  const map = new Map<ConnectValue, ConnectValue>();
  if (keySchema === undefined || valueSchema === undefined) throw new DataError('A map has no schema for its parts');
  if (keySchema.type === 'string' && !keySchema.optional) {
    if (!(json instanceof Map)) {
      throw new DataError(`Maps with string fields should be encoded as JSON objects, but found ${nodeType(json)}`);
    }
    for (const [key, value] of json) map.set(key, readJson(valueSchema, value));
    return map;
  }
  if (!Array.isArray(json)) {
    throw new DataError(
      `Maps with non-string fields should be encoded as JSON array of objects, but found ${nodeType(json)}`,
    );
  }
  for (const entry of json) {
    if (!(entry instanceof Map)) throw new DataError(`Found invalid map entry instead of object: ${nodeType(entry)}`);
    if (entry.size !== 2) {
      throw new DataError(`Found invalid map entry, expected length 2 but found :${String(entry.size)}`);
    }
    map.set(readJson(keySchema, entry.get('key')), readJson(valueSchema, entry.get('value')));
  }
  return map;
}

function readStruct(schema: Schema, json: JsonTree): Struct {
  if (!(json instanceof Map)) {
    throw new DataError(`Structs should be encoded as JSON objects, but found ${nodeType(json)}`);
  }
  const values = schema.fields.map(({ name, schema: field }) => {
    try {
      return readJson(field, json.get(name));
    } catch (error) {
      if (error instanceof DataError) throw new DataError(`Field ${name}: ${error.message}`, { cause: error.cause });
      throw error;
    }
  });
  return new Struct(schema, values);
}

/** Reads the value as the first member of the union whose type it can have. */
function readUnion(schema: Schema, json: JsonTree): Struct {
  for (const { index, schema: member } of schema.fields) {
    if (!canBe(member, json)) continue;
    const struct = new Struct(schema);
    struct.values[index] = readJson(member, json);
    return struct;
  }
  throw new DataError(`Did not find matching oneof field for data of type ${nodeType(json)}`);
}

function canBe(schema: Schema, json: JsonTree): boolean {
  switch (schema.type) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
      return json instanceof JsonNumber && json.integral;
    case 'float32':
    case 'float64':
      return json instanceof JsonNumber;
    case 'boolean':
    case 'string':
      return typeof json === schema.type;
    case 'bytes':
      return typeof json === 'string' || (schema.name === LogicalName.decimal && json instanceof JsonNumber);
    case 'array':
      return Array.isArray(json);
    case 'map':
      return json instanceof Map || Array.isArray(json);
    case 'struct':
      return isUnion(schema)
        ? schema.fields.some((field) => canBe(field.schema, json))
        : json instanceof Map && [...json.keys()].every((name) => schema.field(name) !== undefined);
  }
}

/** Reads JSON whose schema does not specify a type. Integers have 64 bits. */
export function readAnything(text: string): ConnectValue {
  const scanner = new JsonScanner<ConnectValue>(text, (number, integral) =>
    integral ? BigInt.asIntN(64, BigInt(number)) : Number(number),
  );
  return (scanner.readFirst() ?? null) as ConnectValue;
}
