import type { AvroSettings } from '../../src/converters/avro/avro-settings.ts';

/** The default settings of the Avro converter. */
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
