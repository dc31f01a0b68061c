import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { javaClassOf } from '../data/java-class.ts';
import type { Schema } from '../data/schema.ts';
import type { Field } from '../data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { fieldTransformation, type MappedField, type StructMapping } from './field-transformation.ts';
import { partTransformation } from './plugin-declaration.ts';
import { requireTextKey, type ConnectMap } from './requirements.ts';
import { basicsOf, copyOf, fieldAt, rememberedBySchema, structSchema, withDefault } from './schema-building.ts';
import { cellOf, checkedCell } from './struct-cells.ts';

const options = declareOptions({
  delimiter: {
    type: 'STRING',
    default: '.',
    importance: 'MEDIUM',
    documentation: 'Separator between the parts of a flattened field name.',
  },
});

/** A field of the flattened schema, with the path to its value: the enclosing structs from the top, then the original field. */
interface Leaf {
  readonly name: string;
  readonly schema: Schema;
  readonly parents: readonly Field[];
  readonly field: Field;
}

/** Limit for the total length of the names in one record. A long delimiter between nested fields could exhaust the memory. */
const MAX_NAME_CHARACTERS = 16 * 1024 * 1024;

/** Flattens nested structs or maps to one level; arrays are not changed. */
export const flatten = partTransformation('Flatten', options, (config, part) => {
  const { delimiter } = parseOptions(options, config, { errors: 'first' });
  let left = MAX_NAME_CHARACTERS;
  const nameBelow = (prefix: string, name: string): string => {
    const joined = prefix === '' ? name : `${prefix}${delimiter}${name}`;
    left -= joined.length;
    if (left < 0)
      throw new DataError(`The names of the flattened fields have more than ${String(MAX_NAME_CHARACTERS)} characters`);
    return joined;
  };

  const flattenMap = (map: ConnectMap, prefix: string, flat: Map<ConnectValue, ConnectValue>): void => {
    for (const [key, value] of map) {
      const text = requireTextKey(key);
      const name = nameBelow(prefix, String(text));
      if (value instanceof Map) flattenMap(value as ConnectMap, name, flat);
      else flat.set(text === null && prefix === '' ? null : name, schemalessLeaf(value, name));
    }
  };

  const mapping = rememberedBySchema((from): StructMapping => {
    left = MAX_NAME_CHARACTERS;
    const top = from.defaultValue instanceof Struct ? from.defaultValue : undefined;
    const leaves = [...leavesOf(from, '', [], from.optional, top, nameBelow)];
    const schema = structSchema(leaves, basicsOf(from));
    return { schema, fields: leaves.map((leaf, index) => mappedLeaf(leaf, fieldAt(schema, index))) };
  });

  return fieldTransformation(part, {
    purpose: 'flattening',
    keepsNull: true,
    inMap(map) {
      const flat = new Map<ConnectValue, ConnectValue>();
      left = MAX_NAME_CHARACTERS;
      flattenMap(map, '', flat);
      return flat;
    },
    mapping,
  });
});

/**
 * If a struct on the path is null, the value is null, and null is accepted even if the field is required. Otherwise a null is
 * read as the field's default.
 */
function mappedLeaf({ parents: [top, ...parents], field }: Leaf, to: Field): MappedField {
  if (top === undefined) return { from: field, withDefault: true };
  return {
    from: top,
    withDefault: false,
    change(value) {
      let holder: Struct | null = value as Struct;
      for (const { index } of parents) holder = (holder?.values[index] ?? null) as Struct | null;
      return holder === null ? null : checkedCell(cellOf(holder, field, true), to);
    },
    allowsNull: true,
  };
}

function schemalessLeaf(value: ConnectValue, name: string): ConnectValue {
  if (value instanceof Date || value instanceof Decimal) {
    throw new DataError(
      `Flatten transformation was passed a value of type class ${javaClassOf(value)} which is not supported by Connect's data API`,
    );
  }
  if (value instanceof Struct) {
    throw new DataError(
      `Flatten transformation does not support class ${javaClassOf(value)} for record without schemas (for field ${name}).`,
    );
  }
  return value;
}

/**
 * Yields the fields of the flattened schema. A field is optional if it or an enclosing struct is optional. Its default is its own
 * default, or otherwise its value in the default of an enclosing struct.
 */
function* leavesOf(
  schema: Schema,
  prefix: string,
  parents: readonly Field[],
  optional: boolean,
  defaults: Struct | undefined,
  nameBelow: (prefix: string, name: string) => string,
): Generator<Leaf> {
  for (const field of schema.fields) {
    const name = nameBelow(prefix, field.name);
    const isOptional = optional || field.schema.optional;
    const byDefault = (field.schema.defaultValue ??
      (defaults === undefined ? null : cellOf(defaults, field, true))) as ConnectValue;
    if (field.schema.type === 'struct') {
      const below = byDefault instanceof Struct ? byDefault : undefined;
      yield* leavesOf(field.schema, name, [...parents, field], isOptional, below, nameBelow);
    } else if (field.schema.type === 'map') {
      throw new DataError(`Flatten transformation does not support MAP for record with schemas (for field ${name}).`);
    } else {
      const bare = copyOf(field.schema, { optional: isOptional, defaultValue: undefined });
      yield { name, schema: byDefault === null ? bare : withDefault(bare, byDefault), parents, field };
    }
  }
}
