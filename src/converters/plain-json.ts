import { parseOptions } from '../config/parse.ts';
import type { Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import type { Converter } from '../connect/api.ts';
import { JsonConverter, jsonConverterOptions } from './json-converter.ts';

/** Converts to and from JSON without schemas, as in Connect's internal topics. */
export const plainJsonConverter: Converter = new JsonConverter(
  parseOptions(jsonConverterOptions, {
    'converter.type': 'value',
    'schemas.enable': 'false',
    'decimal.format': 'NUMERIC',
  }),
  false,
);

/**
 * Converts a Connect value to compact JSON without a schema, without losing digits of numbers.
 * @returns UTF-8; `null` for a value of `null` without a schema
 * @throws DataError if the value does not match the schema
 */
export function plainJson(schema: Schema | null, value: ConnectValue): Uint8Array | null {
  return plainJsonConverter.fromConnectData('', schema, value);
}
