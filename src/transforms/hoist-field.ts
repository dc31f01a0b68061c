import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { Struct } from '../data/value.ts';
import { partTransformation } from './plugin-declaration.ts';
import { fieldAt, rememberedBySchema, structSchema } from './schema-building.ts';
import { checkedCell } from './struct-cells.ts';

const options = declareOptions({
  field: {
    type: 'STRING',
    importance: 'MEDIUM',
    documentation: 'Name of the only field of the resulting struct or map.',
  },
});

/** Puts the whole key or value into the only field of a new struct, or of a map if there is no schema. */
export const hoistField = partTransformation('HoistField', options, (config, part) => {
  const { field: name } = parseOptions(options, config, { errors: 'first' });
  const hoisted = rememberedBySchema((schema) => structSchema([{ name, schema }]));
  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (schema === null) return part.replaced(record, null, new Map([[name, value]]));
      const updated = hoisted(schema);
      return part.replaced(record, updated, new Struct(updated, [checkedCell(value, fieldAt(updated, 0))]));
    },
    [PLAN](plan) {
      const planned = part.planned(plan);
      if (planned === undefined) return false;
      const { schema, places } = planned;
      const whole = schema.type === 'struct' ? [plan.struct(planned)] : places;
      return part.replan(
        plan,
        hoisted(schema),
        whole.map((place) => plan.required(place, schema)),
      );
    },
  };
});
