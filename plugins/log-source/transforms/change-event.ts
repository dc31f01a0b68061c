import { Schema, Struct, type ConnectRecord } from '../../../src/index.ts';

/** Returns the value if it is a change event of Debezium, which is a struct whose schema name ends with `.Envelope`. */
export function changeEvent({ valueSchema, value }: ConnectRecord): Struct | undefined {
  return value instanceof Struct && valueSchema !== null && isEventSchema(valueSchema) ? value : undefined;
}

export function isEventSchema({ name }: Schema): boolean {
  return name?.endsWith('.Envelope') === true;
}

export function structField(event: Struct, name: string): Struct | null {
  const value = event.schema.field(name) === undefined ? null : event.get(name);
  return value instanceof Struct ? value : null;
}

/** Caches the result of `make` for each schema, as long as the schema is in use. */
export function rememberedFor<T>(make: (schema: Schema) => T): (schema: Schema) => T {
  const made = new WeakMap<Schema, T>();
  return (schema) => {
    const known = made.get(schema);
    if (known !== undefined) return known;
    const value = make(schema);
    made.set(schema, value);
    return value;
  };
}

/** Maximum number of names for which results are cached per schema. */
const MAX_NAMES = 1_000;

/** Caches the result of `make` for each schema and name. */
export function rememberedByName(make: (schema: Schema, name: string) => Schema): typeof make {
  const madeFor = rememberedFor(() => new Map<string, Schema>());
  return (schema, name) => {
    const made = madeFor(schema);
    const known = made.get(name);
    if (known !== undefined) return known;
    if (made.size >= MAX_NAMES) made.clear();
    const value = make(schema, name);
    made.set(name, value);
    return value;
  };
}

/** Copies a schema, with another name, optionality or fields. */
export function withOptions(
  schema: Schema,
  options: { readonly name?: string | undefined; readonly optional?: boolean },
  fields: readonly { readonly name: string; readonly schema: Schema }[] = schema.fields,
): Schema {
  const { type, version, doc, parameters, defaultValue, keySchema, valueSchema } = schema;
  const parts = { fields, ...(keySchema && { keySchema }), ...(valueSchema && { valueSchema }) };
  const { name = schema.name, optional = schema.optional } = options;
  return new Schema(type, { name, optional, version, doc, parameters, defaultValue }, parts);
}
