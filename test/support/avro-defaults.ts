import type { AvroSettings } from '../../src/converters/avro/avro-settings.ts';

/** What the Avro converter does by default. */
export const AVRO_DEFAULTS: AvroSettings = {
  connectMetaData: true,
  enhanced: false,
  generalized: false,
  scrubInvalidNames: false,
  discardTypeDocDefault: false,
  allowOptionalMapKeys: false,
  flattenSingletonUnions: true,
  ignoreDefaultForNullables: false,
};
