import { SLUICE_VERSION } from '../../../src/index.ts';
import { jsonAnswer, type Route } from '../route.ts';
import { ANSWER_SCHEMAS, ref, type JsonSchema } from './answer-schemas.ts';
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
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice database HTTP API',
      version: SLUICE_VERSION,
      description: 'SQL and rows over HTTP, and the paths under which clients of other databases write.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    security: [{ basic: [] }],
    paths,
    components: { schemas: ANSWER_SCHEMAS, securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };
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
    parameters: Object.entries(query).map(([name, parameter]) => ({ name, in: 'query', ...parameter })),
    ...(body === undefined ? {} : { requestBody: { content: contentOf(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, content]) => [
          status,
          content === null
            ? { description: 'Done; the answer has no body' }
            : { description: Number(status) < 300 ? 'Done' : 'It failed', content: contentOf(content) },
        ]),
      ),
      default: { description: 'The request cannot be served', content: failures },
    },
  };
}

function contentOf(schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));
}

/** `GET /restapi/login` -> `getRestapiLogin`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
