import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { Struct } from '../data/value.ts';
import { ConfigError, DataError } from '../errors.ts';
import { copyOfFields, mappedStruct, planFields } from './field-transformation.ts';
import { partTransformation, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireStructSchema } from './requirements.ts';
import { copyOf, rememberedBySchema } from './schema-building.ts';

const options = declareOptions({
  'schema.name': { type: 'STRING', default: null, importance: 'HIGH', documentation: 'New name of the schema.' },
  'schema.version': { type: 'INT', default: null, importance: 'HIGH', documentation: 'New version of the schema.' },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Changes the name or version of the key's or value's struct schema. */
export const setSchemaMetadata = partTransformation('SetSchemaMetadata', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const name = parsed['schema.name'];
  const version = parsed['schema.version'];
  const withDefault = parsed['replace.null.with.default'];
  if (name === null && version === null) throw new ConfigError('Neither schema name nor version configured');
  const mapping = rememberedBySchema((schema) => {
    const changed = copyOf(schema, { name: name ?? schema.name, version: version ?? schema.version });
    return copyOfFields(schema, changed, withDefault);
  });
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null && schema === null) return record;
      if (schema === null) throw new DataError('Schema required for [updating schema metadata]');
      // Connect 4.3 reads the fields of every schema, so it accepts only structs.
      requireStructSchema(schema);
      const rule = mapping(schema);
      return part.replaced(record, rule.schema, value instanceof Struct ? mappedStruct(value, rule) : value);
    },
    [PLAN]: (plan) => planFields(plan, part, mapping),
  };
});
