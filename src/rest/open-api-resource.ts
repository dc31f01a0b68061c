import { SLUICE_VERSION } from '../version.ts';
import {
  componentsWithin,
  openApiDocument,
  operationId,
  queryParameters,
  responsesOf,
  type Content,
  type JsonSchema,
} from '../json/open-api.ts';
import { ERROR_MESSAGE } from './answers.ts';
import { answer, type DescribedRoute, type Operation, type Route } from './resource.ts';

/**
 * The OpenAPI 3.1 description of the routes that a listener answers, except those that only the console uses. Kafka
 * Connect does not have such a description.
 */
export function openApiResource(routes: readonly Route[]): DescribedRoute {
  let description: unknown;
  const own: DescribedRoute = {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    tag: 'worker',
    answers: { 200: { type: 'object' } },
    handle: (context) => {
      description ??= openApi([...routes, own]);
      answer(context, 200, description);
    },
  };
  return own;
}

/**
 * The description of these routes. If two have the same method and path, the first is described, because it answers.
 * @internal
 */
export function openApi(routes: readonly Route[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    if (!('summary' in route)) continue;
    const { path, method } = route;
    const template = path.replace(/:(\w+)/g, '{$1}');
    paths[template] = { [method.toLowerCase()]: describe(route, path, method), ...paths[template] };
  }
  return openApiDocument({
    title: 'Sluice management API',
    version: SLUICE_VERSION,
    description: "Kafka Connect's REST API, and what Sluice adds to it.",
    security: [{}, { basic: [] }],
    paths,
    schemas: componentsWithin([...routes, ERROR_MESSAGE]),
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
      default: { description: 'An error', content: { 'application/json': { schema: ERROR_MESSAGE } } },
    },
  };
}

function contentOfForm(form: JsonSchema | string | null): Content {
  if (form === null) return null;
  return typeof form === 'string' ? { [form]: { type: 'string' } } : { 'application/json': form };
}
