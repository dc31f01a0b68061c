import {
  ANY_OBJECT,
  SLUICE_VERSION,
  componentsWithin,
  contentOf,
  openApiDocument,
  operationId,
  queryParameters,
  responsesOf,
  type JsonSchema,
} from '../../../src/index.ts';
import { jsonAnswer, PLAIN_FAILURE, type MethodRoute, type Route } from '../route.ts';
import { json } from './shared-schemas.ts';

/**
 * `GET /openapi.json`, which returns the OpenAPI 3.1 description of all routes, including its own. It needs no credentials, because
 * it contains nothing about the data.
 */
export function openApiRoute(routes: readonly Route[]): MethodRoute {
  let description: string | undefined;
  const own: MethodRoute = {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    tag: 'API',
    answers: { 200: json(ANY_OBJECT) },
    access: 'anyone',
    handle: async () => {
      description ??= JSON.stringify(openApi([...routes, own]));
      return { ...jsonAnswer(200, {}), body: description };
    },
  };
  return own;
}

function openApi(routes: readonly Route[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    if ('prefix' in route) continue;
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describe(route) };
  }
  return openApiDocument({
    title: 'Sluice database HTTP API',
    version: SLUICE_VERSION,
    description: 'SQL and rows over HTTP, and the paths under which clients of other databases write.',
    security: [{ basic: [] }],
    paths,
    schemas: componentsWithin([PLAIN_FAILURE, ...routes]),
  });
}

function describe({
  method,
  path,
  summary,
  tag,
  query = {},
  body,
  answers,
  failure = PLAIN_FAILURE,
  access,
}: MethodRoute): JsonSchema {
  // A failure has the plain form if the route is unknown or if there are too many connections.
  const failures = new Set([failure.schema, PLAIN_FAILURE.schema]);
  return {
    summary,
    operationId: operationId(method, path),
    tags: [tag],
    parameters: queryParameters(query),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(body) } }),
    responses: {
      ...responsesOf(answers),
      default: {
        description: 'The request cannot be served',
        content: contentOf({ 'application/json': { anyOf: [...failures] } }),
      },
    },
    ...(access === 'anyone' ? { security: [] } : {}),
  };
}
