import { temporalText } from '../java/java-date-text.ts';
import type { Present } from '../connect/pipeline/struct-plan.ts';
import { javaClassOf } from '../data/java-class.ts';
import { javaText } from '../java/java-text.ts';
import { MS_PER_DAY } from '../data/logical-values.ts';
import { LogicalName, type Schema, type SchemaType } from '../data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../data/value.ts';
import { DataError, SluiceError } from '../errors.ts';
import { CAST_SOURCES_TEXT, type CastType } from './cast-spec.ts';
import {
  decimalToDouble,
  decimalToFloat,
  decimalToLong,
  doubleToInt,
  doubleToLong,
  longToFloat,
} from './number-casts.ts';
import { parsedDouble, parsedFloat, parsedInteger } from './number-parsing.ts';

/**
 * Casts a value like Java. The result is valid for a schema of type `type`. Without a schema, numbers become a
 * TypedNumber, except for float64 and int64. Throws a DataError if the value cannot be cast.
 */
export function castValue(value: ConnectValue, schema: Schema | null, type: CastType): ConnectValue {
  if (value === null) return null;
  requireCastable(value, schema);
  if (type === 'string') return castToString(value, schema);
  const plain = schema === null ? value : withoutLogicalType(value, schema);
  try {
    const result = CASTS[type](plain);
    if (schema !== null || typeof result !== 'number' || type === 'float64') return result;
    return new TypedNumber(type as TypedNumber['type'], result);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.javaName !== 'java.lang.NumberFormatException') throw error;
    throw new DataError(`Value (${javaText(plain)}) was out of range for requested data type`, { cause: error });
  }
}

/** Returns `castValue` for non-null values of a schema. An int64 may be a number, both as an argument and as a result. */
export function castFor(schema: Schema, type: CastType): (value: Present) => ConnectValue {
  const isWide = schema.type === 'int64';
  const cast = (value: Present) => castValue(value, schema, type);
  if (!isWide && !NARROW_NUMBERS.has(schema.type)) return cast;
  if (type === 'string') return (value) => (isWide && typeof value === 'number' ? String(value) : cast(value));
  const castNumber = CASTS[type];
  if (!isWide) return (value) => (typeof value === 'number' ? castNumber(value) : cast(value));
  if (type === 'int64') return (value) => (typeof value === 'number' ? value + 0 : cast(value));
  const wraps = type === 'int8' || type === 'int16' || type === 'int32';
  return (value) => {
    if (typeof value !== 'number') return cast(value);
    return castNumber(wraps ? value | 0 : value + 0);
  };
}

const NARROW_NUMBERS: ReadonlySet<SchemaType> = new Set(['int8', 'int16', 'int32', 'float32', 'float64']);

function requireCastable(value: ConnectValue, schema: Schema | null): void {
  if (schema === null && (value instanceof Date || value instanceof Decimal)) {
    throw new DataError(
      `Cast transformation was passed a value of type class ${javaClassOf(value)} which is not supported by Connect's data API`,
    );
  }
  const type = schema?.type ?? containerType(value);
  if (type === 'array' || type === 'map' || type === 'struct') {
    throw new DataError(
      `Cast transformation does not support casting from ${type.toUpperCase()}; supported types are ${CAST_SOURCES_TEXT}`,
    );
  }
}

function containerType(value: ConnectValue): 'array' | 'map' | 'struct' | undefined {
  if (Array.isArray(value)) return 'array';
  if (value instanceof Map) return 'map';
  return value instanceof Struct ? 'struct' : undefined;
}

/** Converts a Date to days, and a Time or Timestamp to milliseconds. */
function withoutLogicalType(value: ConnectValue, schema: Schema): ConnectValue {
  if (!(value instanceof Date)) return value;
  const ms = value.getTime();
  switch (schema.name) {
    case LogicalName.date:
      if (ms % MS_PER_DAY === 0) return new TypedNumber('int32', ms / MS_PER_DAY);
      throw new DataError('Kafka Connect Date type should not have any time fields set to non-zero values.');
    case LogicalName.time:
      if (ms >= 0 && ms <= MS_PER_DAY) return new TypedNumber('int32', ms);
      throw new DataError('Kafka Connect Time type should not have any date fields set to non-zero values.');
    default:
      return BigInt(ms);
  }
}

function castToString(value: ConnectValue, schema: Schema | null): string {
  return value instanceof Date ? temporalText(value) : javaText(value, schema);
}

function castToBoolean(value: ConnectValue): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toLowerCase() === 'true';
  if (typeof value === 'number') return Math.abs(value) >= 1;
  return castToLong(value) !== 0n;
}

/** Casts by target type. A number is a double or an integer of at most 32 bits. */
const CASTS = {
  int8: (value: ConnectValue) => castToInt(value, 8),
  int16: (value: ConnectValue) => castToInt(value, 16),
  int32: (value: ConnectValue) => castToInt(value, 32),
  int64: castToLong,
  float32: castToFloat,
  float64: castToDouble,
  boolean: castToBoolean,
} as const;

/** Casts to an int first and then keeps its lowest bits, like Java's byteValue and shortValue. */
export function castToInt(value: ConnectValue, bits: 8 | 16 | 32): number {
  if (typeof value === 'string') return Number(parsedInteger(value, bits));
  const int = typeof value === 'bigint' ? value : intOf(value);
  if (typeof int === 'bigint') return Number(BigInt.asIntN(bits, int));
  return (int << (32 - bits)) >> (32 - bits);
}

function intOf(value: ConnectValue): number | bigint {
  if (typeof value === 'number') return doubleToInt(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof TypedNumber) return doubleToInt(value.value);
  if (value instanceof Decimal) return decimalToLong(value);
  return unexpected(value);
}

function castToLong(value: ConnectValue): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return doubleToLong(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'string') return parsedInteger(value, 64);
  if (value instanceof TypedNumber) return doubleToLong(value.value);
  return value instanceof Decimal ? decimalToLong(value) : unexpected(value);
}

function castToFloat(value: ConnectValue): number {
  if (typeof value === 'number') return Math.fround(value);
  if (typeof value === 'bigint') return longToFloat(value);
  if (typeof value === 'string') return parsedFloat(value);
  return value instanceof Decimal ? decimalToFloat(value) : Math.fround(castToDouble(value));
}

function castToDouble(value: ConnectValue): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string') return parsedDouble(value);
  if (value instanceof TypedNumber) return value.value;
  return value instanceof Decimal ? decimalToDouble(value) : unexpected(value);
}

function unexpected(value: ConnectValue): never {
  throw new DataError(`Unexpected type in Cast transformation: class ${javaClassOf(value)}`);
}
