import { decimalFromBytes, MS_PER_DAY } from '../../data/logical-values.ts';
import { LogicalName, type Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { decimalScale } from '../json-reader.ts';
import {
  mapEntry,
  nullableMember,
  type AvroArray,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
} from './avro-schema.ts';

/** Converts a decoded value (see AvroCodec in avro-codec.ts) to a Connect value. */
export type FromAvro = (value: unknown) => ConnectValue;

type Row = Readonly<Record<string, unknown>>;

const same: FromAvro = (value) => value as ConnectValue;

/** Property name of a union member in the objects that represent values of unions (see AvroCodec). */
export function branchName(schema: AvroSchema): string {
  return 'fullName' in schema ? schema.fullName : schema.type;
}

/**
 * Returns a function that converts decoded values of an Avro schema to values of `schema`, the Connect schema derived from it.
 * Returns `same` if no conversion is needed.
 */
export function avroToConnect(avro: AvroSchema, schema: Schema): FromAvro {
  switch (avro.type) {
    case 'int':
      return intReader(schema);
    case 'long':
      return schema.name === LogicalName.timestamp ? readTimestamp : same;
    case 'bytes':
    case 'fixed':
      return schema.name === LogicalName.decimal ? decimalReader(schema) : same;
    case 'array':
      return arrayReader(avro, schema);
    case 'map':
      return mapReader(avro.values, schema);
    case 'record':
      return recordReader(avro, schema);
    case 'union':
      return unionReader(avro, schema);
    default:
      return same;
  }
}

function intReader(schema: Schema): FromAvro {
  switch (schema.name) {
    case LogicalName.date:
      return (value) => dateOf((value as number) * MS_PER_DAY, 'Date');
    case LogicalName.time:
      return (value) => dateOf(value as number, 'Time');
  }
  if (schema.type === 'int8') return (value) => ((value as number) << 24) >> 24;
  return schema.type === 'int16' ? (value) => ((value as number) << 16) >> 16 : same;
}

const readTimestamp: FromAvro = (value) => dateOf(Number(value), 'Timestamp');

function dateOf(milliseconds: number, logical: string): Date {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) {
    throw new DataError(`${logical} ${String(milliseconds)} ms is outside the range of dates`);
  }
  return date;
}

function decimalReader(schema: Schema): FromAvro {
  const scale = decimalScale(schema);
  return (value) => {
    const bytes = value as Buffer;
    if (bytes.length === 0) throw new DataError('Invalid bytes for Decimal field: there are none');
    return decimalFromBytes(bytes, scale);
  };
}

function arrayReader(avro: AvroArray, schema: Schema): FromAvro {
  const { keySchema, valueSchema } = schema;
  if (valueSchema === undefined) return same;
  const entry = mapEntry(avro);
  if (entry === undefined || keySchema === undefined) {
    const read = avroToConnect(avro.items, valueSchema);
    return read === same ? same : (value) => (value as unknown[]).map(read);
  }
  const part = (name: string, of: Schema): FromAvro => {
    const field = entry.fields.find((each) => each.name === name);
    return field === undefined ? same : avroToConnect(field.schema, of);
  };
  const readKey = part('key', keySchema);
  const readValue = part('value', valueSchema);
  return (value) => new Map((value as Row[]).map((pair) => [readKey(pair['key']), readValue(pair['value'])]));
}

function mapReader(values: AvroSchema, { valueSchema }: Schema): FromAvro {
  const read = valueSchema === undefined ? same : avroToConnect(values, valueSchema);
  return (value) => {
    const map = new Map<ConnectValue, ConnectValue>();
    for (const [key, each] of Object.entries(value as Row)) map.set(key, read(each));
    return map;
  };
}

function recordReader(avro: AvroRecord, schema: Schema): FromAvro {
  const cells = avro.fields.map((field, index) => {
    const fieldSchema = schema.fields[index]?.schema;
    return { name: field.name, read: fieldSchema === undefined ? same : avroToConnect(field.schema, fieldSchema) };
  });
  return (value) => {
    const row = value as Row;
    const values = cells.map(({ name, read }) => (read === same ? (row[name] as ConnectValue) : read(row[name])));
    return new Struct(schema, values);
  };
}

function unionReader(avro: AvroUnion, schema: Schema): FromAvro {
  const nullable = nullableMember(avro);
  if (nullable !== undefined) {
    const name = branchName(nullable);
    const read = avroToConnect(nullable, schema);
    return (value) => (value === null ? null : read((value as Row)[name]));
  }
  const [only] = avro.branches;
  if (avro.branches.length === 1 && only !== undefined && schema.type !== 'struct') {
    const read = avroToConnect(only, schema);
    return (value) => read((value as Row)[branchName(only)]);
  }
  return memberReader(avro, schema);
}

/** Reads a value of a union as a struct in which only the field of its member is set. */
function memberReader(avro: AvroUnion, schema: Schema): FromAvro {
  const members = new Map<string, { readonly index: number; readonly read: FromAvro }>();
  let index = 0;
  for (const branch of avro.branches) {
    const field = schema.fields[index];
    if (branch.type === 'null' || field === undefined) continue;
    members.set(branchName(branch), { index: index++, read: avroToConnect(branch, field.schema) });
  }
  return (value) => {
    if (value === null) return null;
    const [[name, content] = []] = Object.entries(value as Row);
    const member = members.get(name ?? '');
    if (member === undefined) throw new DataError('Did not find matching union field for data');
    const struct = new Struct(schema);
    struct.values[member.index] = member.read(content);
    return struct;
  };
}
