import { decimalFromBytes, MS_PER_DAY } from '../../data/logical-values.ts';
import { LogicalName, type Schema } from '../../data/schema.ts';
import { valueMismatch } from '../../data/validate-value.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { decimalScale } from '../json-reader.ts';
import { JsonNumber, type JsonTree } from '../../json/json-tree.ts';
import {
  mapEntry,
  nullableMember,
  type AvroArray,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
} from './avro-schema.ts';

/**
 * Reads the default of a field or type; `undefined` if it is missing or null. A default that does not match its schema
 * is ignored, as in Java, because defaults do not affect existing records.
 */
export function defaultOf(schema: Schema, avro: AvroSchema, json: JsonTree | undefined): ConnectValue | undefined {
  if (json === undefined || json === null) return undefined;
  try {
    const value = valueOf(schema, avro, json);
    return value === null || valueMismatch(schema, value) !== undefined ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Reads a value in Avro's JSON form. For a union of null and one other type, it may be a value of either member; for
 * any other union, it is a value of the first member.
 */
function valueOf(schema: Schema, avro: AvroSchema, json: JsonTree): ConnectValue {
  switch (avro.type) {
    case 'null':
      return null;
    case 'boolean':
      return typeof json === 'boolean' ? json : misfit();
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      return numberOf(schema, json);
    case 'string':
    case 'enum':
      return typeof json === 'string' ? json : misfit();
    case 'bytes':
    case 'fixed':
      return bytesOf(schema, json);
    case 'array':
      return listOf(schema, avro, json);
    case 'map':
      return mapOf(schema, avro.values, json);
    case 'record':
      return structOf(schema, avro, json);
    case 'union':
      return memberOf(schema, avro, json);
  }
}

function listOf(schema: Schema, avro: AvroArray, json: JsonTree): ConnectValue {
  if (!Array.isArray(json)) return misfit();
  const entry = mapEntry(avro);
  const { keySchema, valueSchema } = schema;
  if (valueSchema === undefined) return misfit();
  if (entry === undefined) return json.map((each) => valueOf(valueSchema, avro.items, each));
  const [key, value] = entry.fields;
  return new Map(
    json.map((pair) => {
      if (!Array.isArray(pair) || keySchema === undefined || key === undefined || value === undefined) return misfit();
      return [valueOf(keySchema, key.schema, pair[0] ?? null), valueOf(valueSchema, value.schema, pair[1] ?? null)];
    }),
  );
}

function mapOf(schema: Schema, values: AvroSchema, json: JsonTree): ConnectValue {
  const { valueSchema } = schema;
  if (!(json instanceof Map) || valueSchema === undefined) return misfit();
  return new Map([...json].map(([key, value]) => [key, valueOf(valueSchema, values, value)]));
}

function structOf(schema: Schema, avro: AvroRecord, json: JsonTree): ConnectValue {
  if (!(json instanceof Map)) return misfit();
  const values = schema.fields.map((field, index) => {
    const avroField = avro.fields[index];
    const value = json.get(field.name) ?? avroField?.defaultValue ?? null;
    if (value === null || avroField === undefined) return null;
    return valueOf(field.schema, avroField.schema, value);
  });
  return new Struct(schema, values);
}

function memberOf(schema: Schema, avro: AvroUnion, json: JsonTree): ConnectValue {
  const nullable = nullableMember(avro);
  if (nullable !== undefined) return json === null ? null : valueOf(schema, nullable, json);
  const [first] = avro.branches;
  const field = schema.fields[0];
  if (first === undefined || first.type === 'null' || field === undefined) return null;
  const struct = new Struct(schema);
  struct.values[0] = valueOf(field.schema, first, json);
  return struct;
}

function misfit(): never {
  throw new DataError('The default value does not fit its type');
}

function numberOf(schema: Schema, json: JsonTree): ConnectValue {
  if (!(json instanceof JsonNumber)) return misfit();
  switch (schema.name) {
    case LogicalName.date:
      return new Date(Number(json.text) * MS_PER_DAY);
    case LogicalName.time:
    case LogicalName.timestamp:
      return new Date(Number(json.text));
  }
  if (schema.type !== 'int64') return schema.type === 'float32' ? Math.fround(Number(json.text)) : Number(json.text);
  return json.integral ? BigInt.asIntN(64, BigInt(json.text)) : misfit();
}

/** The code of each character of the string is the value of a byte. */
function bytesOf(schema: Schema, json: JsonTree): ConnectValue {
  if (typeof json !== 'string') return misfit();
  const bytes = Buffer.from(json, 'latin1');
  return schema.name === LogicalName.decimal ? decimalFromBytes(bytes, decimalScale(schema)) : bytes;
}
