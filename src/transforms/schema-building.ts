import { BoundedMap } from '../data/bounded-map.ts';
import { Schema, type Field, type SchemaOptions } from '../data/schema.ts';
import { valueMismatch } from '../data/validate-value.ts';
import type { ConnectValue } from '../data/value.ts';
import { DataError } from '../errors.ts';
import { schemaBuilderError } from './requirements.ts';

/** How many schemas a transformation remembers its work for, as Connect's do. */
const REMEMBERED_SCHEMAS = 16;

export interface NamedSchema {
  readonly name: string;
  readonly schema: Schema;
}

/** Name, version, documentation and parameters (SchemaUtil.copySchemaBasics): not whether it is optional, nor the default. */
export function basicsOf({ name, version, doc, parameters }: Schema): SchemaOptions {
  return { name, version, doc, parameters };
}

/** A struct schema as SchemaBuilder makes it: no field twice, none without a name. */
export function structSchema(fields: readonly NamedSchema[], options: SchemaOptions = {}): Schema {
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (name === '') throw schemaBuilderError('fieldName cannot be null.');
    if (seen.has(name)) throw schemaBuilderError(`Cannot create field because of field name duplication ${name}`);
    seen.add(name);
  }
  return Schema.struct(fields, options);
}

/** The schema with this default, refused when the default does not fit (SchemaBuilder.defaultValue). */
export function withDefault(schema: Schema, defaultValue: ConnectValue): Schema {
  const mismatch = valueMismatch(schema, defaultValue);
  if (mismatch !== undefined) throw schemaBuilderError('Invalid default value', new DataError(mismatch));
  return copyOf(schema, { defaultValue });
}

/** The schema with some of its options changed. */
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

/** `build` with a cache of its results for the latest schemas. */
export function rememberedBySchema<T>(build: (schema: Schema) => T): (schema: Schema) => T {
  const known = new BoundedMap<Schema, T>(REMEMBERED_SCHEMAS);
  let last: Schema | undefined;
  let lastResult: T | undefined;
  return (schema) => {
    if (schema === last) return lastResult as T;
    lastResult = known.getOrCreate(schema, () => build(schema));
    last = schema;
    return lastResult;
  };
}

/** The field of a schema that was made with it. */
export function fieldAt(schema: Schema, index: number): Field {
  const field = schema.fields[index];
  if (field === undefined) throw new RangeError(`no field ${String(index)}`);
  return field;
}
