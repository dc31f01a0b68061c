import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { componentsWithin, type JsonSchema } from '../../src/json/open-api.ts';
import { ERROR_MESSAGE } from '../../src/rest/answers.ts';
import { managementRoutes } from './management-routes.ts';

const ajv = new Ajv2020({ allowUnionTypes: true, strict: false });
const described = managementRoutes().filter((route) => route.answers !== undefined);
ajv.addSchema({ $id: 'answers', components: { schemas: componentsWithin([...described, ERROR_MESSAGE]) } });

const routes = described.map((operation) => {
  const { method, path } = operation;
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}/?$`);
  return { method, pattern, parameters: path.split(':').length, operation };
});
// `/connectors/:connector/tasks` comes before `/connectors/:connector/:other`.
routes.sort((a, b) => a.parameters - b.parameters);

/** Fails if the OpenAPI description does not allow this response of the management API to a request. */
export function assertDescribed(method: string, url: string, status: number, body: unknown): void {
  const path = new URL(url, 'http://any').pathname;
  const found = routes.find((route) => route.method === method && route.pattern.test(path));
  if (found === undefined) {
    assert.ok(status >= 400 || method === 'OPTIONS' || method === 'HEAD', `${method} ${path} is not described`);
    return;
  }
  const form = found.operation.answers?.[status];
  if (form === undefined) {
    assert.ok(status >= 400, `${method} ${path} answered ${String(status)}, which is not described`);
    // A text comes from an extension or a proxy.
    if (typeof body === 'object') assertValid(ERROR_MESSAGE, body, `${method} ${path} ${String(status)}`);
    return;
  }
  if (form === null) assert.equal(body, '', `${method} ${path} ${String(status)} has a body`);
  else if (typeof form !== 'string') assertValid(form, body, `${method} ${path} ${String(status)}`);
}

const validators = new Map<string, ValidateFunction>();

function assertValid(schema: JsonSchema, body: unknown, what: string): void {
  const text = JSON.stringify(schema).replaceAll('#/components', 'answers#/components');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as JsonSchema);
  validators.set(text, validate);
  assert.ok(
    validate(body),
    `${what} is not as described: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`,
  );
}
