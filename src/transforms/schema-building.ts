import { BoundedMap } from '../data/bounded-map.ts';
import { Schema, type Field, type SchemaOptions } from '../data/schema.ts';
import { valueMismatch } from '../data/validate-value.ts';
import type { ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { schemaBuilderError } from './requirements.ts';

/** Number of schemas for which a transformation caches its results, as in Connect. */
const MAX_CACHED_SCHEMAS = 16;

export interface NamedSchema {
  readonly name: string;
  readonly schema: Schema;
}

/** Name, version, documentation and parameters, but neither `optional` nor the default (SchemaUtil.copySchemaBasics). */
export function basicsOf({ name, version, doc, parameters }: Schema): SchemaOptions {
  return { name, version, doc, parameters };
}

/** Creates a struct schema. Throws a SchemaBuilderException if a field name is empty or occurs twice. */
export function structSchema(fields: readonly NamedSchema[], options: SchemaOptions = {}): Schema {
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (name === '') throw schemaBuilderError('fieldName cannot be null.');
    if (seen.has(name)) throw schemaBuilderError(`Cannot create field because of field name duplication ${name}`);
    seen.add(name);
  }
  return Schema.struct(fields, options);
}

/** A copy of the schema with this default (SchemaBuilder.defaultValue). Throws a SchemaBuilderException if it does not match. */
export function withDefault(schema: Schema, defaultValue: ConnectValue): Schema {
  const mismatch = valueMismatch(schema, defaultValue);
  if (mismatch !== undefined) throw schemaBuilderError('Invalid default value', new DataError(mismatch));
  return copyOf(schema, { defaultValue });
}

/** A copy of the schema with some of its options changed. */
export function copyOf(schema: Schema, changes: SchemaOptions): Schema {
  const { type, optional, defaultValue, fields, keySchema, valueSchema } = schema;
  return new Schema(
    type,
    { ...basicsOf(schema), optional, defaultValue, ...changes },
    {
      fields,
      ...(keySchema === undefined ? {} : { keySchema }),
      ...(valueSchema === undefined ? {} : { valueSchema }),
    },
  );
}

/** Returns `build` with a cache of its results for the most recent schemas. */
export function rememberedBySchema<T>(build: (schema: Schema) => T): (schema: Schema) => T {
  const known = new BoundedMap<Schema, T>(MAX_CACHED_SCHEMAS);
  let last: Schema | undefined;
  let lastResult: T | undefined;
  return (schema) => {
    if (schema === last) return lastResult as T;
    lastResult = known.getOrCreate(schema, () => build(schema));
    last = schema;
    return lastResult;
  };
}

/** The field at an index that must exist. */
export function fieldAt(schema: Schema, index: number): Field {
  const field = schema.fields[index];
  if (field === undefined) throw new RangeError(`no field ${String(index)}`);
  return field;
}
