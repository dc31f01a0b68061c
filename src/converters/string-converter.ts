import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { findCharset, type Charset } from '../java/charset.ts';
import { javaText } from '../java/java-text.ts';
import { OPTIONAL_STRING, type Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import { SluiceError } from '../errors.ts';
import { CONNECT_VERSION } from '../version.ts';
import type {
  ConnectorConfig,
  Converter,
  ConverterPlugin,
  HeaderConverter,
  HeaderConverterPlugin,
  SchemaAndValue,
} from '../connect/api.ts';
import { converterType } from './converter-type.ts';

const UTF_8 = findCharset('utf-8');

const stringConverterOptions = declareOptions({
  'converter.type': converterType,
  'converter.encoding': {
    type: 'STRING',
    default: 'UTF-8',
    importance: 'HIGH',
    documentation: 'Java name of the charset of the bytes.',
    width: 'MEDIUM',
    displayName: 'Encoding',
  },
});

/** org.apache.kafka.connect.storage.StringConverter. Writes the text form of any value, and reads bytes as an optional string. */
class StringConverter implements Converter, HeaderConverter {
  readonly passesMessages: boolean;
  readonly #charset: Charset;

  constructor(charset: Charset) {
    this.#charset = charset;
    this.passesMessages = charset === UTF_8;
  }

  passesText(schema: Schema): boolean {
    return this.passesMessages && schema.type === 'string';
  }

  fromConnectData(_topic: string, schema: Schema | null, value: ConnectValue): Uint8Array | null {
    return value === null ? null : this.#charset.encode(javaText(value, schema));
  }

  toConnectData(_topic: string, bytes: Uint8Array | null): SchemaAndValue {
    return { schema: OPTIONAL_STRING, value: bytes === null ? null : this.#charset.decode(bytes) };
  }

  fromConnectHeader(topic: string, _key: string, schema: Schema | null, value: ConnectValue): Uint8Array | null {
    return this.fromConnectData(topic, schema, value);
  }

  toConnectHeader(topic: string, _key: string, bytes: Uint8Array | null): SchemaAndValue {
    return this.toConnectData(topic, bytes);
  }
}

function create(config: ConnectorConfig, type: string): StringConverter {
  const options = parseOptions(stringConverterOptions, { ...config, 'converter.type': type }, { errors: 'first' });
  const name = options['converter.encoding'];
  const charset = findCharset(name);
  if (charset !== undefined) return new StringConverter(charset);
  throw new SluiceError(`Unsupported encoding ${name}`, {
    scope: 'caller',
    javaName: 'org.apache.kafka.common.errors.SerializationException',
    cause: new SluiceError(name, { scope: 'caller', javaName: 'java.nio.charset.UnsupportedCharsetException' }),
  });
}

const base = {
  className: 'org.apache.kafka.connect.storage.StringConverter',
  version: CONNECT_VERSION,
  options: stringConverterOptions,
};

export const stringConverterPlugins: readonly [ConverterPlugin, HeaderConverterPlugin] = [
  { ...base, type: 'converter', create: (config, isKey) => create(config, isKey ? 'key' : 'value') },
  { ...base, type: 'header_converter', create: (config) => create(config, 'header') },
];
