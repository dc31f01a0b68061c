import type { Schema } from './schema.ts';

/** A schema in Connect's messages (ConnectSchema.toString): `Schema{INT32}`, `Schema{my.Name:STRUCT}`. */
export function schemaText(schema: Schema | null): string {
  if (schema === null) return 'null';
  const type = schema.type.toUpperCase();
  return `Schema{${schema.name === undefined ? type : `${schema.name}:${type}`}}`;
}
