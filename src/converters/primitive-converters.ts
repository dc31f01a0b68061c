import { declareOptions } from '../config/option.ts';
import { javaClassOf } from '../data/java-class.ts';
import { Schema, type SchemaType } from '../data/schema.ts';
import { TypedNumber, type ConnectValue } from '../data/value.ts';
import { DataError, SluiceError } from '../errors.ts';
import { CONNECT_VERSION } from '../version.ts';
import type {
  Converter,
  ConverterPlugin,
  HeaderConverter,
  HeaderConverterPlugin,
  SchemaAndValue,
} from '../connect/api.ts';
import { asBuffer } from '../json/json-bytes.ts';
import { converterType } from './converter-type.ts';

/** Describes one of Connect's number converters (ShortConverter, …, DoubleConverter), which use Kafka's big-endian form. */
interface Primitive {
  readonly type: SchemaType;
  /** Name of the Java class, such as `Short`. */
  readonly name: string;
  readonly size: number;
  /** Name of Java's deserializer in the message about a wrong size. */
  readonly reader: string;
  write(target: Buffer, value: number | bigint): void;
  read(source: Buffer): ConnectValue;
}

const NUMBERS: readonly Primitive[] = [
  {
    type: 'int16',
    name: 'Short',
    size: 2,
    reader: 'ShortDeserializer',
    write: (target, value) => target.writeInt16BE(Number(value)),
    read: (source) => source.readInt16BE(),
  },
  {
    type: 'int32',
    name: 'Integer',
    size: 4,
    reader: 'IntegerDeserializer',
    write: (target, value) => target.writeInt32BE(Number(value)),
    read: (source) => source.readInt32BE(),
  },
  {
    type: 'int64',
    name: 'Long',
    size: 8,
    reader: 'LongDeserializer',
    write: (target, value) => target.writeBigInt64BE(BigInt(value)),
    read: (source) => source.readBigInt64BE(),
  },
  {
    type: 'float32',
    name: 'Float',
    size: 4,
    reader: 'Deserializer',
    write: (target, value) => target.writeFloatBE(Number(value)),
    read: (source) => source.readFloatBE(),
  },
  {
    type: 'float64',
    name: 'Double',
    size: 8,
    reader: 'Deserializer',
    write: (target, value) => target.writeDoubleBE(Number(value)),
    read: (source) => source.readDoubleBE(),
  },
];

function numberConverter(primitive: Primitive): Converter & HeaderConverter {
  const schema = new Schema(primitive.type, { optional: true });
  const to = (bytes: Uint8Array | null): SchemaAndValue => ({ schema, value: readNumber(primitive, bytes) });
  return {
    fromConnectData: (_topic, of, value) => writeNumber(primitive, of, value),
    toConnectData: (_topic, bytes) => to(bytes),
    fromConnectHeader: (_topic, _key, of, value) => writeNumber(primitive, of, value),
    toConnectHeader: (_topic, _key, bytes) => to(bytes),
  };
}

function readNumber(primitive: Primitive, bytes: Uint8Array | null): ConnectValue {
  if (bytes === null) return null;
  if (bytes.length === primitive.size) return primitive.read(asBuffer(bytes));
  throw new DataError(`Failed to deserialize ${primitive.name.toLowerCase()}: `, {
    cause: serializationError(`Size of data received by ${primitive.reader} is not ${String(primitive.size)}`),
  });
}

function writeNumber(primitive: Primitive, schema: Schema | null, value: ConnectValue): Uint8Array | null {
  if (value === null) return null;
  const number = numberOfType(primitive.type, schema, value);
  if (number === undefined) {
    const typed = typeof value === 'number' && isNarrow(schema?.type) ? new TypedNumber(schema.type, value) : value;
    const was = `class ${javaClassOf(typed)}`;
    throw new DataError(`Failed to serialize to ${primitive.name.toLowerCase()} (was ${was}): `, {
      cause: new SluiceError(`${was} cannot be cast to class java.lang.${primitive.name}`, {
        scope: 'record',
        javaName: 'java.lang.ClassCastException',
      }),
    });
  }
  const target = Buffer.alloc(primitive.size);
  primitive.write(target, number);
  return target;
}

function isNarrow(type: SchemaType | undefined): type is TypedNumber['type'] {
  return type === 'int8' || type === 'int16' || type === 'int32' || type === 'float32';
}

/**
 * Returns the value if its Java type is the converter's type; otherwise `undefined`. A plain number has the type of its schema
 * if that is a narrow type; otherwise it is a double.
 */
function numberOfType(type: SchemaType, schema: Schema | null, value: ConnectValue): number | bigint | undefined {
  if (typeof value === 'bigint') return type === 'int64' ? value : undefined;
  if (value instanceof TypedNumber) return value.type === type ? value.value : undefined;
  if (typeof value !== 'number') return undefined;
  return (isNarrow(schema?.type) ? schema.type : 'float64') === type ? value : undefined;
}

const OPTIONAL_BOOLEAN = new Schema('boolean', { optional: true });
const TRUE = Uint8Array.of(1);
const FALSE = Uint8Array.of(0);

const booleanConverter: Converter & HeaderConverter = {
  fromConnectData: (_topic, schema, value) => writeBoolean(schema, value),
  toConnectData: (_topic, bytes) => ({ schema: OPTIONAL_BOOLEAN, value: readBoolean(bytes) }),
  fromConnectHeader: (_topic, _key, schema, value) => writeBoolean(schema, value),
  toConnectHeader: (_topic, _key, bytes) => ({ schema: OPTIONAL_BOOLEAN, value: readBoolean(bytes) }),
};

function writeBoolean(schema: Schema | null, value: ConnectValue): Uint8Array | null {
  if (schema !== null && schema.type !== 'boolean') {
    throw new DataError(`Invalid schema type for BooleanConverter: ${schema.type.toUpperCase()}`);
  }
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? TRUE : FALSE;
  throw new DataError(`BooleanConverter is not compatible with objects of type class ${javaClassOf(value)}`);
}

function readBoolean(bytes: Uint8Array | null): boolean | null {
  if (bytes === null) return null;
  if (bytes.length === 1 && bytes[0] === 1) return true;
  if (bytes.length === 1 && bytes[0] === 0) return false;
  const reason =
    bytes.length === 1
      ? `Unexpected byte received by BooleanDeserializer: ${String(asBuffer(bytes).readInt8())}`
      : 'Size of data received by BooleanDeserializer is not 1';
  throw new DataError('Failed to deserialize boolean: ', { cause: serializationError(reason) });
}

function serializationError(message: string): SluiceError {
  return new SluiceError(message, {
    scope: 'record',
    javaName: 'org.apache.kafka.common.errors.SerializationException',
  });
}

function plugins(name: string, converter: Converter & HeaderConverter): [ConverterPlugin, HeaderConverterPlugin] {
  const base = {
    className: `org.apache.kafka.connect.converters.${name}Converter`,
    version: CONNECT_VERSION,
    options: declareOptions({ 'converter.type': converterType }),
  };
  return [
    { ...base, type: 'converter', create: () => converter },
    { ...base, type: 'header_converter', create: () => converter },
  ];
}

export const primitiveConverterPlugins: readonly (ConverterPlugin | HeaderConverterPlugin)[] = [
  ...plugins('Boolean', booleanConverter),
  ...NUMBERS.flatMap((primitive) => plugins(primitive.name, numberConverter(primitive))),
];
