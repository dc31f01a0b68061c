import { javaClassOf } from '../../data/java-class.ts';
import { decimalBytes, MS_PER_DAY } from '../../data/logical-values.ts';
import { LogicalName, type Schema } from '../../data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { asBuffer } from '../../json/json-bytes.ts';
import { avroFieldName } from './avro-from-connect.ts';
import { hasTextKeys, isUnion } from './avro-default-text.ts';
import { branchName } from './avro-read.ts';
import {
  mapEntry,
  simpleNameOf,
  type AvroArray,
  type AvroFixed,
  type AvroPrimitive,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
} from './avro-schema.ts';
import type { AvroSettings } from './avro-settings.ts';
import { memberName } from './avro-to-connect.ts';

/** Converts a Connect value to the representation that the codec encodes (see AvroCodec in avro-codec.ts). */
export type ToAvro = (value: ConnectValue) => unknown;

/**
 * Creates functions that convert values of a Connect schema to values of an Avro schema, which is derived from the Connect
 * schema or compatible with it. `strict`: the Avro schema must have all fields of the Connect schema. Throws a DataError if the
 * schemas are not compatible.
 */
export class AvroWriting {
  readonly #settings: AvroSettings;
  readonly #strict: boolean;

  constructor(settings: AvroSettings, strict: boolean) {
    this.#settings = settings;
    this.#strict = strict;
  }

  writer(schema: Schema, avro: AvroSchema): ToAvro {
    if (avro.type === 'union') return isUnion(schema) ? this.#union(schema, avro) : this.#member(schema, avro);
    if (isUnion(schema)) throw new DataError(`A union cannot be written as Avro ${avro.type}`);
    const write = this.#content(schema, avro);
    return (value) => (value === null ? refuseNull() : write(value));
  }

  /** A union in Connect is a struct with one field set. */
  #union(schema: Schema, avro: AvroUnion): ToAvro {
    const hasNull = avro.branches.some(({ type }) => type === 'null');
    const members = schema.fields.map((field) => {
      const index = avro.branches.findIndex((branch, at) => this.#isMember(field.name, branch, at, avro));
      const branch = avro.branches[index];
      if (branch === undefined) throw new DataError(`The Avro union has no member ${field.name}`);
      return { name: branchName(branch), write: this.writer(field.schema, branch) };
    });
    return (value) => {
      if (value === null) return hasNull ? null : refuseNull();
      const { values } = structOf(value, schema);
      const set = values.findIndex((each) => each !== null);
      const member = members[set];
      if (member !== undefined) return { [member.name]: member.write(values[set] ?? null) };
      return hasNull ? null : refuseNull();
    };
  }

  /** Whether a member of the Avro union has the name of a field of the Connect union. */
  #isMember(name: string, branch: AvroSchema, index: number, avro: AvroUnion): boolean {
    if (branch.type === 'null') return false;
    if (!this.#settings.generalized) return memberName(branch, index, this.#settings) === name;
    const names = avro.branches.map((each, at) => memberName(each, at, this.#settings));
    return names[index] === name;
  }

  /**
   * Writes values of a schema that is not a union as the only member other than null, or as the first member that
   * accepts the schema. Null is written as null if the union allows it.
   */
  #member(schema: Schema, avro: AvroUnion): ToAvro {
    const hasNull = avro.branches.some(({ type }) => type === 'null');
    const candidates = avro.branches.filter((branch) => branch.type !== 'null');
    const branch = candidates.length === 1 ? candidates[0] : candidates.find((each) => this.#accepts(schema, each));
    if (branch === undefined) throw new DataError(`The Avro union has no member for ${described(schema)}`);
    const name = branchName(branch);
    const write = this.#content(schema, branch);
    return (value) => (value === null ? (hasNull ? null : refuseNull()) : { [name]: write(value) });
  }

  #accepts(schema: Schema, avro: AvroSchema): boolean {
    if ('fullName' in avro && schema.name !== undefined && schema.name !== avro.fullName) return false;
    try {
      this.#content(schema, avro);
      return true;
    } catch {
      return false;
    }
  }

  /** The returned function is never called with null. */
  #content(schema: Schema, avro: AvroSchema): ToAvro {
    switch (schema.name) {
      case LogicalName.decimal:
        return avro.type === 'bytes' || avro.type === 'fixed' ? decimalWriter(schema, avro) : misfit(schema, avro);
      case LogicalName.date:
        return avro.type === 'int' ? (value) => daysOf(dateOf(value, 'Date')) : misfit(schema, avro);
      case LogicalName.time:
        return avro.type === 'int' ? (value) => millisecondsOfDay(dateOf(value, 'Time')) : misfit(schema, avro);
      case LogicalName.timestamp:
        return avro.type === 'long' ? (value) => BigInt(dateOf(value, 'Timestamp').getTime()) : misfit(schema, avro);
    }
    switch (schema.type) {
      case 'array':
        return avro.type === 'array' ? this.#array(schema, avro) : misfit(schema, avro);
      case 'map':
        return this.#map(schema, avro);
      case 'struct':
        return avro.type === 'record' ? this.#record(schema, avro) : misfit(schema, avro);
    }
    return scalarWriter(schema, avro);
  }

  #array(schema: Schema, avro: AvroArray): ToAvro {
    const write = this.writer(partOf(schema), avro.items);
    return (value) => {
      if (!Array.isArray(value)) return refuse(schema, value);
      return (value as readonly ConnectValue[]).map(write);
    };
  }

  #map(schema: Schema, avro: AvroSchema): ToAvro {
    if (avro.type === 'map' && hasTextKeys(schema, this.#settings)) {
      const write = this.writer(partOf(schema), avro.values);
      return (value) => {
        const object: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
        for (const [key, each] of mapOf(value, schema))
          object[typeof key === 'string' ? key : refuse(schema, key)] = write(each);
        return object;
      };
    }
    const entry = avro.type === 'array' ? mapEntry(avro) : undefined;
    if (entry === undefined) return misfit(schema, avro);
    const [keyField, valueField] = entry.fields;
    if (keyField === undefined || valueField === undefined) return misfit(schema, avro);
    const writeKey = this.writer(schema.keySchema ?? partOf(schema), keyField.schema);
    const writeValue = this.writer(partOf(schema), valueField.schema);
    return (value) => [...mapOf(value, schema)].map(([key, each]) => ({ key: writeKey(key), value: writeValue(each) }));
  }

  #record(schema: Schema, avro: AvroRecord): ToAvro {
    const used = new Set<string>();
    const writers: { readonly name: string; readonly write: (struct: Struct) => unknown }[] = [];
    for (const field of avro.fields) {
      const source = schema.fields.find(({ name }) => avroFieldName(name, this.#settings) === field.name);
      if (source === undefined) {
        writers.push({ name: field.name, write: this.#missing(field.name, avro) });
        continue;
      }
      used.add(source.name);
      const write = this.writer(source.schema, field.schema);
      const { index } = source;
      const { defaultValue } = source.schema;
      const byDefault = this.#settings.ignoreDefaultForNullables
        ? undefined
        : (defaultValue as ConnectValue | undefined);
      const { name } = field;
      writers.push({ name, write: (struct) => named(name, write, struct.values[index] ?? byDefault ?? null) });
    }
    const lost = schema.fields.find(({ name }) => !used.has(name));
    if (lost !== undefined && this.#strict) {
      throw new DataError(`Incompatible schema: record ${avro.fullName} has no field ${lost.name}`);
    }
    return (value) => {
      const struct = structOf(value, schema);
      const row: Record<string, unknown> = {};
      for (const { name, write } of writers) row[name] = write(struct);
      return row;
    };
  }

  /** A field that only the Avro schema has is written as null. Throws a DataError if the field does not allow null. */
  #missing(name: string, avro: AvroRecord): () => unknown {
    const field = avro.fields.find((each) => each.name === name);
    const isNullable =
      field?.schema.type === 'null' ||
      (field?.schema.type === 'union' && field.schema.branches.some(({ type }) => type === 'null'));
    if (isNullable) return () => null;
    throw new DataError(`Incompatible schema: field ${name} of record ${avro.fullName} has no value`);
  }
}

function named(name: string, write: ToAvro, value: ConnectValue): unknown {
  try {
    return write(value);
  } catch (error) {
    if (error instanceof DataError) throw new DataError(`Field ${name}: ${error.message}`);
    throw error;
  }
}

function scalarWriter(schema: Schema, avro: AvroSchema): ToAvro {
  switch (avro.type) {
    case 'int':
      return isInt(schema) ? (value) => intOf(value, schema) : misfit(schema, avro);
    case 'long':
      if (schema.type === 'int64') return (value) => (typeof value === 'bigint' ? value : refuse(schema, value));
      return isInt(schema) ? (value) => BigInt(intOf(value, schema)) : misfit(schema, avro);
    case 'float':
    case 'double':
      return isInt(schema) || schema.type === 'float32' || (schema.type === 'float64' && avro.type === 'double')
        ? (value) => numberOf(value, schema)
        : misfit(schema, avro);
    case 'boolean':
    case 'string':
      return schema.type === avro.type
        ? (value) => (typeof value === avro.type ? value : refuse(schema, value))
        : misfit(schema, avro);
    case 'enum':
      return schema.type === 'string' ? symbolWriter(schema, avro.symbols, avro.fullName) : misfit(schema, avro);
    case 'bytes':
    case 'fixed':
      return schema.type === 'bytes'
        ? (value) => (value instanceof Uint8Array ? asBuffer(value) : refuse(schema, value))
        : misfit(schema, avro);
    default:
      return misfit(schema, avro);
  }
}

function symbolWriter(schema: Schema, symbols: readonly string[], fullName: string): ToAvro {
  const known = new Set(symbols);
  return (value) => {
    if (typeof value !== 'string') return refuse(schema, value);
    if (!known.has(value)) throw new DataError(`${value} is not a symbol of the Avro enum ${fullName}`);
    return value;
  };
}

function decimalWriter(schema: Schema, avro: AvroPrimitive | AvroFixed): ToAvro {
  const scale = Number(schema.parameters?.get('scale'));
  return (value) => {
    if (!(value instanceof Decimal)) {
      throw new DataError(`Invalid type for Decimal, expected BigDecimal but was class ${javaClassOf(value)}`);
    }
    if (value.scale !== scale) {
      throw new DataError(
        `Decimal value has mismatching scale for given Decimal schema. Schema has scale ${String(scale)}, value has scale ${String(value.scale)}.`,
      );
    }
    const bytes = decimalBytes(value);
    return asBuffer(avro.type === 'fixed' ? signExtended(bytes, avro.size) : bytes);
  };
}

function signExtended(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length > size) throw new DataError(`The decimal does not fit ${String(size)} bytes`);
  const extended = new Uint8Array(size).fill((bytes[0] ?? 0) > 0x7f ? 0xff : 0);
  extended.set(bytes, size - bytes.length);
  return extended;
}

function isInt({ type }: Schema): boolean {
  return type === 'int8' || type === 'int16' || type === 'int32';
}

function intOf(value: ConnectValue, schema: Schema): number {
  const number = value instanceof TypedNumber ? value.value : value;
  return typeof number === 'number' && (number | 0) === number ? number : refuse(schema, value);
}

function numberOf(value: ConnectValue, schema: Schema): number {
  const number = value instanceof TypedNumber ? value.value : value;
  return typeof number === 'number' ? number : refuse(schema, value);
}

function dateOf(value: ConnectValue, logical: string): Date {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  throw new DataError(`Invalid type for ${logical}, expected Date but was class ${javaClassOf(value)}`);
}

function daysOf(date: Date): number {
  const days = date.getTime() / MS_PER_DAY;
  if (Number.isInteger(days)) return days;
  throw new DataError('Kafka Connect Date type should not have any time fields set to non-zero values.');
}

function millisecondsOfDay(date: Date): number {
  const milliseconds = date.getTime();
  if (milliseconds >= 0 && milliseconds <= MS_PER_DAY) return milliseconds;
  throw new DataError('Kafka Connect Time type should not have any date fields set to non-zero values.');
}

/**
 * Returns the value if it is a struct of the schema, or of a schema whose fields have the same names and types.
 * Otherwise throws a DataError.
 */
function structOf(value: ConnectValue, schema: Schema): Struct {
  if (!(value instanceof Struct)) return refuse(schema, value);
  if (value.schema === schema || hasSameFields(value.schema, schema)) return value;
  throw new DataError('Mismatching struct schema');
}

function hasSameFields(a: Schema, b: Schema): boolean {
  return (
    a.fields.length === b.fields.length &&
    a.fields.every(({ name, schema }, index) => {
      const other = b.fields[index];
      return other?.name === name && other.schema.type === schema.type && other.schema.name === schema.name;
    })
  );
}

function mapOf(value: ConnectValue, schema: Schema): ReadonlyMap<ConnectValue, ConnectValue> {
  return value instanceof Map ? (value as ReadonlyMap<ConnectValue, ConnectValue>) : refuse(schema, value);
}

function partOf(schema: Schema): Schema {
  if (schema.valueSchema === undefined) throw new DataError(`The ${schema.type} schema has no schema for its values`);
  return schema.valueSchema;
}

function described({ type, name }: Schema): string {
  return name === undefined ? type : `${type} ${name}`;
}

function misfit(schema: Schema, avro: AvroSchema): never {
  const name = 'fullName' in avro ? ` ${simpleNameOf(avro.fullName)}` : '';
  throw new DataError(`Incompatible schema: ${described(schema)} cannot be written as Avro ${avro.type}${name}`);
}

function refuse(schema: Schema, value: ConnectValue): never {
  throw new DataError(`Invalid type for ${schema.type.toUpperCase()}: class ${javaClassOf(value)}`);
}

function refuseNull(): never {
  throw new DataError('Found null value for non-optional schema');
}
