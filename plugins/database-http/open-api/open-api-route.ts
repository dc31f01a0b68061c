import {
  SLUICE_VERSION,
  contentOf,
  openApiDocument,
  operationId,
  queryParameters,
  responsesOf,
  type JsonSchema,
} from '../../../src/index.ts';
import { jsonAnswer, type Route } from '../route.ts';
import { ANSWER_SCHEMAS, ref } from './answer-schemas.ts';
import { OPERATIONS, type Operation } from './operations.ts';

/** `GET /openapi.json`: the OpenAPI 3.1 description of these routes and itself. It needs no credentials, because it tells nothing of the data. */
export function openApiRoute(routes: readonly Route[]): Route {
  let description: string | undefined;
  const own: Route = {
    methods: ['GET'],
    path: '/openapi.json',
    access: 'anyone',
    handle: async () => {
      description ??= JSON.stringify(openApi([...routes, own]));
      return { ...jsonAnswer(200, {}), body: description };
    },
  };
  return own;
}

/** The description of these routes. Throws an Error for one that OPERATIONS does not name. @internal */
export function openApi(routes: readonly Pick<Route, 'path' | 'methods' | 'isPrefix' | 'access'>[]): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const { path, methods, isPrefix, access } of routes) {
    if (isPrefix === true) continue;
    for (const method of methods.filter((each) => each !== 'HEAD')) {
      const operation = OPERATIONS[`${method} ${path}`];
      if (operation === undefined) throw new Error(`${method} ${path} is not described in operations.ts`);
      const described = { ...describe(operation, path, method), ...(access === 'anyone' ? { security: [] } : {}) };
      paths[path] = { ...paths[path], [method.toLowerCase()]: described };
    }
  }
  return openApiDocument({
    title: 'Sluice database HTTP API',
    version: SLUICE_VERSION,
    description: 'SQL and rows over HTTP, and the paths under which clients of other databases write.',
    security: [{ basic: [] }],
    paths,
    schemas: ANSWER_SCHEMAS,
  });
}

function describe(
  { summary, tag, query = {}, body, answers, failure }: Operation,
  path: string,
  method: string,
): JsonSchema {
  const failures = { 'application/json': { schema: { anyOf: [...new Set([failure, 'Failure' as const])].map(ref) } } };
  return {
    summary,
    operationId: operationId(method, path),
    tags: [tag],
    parameters: queryParameters(query),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(body) } }),
    responses: {
      ...responsesOf(answers),
      default: { description: 'The request cannot be served', content: failures },
    },
  };
}
