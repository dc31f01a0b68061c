import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { distinctList } from '../config/validators.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { DataError } from '../errors.ts';
import { mappedPlaces, mappedStruct, type StructMapping } from './field-transformation.ts';
import { recordTransformation, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct } from './requirements.ts';
import { rememberedBySchema, structSchema } from './schema-building.ts';

const PURPOSE = 'copying fields from value to key';

const options = declareOptions({
  fields: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Fields of the value that make up the key.',
    validator: distinctList({ emptyAllowed: false }),
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Replaces the key with fields of the value. */
export const valueToKey = recordTransformation('ValueToKey', options, (config) => {
  const { fields, ...parsed } = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  // The fields of a key without a schema have the order of Java's map. Converters write them in this order, and the bytes
  // determine the partition.
  const mapOrder = javaHashMapOrder(fields, { capacity: fields.length });
  const mapping = rememberedBySchema((from): StructMapping => {
    const sources = fields.map((name) => {
      const field = from.field(name);
      if (field === undefined) throw new DataError(`Field does not exist: ${name}`);
      return field;
    });
    return { schema: structSchema(sources), fields: sources.map((field) => ({ from: field, withDefault })) };
  });
  return {
    apply(record) {
      const { valueSchema, value } = record;
      if (valueSchema === null) {
        const map = requireMap(value, PURPOSE);
        const key = new Map(mapOrder.map((name) => [name, map.get(name) ?? null]));
        return { ...record, keySchema: null, key };
      }
      const struct = requireStruct(value, valueSchema, PURPOSE);
      const key = mappedStruct(struct, mapping(struct.schema));
      return { ...record, keySchema: key.schema, key };
    },
    [PLAN](plan) {
      const { value } = plan;
      if (value.schema.type !== 'struct') return false;
      const rule = mapping(value.schema);
      plan.key = { schema: rule.schema, places: mappedPlaces(plan, value, rule) };
      return true;
    },
  };
});
