import { Schema, Struct, type ConnectRecord } from '../../../src/index.ts';

/** A change event of Debezium: a struct whose schema name ends with `.Envelope`. */
export function changeEvent({ valueSchema, value }: ConnectRecord): Struct | undefined {
  if (!(value instanceof Struct) || valueSchema?.name?.endsWith('.Envelope') !== true) return undefined;
  return value;
}

export function structField(event: Struct, name: string): Struct | null {
  const value = event.schema.field(name) === undefined ? null : event.get(name);
  return value instanceof Struct ? value : null;
}

/** Keeps what is made from a schema for as long as the schema is used. */
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

/** The same schema with other options. */
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
