/** JSON Schema 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Bodies by content type; `null` is an answer without a body. */
export type Content = Readonly<Record<string, JsonSchema>> | null;

export interface QueryParameter {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** OpenAPI's `security`: by which of the schemes clients may authenticate; `basic` is declared. */
  readonly security: readonly JsonSchema[];
  /** Operations by method in lower case, by path. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  /** The schemas that `$ref` names, as `#/components/schemas/NAME`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

export function arrayOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

/** An object with exactly these properties; those whose names end with `?` may be absent. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    additionalProperties: false,
  };
}

/** OpenAPI's `content`. */
export function contentOf(schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));
}

/** OpenAPI's `responses`, by status. */
export function responsesOf(answers: Readonly<Record<number, Content>>): JsonSchema {
  const response = (status: string, content: Content): JsonSchema =>
    content === null
      ? { description: 'Done; the answer has no body' }
      : { description: Number(status) < 300 ? 'Done' : 'It failed', content: contentOf(content) };
  return Object.fromEntries(Object.entries(answers).map(([status, content]) => [status, response(status, content)]));
}

/** OpenAPI's parameters of the query. */
export function queryParameters(query: Readonly<Record<string, QueryParameter>>): readonly JsonSchema[] {
  return Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...parameter }));
}

/** `GET /connectors/:connector/status` -> `getConnectorsConnectorStatus`. */
export function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/** The document of OpenAPI 3.1. */
export function openApiDocument({ title, version, description, security, paths, schemas }: ApiDescription): JsonSchema {
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    security,
    paths,
    components: { schemas, securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };
}
