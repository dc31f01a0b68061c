import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import { distinctList } from '../config/validators.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { Struct } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { recordTransformation, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct } from './requirements.ts';
import { rememberedBySchema, structSchema } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';

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

/** Makes a new key of fields of the value. */
export const valueToKey = recordTransformation('ValueToKey', options, (config) => {
  const { fields, ...parsed } = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  // The order of Java's map: converters write it down, and partitions are chosen by the bytes.
  const mapOrder = javaHashMapOrder(fields, { capacity: fields.length });
  const keySchema = rememberedBySchema((schema) =>
    structSchema(
      fields.map((name) => {
        const field = schema.field(name);
        if (field === undefined) throw new DataError(`Field does not exist: ${name}`);
        return { name, schema: field.schema };
      }),
    ),
  );
  const keyStruct = (value: Struct): Struct => {
    const schema = keySchema(value.schema);
    const values = schema.fields.map((field) => {
      const source = value.schema.field(field.name) ?? field;
      return checkedCell(cellOf(value, source, withDefault), field);
    });
    return new Struct(schema, values);
  };
  return {
    apply(record) {
      const { valueSchema, value } = record;
      if (valueSchema === null) {
        const map = requireMap(value, PURPOSE);
        const key = new Map(mapOrder.map((name) => [name, map.get(name) ?? null]));
        return { ...record, keySchema: null, key };
      }
      const key = keyStruct(requireStruct(value, valueSchema, PURPOSE));
      return { ...record, keySchema: key.schema, key };
    },
    [PLAN](plan) {
      const { value } = plan;
      if (value.schema.type !== 'struct') return false;
      const schema = keySchema(value.schema);
      const places = schema.fields.map((field) => {
        const place = placeOf(value, value.schema.field(field.name) ?? field);
        return plan.required(plan.withDefault(place, field.schema, withDefault), field.schema);
      });
      plan.key = { schema, places };
      return true;
    },
  };
});
