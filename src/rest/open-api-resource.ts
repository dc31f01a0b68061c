import { SLUICE_VERSION } from '../version.ts';
import {
  openApiDocument,
  operationId,
  queryParameters,
  responsesOf,
  type Content,
  type JsonSchema,
} from '../json/open-api.ts';
import { ANSWER_SCHEMAS, ref } from './answer-schemas.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { answer, type Resource } from './resource.ts';

/** A route as the router has it: `/connectors/:connector`. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** What the console asks is its own matter, and changes with it. */
const CONSOLE = /^\/ui(?:\/|$)/;

/** Beyond Connect: the OpenAPI 3.1 description of the routes that this listener answers. */
export const openApiResource: Resource = (router) => {
  let description: unknown;
  router.get('/openapi.json', (context) => {
    description ??= openApi(
      router.stack
        .filter(({ path }) => !CONSOLE.test(String(path)))
        .flatMap(({ methods, path }) =>
          methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path: String(path) })),
        ),
    );
    answer(context, 200, description);
  });
};

/**
 * The description of these routes. Throws an Error for one that OPERATIONS does not name.
 * @internal
 */
export function openApi(routes: readonly Route[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const { method, path } of routes) {
    const operation = OPERATIONS[`${method} ${path}`];
    if (operation === undefined) throw new Error(`${method} ${path} is not described in operations.ts`);
    const template = path.replace(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method.toLowerCase()]: describe(operation, path, method) };
  }
  return openApiDocument({
    title: 'Sluice management API',
    version: SLUICE_VERSION,
    description: "Kafka Connect's REST API, and what Sluice adds to it.",
    security: [{}, { basic: [] }],
    paths,
    schemas: ANSWER_SCHEMAS,
  });
}

function describe(operation: Operation, path: string, method: string): JsonSchema {
  const { summary, tag, query = {}, body, answers } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'task' ? { type: 'integer', minimum: 0 } : { type: 'string', minLength: 1 },
  }));
  return {
    summary,
    operationId: operationId(method, path),
    tags: [tag],
    parameters: [...inPath, ...queryParameters(query)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...responsesOf(
        Object.fromEntries(Object.entries(answers).map(([status, form]) => [status, contentOfForm(form)])),
      ),
      default: { description: 'An error', content: { 'application/json': { schema: ref('ErrorMessage') } } },
    },
  };
}

function contentOfForm(form: JsonSchema | string | null): Content {
  if (form === null) return null;
  return typeof form === 'string' ? { [form]: { type: 'string' } } : { 'application/json': form };
}
