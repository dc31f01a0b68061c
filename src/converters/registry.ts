import type { ConverterPlugin, HeaderConverterPlugin } from '../connect/api.ts';
import { avroConverterPlugin } from './avro/avro-converter.ts';
import { byteArrayConverterPlugins } from './byte-array-converter.ts';
import { jsonConverterPlugins } from './json-converter.ts';
import { jsonSchemaConverterPlugin } from './json-schema/json-schema-converter.ts';
import { primitiveConverterPlugins } from './primitive-converters.ts';
import { protobufConverterPlugin } from './protobuf/protobuf-converter.ts';
import { simpleHeaderConverterPlugin } from './simple-header-converter.ts';
import { stringConverterPlugins } from './string-converter.ts';

/**
 * Apache Kafka's converters for keys, values and headers, and Confluent's converters for a schema registry. `strictJson` is the
 * worker's `json.converter.strict`.
 * @internal
 */
export function converterPlugins(
  settings: { readonly strictJson?: boolean } = {},
): readonly (ConverterPlugin | HeaderConverterPlugin)[] {
  return [
    ...byteArrayConverterPlugins,
    ...primitiveConverterPlugins,
    ...jsonConverterPlugins(settings.strictJson ?? false),
    ...stringConverterPlugins,
    simpleHeaderConverterPlugin,
    avroConverterPlugin,
    protobufConverterPlugin,
    jsonSchemaConverterPlugin,
  ];
}
