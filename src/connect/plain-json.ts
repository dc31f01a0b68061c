import { parseOptions } from '../config/parse.ts';
import type { Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import type { Converter } from './api.ts';
import { JsonConverter, jsonConverterOptions } from './converters/json-converter.ts';

/** JSON without schemas, as Connect's internal topics have it. */
export const plainJsonConverter: Converter = new JsonConverter(
  parseOptions(jsonConverterOptions, {
    'converter.type': 'value',
    'schemas.enable': 'false',
    'decimal.format': 'NUMERIC',
  }),
  false,
);

/** A Connect value as compact JSON text, exact to the last digit; `null` for a value that is none. */
export function plainJson(schema: Schema | null, value: ConnectValue): Uint8Array | null {
  return plainJsonConverter.fromConnectData('', schema, value);
}
