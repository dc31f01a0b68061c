import { SLUICE_VERSION } from '../version.ts';
import { ANSWER_SCHEMAS, ref, type JsonSchema } from './answer-schemas.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { answer, type Resource } from './resource.ts';

/** A route as the router has it: `/connectors/:connector`. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** Beyond Connect: the OpenAPI 3.1 description of the routes that this listener answers. */
export const openApiResource: Resource = (router) => {
  let description: unknown;
  router.get('/openapi.json', (context) => {
    description ??= openApi(
      router.stack.flatMap(({ methods, path }) =>
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
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice management API',
      version: SLUICE_VERSION,
      description: "Kafka Connect's REST API, and what Sluice adds to it.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{}, { basic: [] }],
    paths,
    components: { schemas: ANSWER_SCHEMAS, securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };
}

function describe(operation: Operation, path: string, method: string): JsonSchema {
  const { summary, tag, query = {}, body, answers } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'task' ? { type: 'integer', minimum: 0 } : { type: 'string', minLength: 1 },
  }));
  const inQuery = Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...parameter }));
  return {
    summary,
    operationId: operationId(method, path),
    tags: [tag],
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, form]) => [status, response(form)])),
      default: { description: 'An error', content: { 'application/json': { schema: ref('ErrorMessage') } } },
    },
  };
}

function response(form: JsonSchema | string | null): JsonSchema {
  if (form === null) return { description: 'Done; the answer has no body' };
  if (typeof form === 'string') return { description: 'Text', content: { [form]: { schema: { type: 'string' } } } };
  return { description: 'Done', content: { 'application/json': { schema: form } } };
}

/** `GET /connectors/:connector/status` -> `getConnectorsConnectorStatus`. */
function operationId(method: string, path: string): string {
  const words = path.split(/\W+/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
