import { declareOptions } from '../config/option.ts';
import { javaClassOf } from '../data/java-class.ts';
import { OPTIONAL_BYTES, type Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { CONNECT_VERSION } from '../version.ts';
import type {
  Converter,
  ConverterPlugin,
  HeaderConverter,
  HeaderConverterPlugin,
  SchemaAndValue,
} from '../connect/api.ts';
import { converterType } from './converter-type.ts';

/** org.apache.kafka.connect.converters.ByteArrayConverter. Bytes are passed through unchanged; other types are rejected. */
const byteArrayConverter: Converter & HeaderConverter = {
  passesMessages: true,
  fromConnectData(_topic, schema, value) {
    return bytesOf(schema, value);
  },
  toConnectData(_topic, bytes) {
    return optionalBytes(bytes);
  },
  fromConnectHeader(_topic, _key, schema, value) {
    return bytesOf(schema, value);
  },
  toConnectHeader(_topic, _key, bytes) {
    return optionalBytes(bytes);
  },
};

function bytesOf(schema: Schema | null, value: ConnectValue): Uint8Array | null {
  if (schema !== null && schema.type !== 'bytes') {
    throw new DataError(`Invalid schema type for ByteArrayConverter: ${schema.type.toUpperCase()}`);
  }
  if (value === null || value instanceof Uint8Array) return value;
  throw new DataError(`ByteArrayConverter is not compatible with objects of type class ${javaClassOf(value)}`);
}

function optionalBytes(bytes: Uint8Array | null): SchemaAndValue {
  return { schema: OPTIONAL_BYTES, value: bytes };
}

const base = {
  className: 'org.apache.kafka.connect.converters.ByteArrayConverter',
  version: CONNECT_VERSION,
  options: declareOptions({ 'converter.type': converterType }),
};

export const byteArrayConverterPlugins: readonly [ConverterPlugin, HeaderConverterPlugin] = [
  { ...base, type: 'converter', create: () => byteArrayConverter },
  { ...base, type: 'header_converter', create: () => byteArrayConverter },
];
