import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, placeOf } from '../connect/pipeline/struct-plan.ts';
import { oneOf } from '../config/validators.ts';
import type { Header } from '../data/record.ts';
import { schemaText } from '../data/schema.ts';
import type { ConnectValue, Struct } from '../data/value.ts';
import { ConfigError, DataError } from '../errors.ts';
import { mappedStruct, planFields, type StructMapping } from './field-transformation.ts';
import { recordError, requireMap, requireStruct } from './requirements.ts';
import { partTransformation, nonEmptyList, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { basicsOf, rememberedBySchema, structSchema } from './schema-building.ts';
import { cellOf } from './struct-cells.ts';

const options = declareOptions({
  fields: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Fields of the key or value that become headers.',
    validator: nonEmptyList,
  },
  headers: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Names of the headers, as many as `fields` and in the same order.',
    validator: nonEmptyList,
  },
  operation: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Whether the fields are kept (`copy`) or removed (`move`).',
    validator: oneOf('move', 'copy'),
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/** Copies or moves fields of the key or value to headers. */
export const headerFrom = partTransformation('HeaderFrom', options, (config, part) => {
  const { fields, headers: names, operation, ...parsed } = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const purpose = `header ${operation}`;
  const moved = new Set(operation === 'move' ? fields : []);
  if (names.length !== fields.length) {
    throw new ConfigError("'fields' config must have the same number of elements as 'headers' config.");
  }
  const pairs = fields.map((field, index) => ({ field, header: names[index] ?? field }));
  // The mapping is used only to move fields.
  const mapping = rememberedBySchema((from): StructMapping => {
    const kept = from.fields.filter(({ name }) => !moved.has(name));
    return { schema: structSchema(kept, basicsOf(from)), fields: kept.map((field) => ({ from: field, withDefault })) };
  });

  const headerOf = (struct: Struct, key: string, fieldName: string): Header => {
    const field = struct.schema.field(fieldName);
    if (field === undefined) throw recordError('java.lang.NullPointerException', `Field does not exist: ${fieldName}`);
    const value = cellOf(struct, field, withDefault);
    if (value === null && !field.schema.optional) {
      throw new DataError(`A null value requires an optional schema but was ${schemaText(field.schema)}`);
    }
    return { key, schema: field.schema, value };
  };

  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (schema === null) {
        const map = requireMap(value, purpose);
        const rest = new Map<ConnectValue, ConnectValue>(map);
        for (const name of moved) rest.delete(name);
        const added = pairs.map(({ field, header }) => ({ key: header, schema: null, value: map.get(field) ?? null }));
        return { ...part.replaced(record, null, rest), headers: [...record.headers, ...added] };
      }
      const struct = requireStruct(value, schema, purpose);
      const rest = operation === 'move' ? mappedStruct(struct, mapping(struct.schema)) : struct;
      const added = pairs.map(({ field, header }) => headerOf(struct, header, field));
      const updated = part.replaced(record, operation === 'move' ? rest.schema : schema, rest);
      return { ...updated, headers: [...record.headers, ...added] };
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      if (struct === undefined) return false;
      for (const { field: name, header } of pairs) {
        const field = struct.schema.field(name);
        if (field === undefined) return false;
        const place = plan.withDefault(placeOf(struct, field), field.schema, withDefault);
        plan.addHeader(header, field.schema, plan.required(place, field.schema));
      }
      return operation === 'copy' || planFields(plan, part, mapping);
    },
  };
});
