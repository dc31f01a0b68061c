import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, type PlannableTransformation } from '../connect/pipeline/struct-plan.ts';
import { Schema } from '../data/schema.ts';
import type { ConnectValue } from '../data/value.ts';
import { castSpec, type CastType } from './cast-spec.ts';
import { castFor, castValue } from './cast-value.ts';
import { changedMap, fieldTransformation, type StructMapping } from './field-transformation.ts';
import { partTransformation, pairsValidator, replaceNullWithDefault, type RecordPart } from './plugin-declaration.ts';
import { requireStructSchema } from './requirements.ts';
import { basicsOf, rememberedBySchema, structSchema, withDefault } from './schema-building.ts';

const PURPOSE = 'cast types';

const options = declareOptions({
  spec: {
    type: 'LIST',
    importance: 'HIGH',
    documentation:
      'Fields and their new types, `field:type,…`, or one type for the whole key or value: int8, int16, int32, int64, float32, float64, boolean, string. Decimals can become any of these types; other bytes can only become a string (base64).',
    validator: pairsValidator(castSpec),
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Changes the type of top-level fields, or of the whole key or value, by Java's rules for numbers. */
export const cast = partTransformation('Cast', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const replaceNull = parsed['replace.null.with.default'];
  const { whole, fields } = castSpec(parsed.spec);
  if (whole !== undefined) return wholeCast(part, whole);

  const mapping = rememberedBySchema((schema): StructMapping => {
    requireStructSchema(schema);
    const cells = schema.fields.map((from) => {
      const type = fields.get(from.name);
      const kept = { from, withDefault: replaceNull, schema: from.schema };
      if (type === undefined) return kept;
      return { ...kept, change: castFor(from.schema, type), schema: castSchema(from.schema, type, {}) };
    });
    const casted = structSchema(
      cells.map((cell) => ({ name: cell.from.name, schema: cell.schema })),
      { ...basicsOf(schema), optional: schema.optional },
    );
    const byDefault = (schema.defaultValue ?? null) as ConnectValue;
    // Connect rejects struct schemas that have a default. Here, the cast of the default throws the error.
    return {
      schema: byDefault === null ? casted : withDefault(casted, castValue(byDefault, schema, 'string')),
      fields: cells,
    };
  });

  const casts = [...fields].map(
    ([name, type]) => [name, (value: ConnectValue) => castValue(value, null, type)] as const,
  );
  const inFields = fieldTransformation(part, {
    purpose: PURPOSE,
    keepsNull: true,
    inMap: (map) => changedMap(map, casts),
    mapping,
  });
  return {
    ...inFields,
    apply(record) {
      const schema = part.schema(record);
      // Connect creates the new schema before it checks the value, so an error of the schema is reported first.
      if (schema !== null && part.value(record) !== null) mapping(schema);
      return inFields.apply(record);
    },
  };
});

/** Casts the whole key or value. */
function wholeCast(part: RecordPart, type: CastType): PlannableTransformation {
  const casted = rememberedBySchema((schema) => castSchema(schema, type, basicsOf(schema)));
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null) return record;
      const updated = schema === null ? null : casted(schema);
      return part.replaced(record, updated, castValue(value, schema, type));
    },
    [PLAN]: () => false,
  };
}

/** A schema of another type. It is optional if the original is, and its default is also cast. */
function castSchema(schema: Schema, type: CastType, basics: ConstructorParameters<typeof Schema>[1]): Schema {
  const casted = new Schema(type, { ...basics, optional: schema.optional });
  const byDefault = castValue((schema.defaultValue ?? null) as ConnectValue, schema, type);
  return byDefault === null ? casted : withDefault(casted, byDefault);
}
