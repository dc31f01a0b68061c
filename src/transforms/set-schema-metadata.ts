import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { ConfigError, DataError } from '../errors.ts';
import { partTransformation, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { copyOf, rememberedBySchema } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';

const options = declareOptions({
  'schema.name': { type: 'STRING', default: null, importance: 'HIGH', documentation: 'New name of the schema.' },
  'schema.version': { type: 'INT', default: null, importance: 'HIGH', documentation: 'New version of the schema.' },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Gives the struct schema of the key or value another name or version. */
export const setSchemaMetadata = partTransformation('SetSchemaMetadata', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const name = parsed['schema.name'];
  const version = parsed['schema.version'];
  const withDefault = parsed['replace.null.with.default'];
  if (name === null && version === null) throw new ConfigError('Neither schema name nor version configured');
  const changed = rememberedBySchema((schema) =>
    copyOf(schema, { name: name ?? schema.name, version: version ?? schema.version }),
  );
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null && schema === null) return record;
      if (schema === null) throw new DataError('Schema required for [updating schema metadata]');
      // Connect 4.3 asks every schema for its fields, so that only structs get through.
      if (schema.type !== 'struct') throw new DataError('Cannot list fields on non-struct type');
      const updated = changed(schema);
      const moved: ConnectValue =
        value instanceof Struct
          ? new Struct(
              updated,
              updated.fields.map((field) => checkedCell(cellOf(value, field, withDefault), field)),
            )
          : value;
      return part.replaced(record, updated, moved);
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      return struct !== undefined && part.replan(plan, changed(struct.schema), plan.stored(struct, withDefault));
    },
  };
});
