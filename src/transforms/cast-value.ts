import { temporalText } from '../java/java-date-text.ts';
import { javaClassOf } from '../data/java-class.ts';
import { javaText } from '../java/java-text.ts';
import { MS_PER_DAY } from '../data/logical-values.ts';
import { LogicalName, type Schema } from '../data/schema.ts';
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
 * A value as another type, by Java's casts. The result fits a schema of that type; without a schema numbers that have no
 * JavaScript type of their own come as TypedNumber. Throws a DataError for what cannot be cast.
 */
export function castValue(value: ConnectValue, schema: Schema | null, type: CastType): ConnectValue {
  if (value === null) return null;
  requireCastable(value, schema);
  if (type === 'string') return castToString(value, schema);
  const plain = schema === null ? value : withoutLogicalType(value, schema);
  try {
    const result = type === 'boolean' ? castToBoolean(plain) : castToNumber(plain, type);
    if (schema !== null || typeof result !== 'number' || type === 'float64') return result;
    return new TypedNumber(type as TypedNumber['type'], result);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.javaName !== 'java.lang.NumberFormatException') throw error;
    throw new DataError(`Value (${javaText(plain)}) was out of range for requested data type`, { cause: error });
  }
}

/** `castValue` for all values of a schema but null, of which an int64 may be a number; so may the result's. */
export function castFor(schema: Schema, type: CastType): (value: Exclude<ConnectValue, null>) => ConnectValue {
  const isWide = schema.type === 'int64';
  const quick = isWide ? castOfLong(type) : castOfNumber(type);
  return (value) => {
    if (typeof value !== 'number') return castValue(value, schema, type);
    return quick?.(value) ?? castValue(isWide ? BigInt(value) : value, schema, type);
  };
}

function castOfLong(type: CastType): ((value: number) => ConnectValue) | undefined {
  switch (type) {
    case 'int64':
    case 'float64':
      return (value) => value + 0;
    case 'float32':
      return (value) => Math.fround(value + 0);
    case 'int32':
      return (value) => value | 0;
    case 'boolean':
      return (value) => value !== 0;
    case 'string':
      return String;
    default:
      return undefined;
  }
}

function castOfNumber(type: CastType): ((value: number) => ConnectValue) | undefined {
  switch (type) {
    case 'float64':
      return (value) => value;
    case 'float32':
      return Math.fround;
    case 'int32':
      return doubleToInt;
    default:
      return undefined;
  }
}

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

/** Date as days, Time and Timestamp as milliseconds. */
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
  return castToLong(value) !== 0n;
}

function castToNumber(value: ConnectValue, type: Exclude<CastType, 'boolean' | 'string'>): number | bigint {
  switch (type) {
    case 'int64':
      return castToLong(value);
    case 'float32':
      return castToFloat(value);
    case 'float64':
      return castToDouble(value);
    default:
      return castToInt(value, Number(type.slice(3)) as 8 | 16 | 32);
  }
}

/** Narrow integers are cut out of an int, as Java's byteValue and shortValue do. */
function castToInt(value: ConnectValue, bits: 8 | 16 | 32): number {
  if (typeof value === 'string') return Number(parsedInteger(value, bits));
  const int = typeof value === 'bigint' ? value : BigInt(intOf(value));
  return Number(BigInt.asIntN(bits, int));
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
