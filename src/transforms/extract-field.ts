import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import { illegalArgument, requireMap, requireStruct } from './requirements.ts';
import { FieldPath } from './field-path.ts';
import { partTransformation, fieldSyntaxVersion, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { rememberedBySchema } from './schema-building.ts';

const PURPOSE = 'field extraction';

const options = declareOptions({
  field: {
    type: 'STRING',
    importance: 'MEDIUM',
    documentation: 'The field that becomes the whole key or value.',
  },
  'replace.null.with.default': replaceNullWithDefault,
  'field.syntax.version': fieldSyntaxVersion,
});

/** Replaces a struct or map with the value of one of its fields; null stays null. */
export const extractField = partTransformation('ExtractField', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const path = new FieldPath(parsed.field, parsed['field.syntax.version'].toUpperCase() === 'V2' ? 'V2' : 'V1');
  const fieldSchema = rememberedBySchema((schema) => {
    const field = path.fieldOf(schema);
    if (field === undefined) throw illegalArgument(`Unknown field: ${parsed.field}`);
    return field.schema;
  });
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (schema === null) {
        return part.replaced(record, null, value === null ? null : path.inMap(requireMap(value, PURPOSE)));
      }
      const struct = value === null ? null : requireStruct(value, schema, PURPOSE);
      const found = fieldSchema(schema);
      return part.replaced(record, found, struct === null ? null : path.inStruct(struct, withDefault));
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      const field = path.isNested ? undefined : struct?.schema.field(path.last);
      if (struct === undefined || field === undefined) return false;
      const place = plan.withDefault(placeOf(struct, field), field.schema, withDefault);
      const places = field.schema.type === 'struct' ? plan.opened(place, field.schema) : [place];
      return part.replan(plan, field.schema, places);
    },
  };
});
