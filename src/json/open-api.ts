/** JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Bodies by content type; `null` for a response without a body. */
export type Content = Readonly<Record<string, JsonSchema>> | null;

export interface QueryParameter {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** OpenAPI's `security`: the schemes by which clients may authenticate. The document only declares the scheme `basic`. */
  readonly security: readonly JsonSchema[];
  /** Operations by path and by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  /** The schemas that `$ref` refers to, as `#/components/schemas/NAME`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** A schema with the TypeScript type of its values: `ShapeOf<typeof SCHEMA>`. The marker only exists for the compiler. */
export type Typed<T> = JsonSchema & { readonly [SHAPE]?: T };
declare const SHAPE: unique symbol;

/** The type of the values that a schema describes. */
export type ShapeOf<S> = S extends { readonly [SHAPE]?: infer T } ? T : never;

type Properties = Readonly<Record<string, Typed<unknown>>>;
/** Keys that end with `?` are optional; JSON omits properties that are undefined. */
type ObjectShape<P extends Properties> = {
  readonly [K in keyof P & string as K extends `${string}?` ? never : K]: ShapeOf<P[K]>;
} & {
  readonly [K in keyof P & string as K extends `${infer Name}?` ? Name : never]?: ShapeOf<P[K]> | undefined;
};

export const TEXT: Typed<string> = { type: 'string' };
export const INTEGER: Typed<number> = { type: 'integer' };
/** A non-negative integer. */
export const COUNT: Typed<number> = { type: 'integer', minimum: 0 };
export const NUMBER: Typed<number> = { type: 'number' };
export const BOOLEAN: Typed<boolean> = { type: 'boolean' };
export const ANY_OBJECT: Typed<Readonly<Record<string, unknown>>> = { type: 'object' };
export const ANY: Typed<unknown> = {};
export const NULL: Typed<null> = { type: 'null' };

/** Returns a schema for one of these values. */
export function literalOf<const T extends readonly (string | number | boolean)[]>(...values: T): Typed<T[number]> {
  return { enum: values };
}

/** Returns a schema for one of these texts. */
export function enumOf<const T extends readonly string[]>(values: T): Typed<T[number]> {
  return { type: 'string', enum: values };
}

export function arrayOf<T>(items: Typed<T>): Typed<readonly T[]> {
  return { type: 'array', items };
}

/** Returns the schema of an array with a maximum number of items. */
export function limited<T>(items: Typed<readonly T[]>, maxItems: number): Typed<readonly T[]> {
  return { ...items, maxItems };
}

export function mapOf<T>(values: Typed<T>): Typed<Readonly<Record<string, T>>> {
  return { type: 'object', additionalProperties: values };
}

export function nullable<T>(schema: Typed<T>): Typed<T | null> {
  const { type, enum: values } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}

export function anyOf<T extends readonly Typed<unknown>[]>(...schemas: T): Typed<ShapeOf<T[number]>> {
  return { anyOf: schemas };
}

export function described<T>(schema: Typed<T>, description: string): Typed<T> {
  return { ...schema, description };
}

/** Returns the schema with further keywords, which restrict or explain values of the same type. */
export function withKeywords<T>(schema: Typed<T>, keywords: JsonSchema): Typed<T> {
  return { ...schema, ...keywords };
}

export function integerBetween(minimum: number, maximum: number): Typed<number> {
  return { type: 'integer', minimum, maximum };
}

/** Returns a schema for objects with exactly these properties; those whose names end with `?` may be absent. */
export function objectOf<P extends Properties>(properties: P): Typed<ObjectShape<P>> {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    additionalProperties: false,
  };
}

/** Returns the schema with additional properties allowed. */
export function withMore<T>(schema: Typed<T>): Typed<T> {
  return { ...schema, additionalProperties: true };
}

const components = new WeakMap<object, { readonly name: string; readonly schema: JsonSchema }>();

/** Names a schema. The result is a reference to it, which documents use wherever the schema occurs. */
export function component<T>(name: string, schema: Typed<T>): Typed<T> {
  const reference = { $ref: `#/components/schemas/${name}` };
  components.set(reference, { name, schema });
  return reference;
}

/** Returns the schemas to which `value` refers, directly or through other schemas. */
export function componentsWithin(
  value: unknown,
  found: Record<string, JsonSchema> = {},
): Readonly<Record<string, JsonSchema>> {
  if (typeof value !== 'object' || value === null) return found;
  const named = components.get(value);
  if (named === undefined) {
    for (const each of Object.values(value)) componentsWithin(each, found);
  } else if (!(named.name in found)) {
    found[named.name] = named.schema;
    componentsWithin(named.schema, found);
  }
  return found;
}

/** Returns OpenAPI's `content`. */
export function contentOf(schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));
}

/** Returns OpenAPI's `responses`, by status. */
export function responsesOf(responses: Readonly<Record<number, Content>>): JsonSchema {
  const response = (status: string, content: Content): JsonSchema =>
    content === null
      ? { description: 'Success, without a body' }
      : { description: Number(status) < 300 ? 'Success' : 'Error', content: contentOf(content) };
  return Object.fromEntries(Object.entries(responses).map(([status, content]) => [status, response(status, content)]));
}

/** Returns OpenAPI's parameters of the query. */
export function queryParameters(query: Readonly<Record<string, QueryParameter>>): readonly JsonSchema[] {
  return Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...parameter }));
}

/** `GET /connectors/:connector/status` -> `getConnectorsConnectorStatus`. */
export function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** Returns the OpenAPI 3.1 document. */
export function openApiDocument({ title, version, description, security, paths, schemas }: ApiDescription): JsonSchema {
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    security,
    paths,
    components: { schemas, securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };
}
