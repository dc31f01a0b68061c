import { declareOptions, type Validator } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import { Schema } from '../data/schema.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { DataError, toError } from '../errors.ts';
import { castSpec, type CastType } from './cast-spec.ts';
import { castFor, castValue } from './cast-value.ts';
import { partTransformation, PAIRS_TEXT, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct } from './requirements.ts';
import { basicsOf, fieldAt, rememberedBySchema, structSchema, withDefault } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';

const PURPOSE = 'cast types';

const validSpec: Validator = {
  text: PAIRS_TEXT,
  check(_name, value) {
    try {
      castSpec(value as readonly string[] | null);
      return undefined;
    } catch (error) {
      return { message: toError(error).message };
    }
  },
};

const options = declareOptions({
  spec: {
    type: 'LIST',
    importance: 'HIGH',
    documentation:
      'Fields and their new types, `field:type,…`, or one type for the whole key or value: int8, int16, int32, int64, float32, float64, boolean, string. Bytes become a string only (base64).',
    validator: validSpec,
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Changes the type of fields at the top, or of the whole key or value, by Java's rules for numbers. */
export const cast = partTransformation('Cast', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const replaceNull = parsed['replace.null.with.default'];
  const { whole, fields } = castSpec(parsed.spec);

  const wholeSchema = rememberedBySchema((schema) => castSchema(schema, whole ?? 'string', basicsOf(schema)));

  const structWithCasts = rememberedBySchema((schema) => {
    if (schema.type !== 'struct') throw new DataError('Cannot list fields on non-struct type');
    const cells = schema.fields.map((field) => {
      const type = fields.get(field.name);
      return { name: field.name, schema: type === undefined ? field.schema : castSchema(field.schema, type, {}) };
    });
    const casted = structSchema(cells, { ...basicsOf(schema), optional: schema.optional });
    const byDefault = (schema.defaultValue ?? null) as ConnectValue;
    // A struct cannot be cast, and so neither can a default that is one: Connect refuses such schemas.
    return byDefault === null ? casted : withDefault(casted, castValue(byDefault, schema, 'string'));
  });

  const inStruct = (struct: Struct, schema: Schema): Struct => {
    const values = struct.schema.fields.map((field, index) => {
      const value = cellOf(struct, field, replaceNull);
      const type = fields.get(field.name);
      return checkedCell(type === undefined ? value : castValue(value, field.schema, type), fieldAt(schema, index));
    });
    return new Struct(schema, values);
  };

  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null) return record;
      if (whole !== undefined) {
        const updated = schema === null ? null : wholeSchema(schema);
        return part.replaced(record, updated, castValue(value, schema, whole));
      }
      if (schema === null) {
        const map = requireMap(value, PURPOSE);
        const updated = new Map<ConnectValue, ConnectValue>(map);
        for (const [name, type] of fields) updated.set(name, castValue(map.get(name) ?? null, null, type));
        return part.replaced(record, null, updated);
      }
      const casted = structWithCasts(schema);
      return part.replaced(record, casted, inStruct(requireStruct(value, schema, PURPOSE), casted));
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      if (struct === undefined || whole !== undefined) return false;
      const casted = structWithCasts(struct.schema);
      const places = struct.schema.fields.map((field, index) => {
        const { name, schema } = field;
        const place = plan.withDefault(placeOf(struct, field), schema, replaceNull);
        const type = fields.get(name);
        const cast = type === undefined ? place : plan.changedAsRead(place, castFor(schema, type));
        return plan.required(cast, fieldAt(casted, index).schema);
      });
      return part.replan(plan, casted, places);
    },
  };
});

/** A schema of another type, as optional as it was, with its default cast too. */
function castSchema(schema: Schema, type: CastType, basics: ConstructorParameters<typeof Schema>[1]): Schema {
  const casted = new Schema(type, { ...basics, optional: schema.optional });
  const byDefault = castValue((schema.defaultValue ?? null) as ConnectValue, schema, type);
  return byDefault === null ? casted : withDefault(casted, byDefault);
}
