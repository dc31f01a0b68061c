import { javaClassOf } from '../../data/java-class.ts';
import type { Schema } from '../../data/schema.ts';
import { TypedNumber, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { loadProtobuf } from './protobuf-files.ts';

type Reader = import('protobufjs').Reader;
type Writer = import('protobufjs').Writer;
type Long = ReturnType<Reader['int64']>;

export type ReadScalar = (reader: Reader) => ConnectValue;
export type WriteScalar = (writer: Writer, value: ConnectValue) => unknown;

/** Limit of the upper 32 bits of a 64-bit integer, up to which a number represents the integer exactly. */
const SMALL_HIGH = 1 << 20;

/** Converts a 64-bit integer of the library, which is a number or two halves, to a bigint. */
export function readBigInt(long: Long): bigint {
  if (typeof long === 'number') return BigInt(long);
  const { high, low } = long;
  if (high < SMALL_HIGH && high >= -SMALL_HIGH) return BigInt(high * 4_294_967_296 + (low >>> 0));
  return (BigInt(high) << 32n) | BigInt(low >>> 0);
}

/**
 * Returns a reader of a scalar as a value of a Connect schema. Unsigned 64-bit values from 2^63 on become negative, as
 * in Java.
 */
export function scalarReader(type: string, schema: Schema): ReadScalar {
  switch (type) {
    case 'int32':
      if (schema.type === 'int8') return (reader) => (reader.int32() << 24) >> 24;
      return schema.type === 'int16' ? (reader) => (reader.int32() << 16) >> 16 : (reader) => reader.int32();
    case 'sint32':
      return (reader) => reader.sint32();
    case 'sfixed32':
      return (reader) => reader.sfixed32();
    case 'uint32':
      return (reader) => BigInt(reader.uint32());
    case 'fixed32':
      return (reader) => BigInt(reader.fixed32());
    case 'int64':
      return (reader) => readBigInt(reader.int64());
    case 'uint64':
      return (reader) => BigInt.asIntN(64, readBigInt(reader.uint64()));
    case 'sint64':
      return (reader) => readBigInt(reader.sint64());
    case 'fixed64':
      return (reader) => BigInt.asIntN(64, readBigInt(reader.fixed64()));
    case 'sfixed64':
      return (reader) => readBigInt(reader.sfixed64());
    case 'float':
      return (reader) => reader.float();
    case 'double':
      return (reader) => reader.double();
    case 'bool':
      return (reader) => reader.bool();
    case 'string':
      return (reader) => reader.string();
    case 'bytes':
      // The bytes are copied because the message is part of a larger fetch buffer.
      return (reader) => Buffer.from(reader.bytes());
    default:
      throw new DataError(`Unknown Protobuf type ${type}`);
  }
}

/** Describes how values of a scalar type are written. */
export interface ScalarWriting {
  readonly wireType: number;
  readonly isDefault: (value: ConnectValue) => boolean;
  readonly write: (writer: Writer, value: ConnectValue) => void;
}

export function scalarWriting(type: string, schema: Schema): ScalarWriting {
  const wireType = (loadProtobuf().types.basic as Readonly<Record<string, number>>)[type];
  if (wireType === undefined) throw new DataError(`Unknown Protobuf type ${type}`);
  const write = scalarWriter(type, schema);
  return { wireType, isDefault: isZero, write: (writer, value) => void write(writer, value) };
}

function isZero(value: ConnectValue): boolean {
  if (value instanceof TypedNumber) return Object.is(value.value, 0);
  if (value instanceof Uint8Array) return value.length === 0;
  return Object.is(value, 0) || value === 0n || value === '' || value === false;
}

function scalarWriter(type: string, schema: Schema): WriteScalar {
  const { type: connect } = schema;
  const isInt = connect === 'int8' || connect === 'int16' || connect === 'int32';
  const isLong = connect === 'int64' || isInt;
  switch (type) {
    case 'int32':
    case 'sint32':
    case 'sfixed32':
      if (isInt) return (writer, value) => writer[type](intOf(value, schema));
      break;
    case 'uint32':
    case 'fixed32':
      if (isLong) return (writer, value) => writer[type](Number(BigInt.asUintN(32, longOf(value, schema))));
      break;
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      if (isLong) return (writer, value) => writer[type](halves(longOf(value, schema)));
      break;
    case 'float':
    case 'double':
      if (connect === 'float32' || (connect === 'float64' && type === 'double'))
        return (writer, value) => writer[type](numberOf(value, schema));
      break;
    case 'bool':
      if (connect === 'boolean') {
        return (writer, value) => writer.bool(typeof value === 'boolean' ? value : refuse(schema, value));
      }
      break;
    case 'string':
      if (connect === 'string') {
        return (writer, value) => writer.string(typeof value === 'string' ? value : refuse(schema, value));
      }
      break;
    case 'bytes':
      if (connect === 'bytes') {
        return (writer, value) => writer.bytes(value instanceof Uint8Array ? value : refuse(schema, value));
      }
  }
  throw new DataError(`Incompatible schema: ${connect} cannot be written as Protobuf ${type}`);
}

function halves(value: bigint): number | { low: number; high: number; unsigned: boolean } {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)), unsigned: false };
}

function intOf(value: ConnectValue, schema: Schema): number {
  const number = value instanceof TypedNumber ? value.value : value;
  return typeof number === 'number' && (number | 0) === number ? number : refuse(schema, value);
}

function longOf(value: ConnectValue, schema: Schema): bigint {
  return typeof value === 'bigint' ? value : BigInt(intOf(value, schema));
}

function numberOf(value: ConnectValue, schema: Schema): number {
  const number = value instanceof TypedNumber ? value.value : value;
  return typeof number === 'number' ? number : refuse(schema, value);
}

export function refuse(schema: Schema, value: ConnectValue): never {
  throw new DataError(`Invalid type for ${schema.type.toUpperCase()}: class ${javaClassOf(value)}`);
}
