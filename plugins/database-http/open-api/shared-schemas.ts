import {
  component,
  objectOf,
  TEXT,
  withKeywords,
  type JsonSchema,
  type QueryParameter,
  type Typed,
} from '../../../src/index.ts';

/** Content of type JSON that has one of these schemas. */
export function json(...schemas: readonly JsonSchema[]): Readonly<Record<string, JsonSchema>> {
  const [only] = schemas;
  return { 'application/json': only !== undefined && schemas.length === 1 ? only : { anyOf: schemas } };
}

/** Content of type text. */
export function plainText(example: string): Readonly<Record<string, JsonSchema>> {
  return { 'text/plain': withKeywords(TEXT, { examples: [example] }) };
}

export const DATABASE: QueryParameter = {
  description: 'The database; without it, `database.http.default.database`',
  schema: TEXT,
};

/** An object with a version and further strings about it. */
const NAMED_VERSION: Typed<Readonly<Record<string, string>> & { readonly version: string }> = {
  ...objectOf({ version: TEXT }),
  additionalProperties: TEXT,
};
export const VERSION = component('Version', NAMED_VERSION);
