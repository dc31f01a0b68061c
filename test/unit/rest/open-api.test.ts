import assert from 'node:assert/strict';
import { openApi } from '../../../src/rest/open-api-resource.ts';
import type { DescribedRoute } from '../../../src/rest/resource.ts';
import { assertDescribed } from '../../support/open-api-check.ts';
import { managementRoutes } from '../../support/management-routes.ts';
import { RestServerFixture } from './rest-server-fixture.ts';

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

describe('the OpenAPI description of the management API', () => {
  it('has every route of the server but those of the console', async () => {
    const server = await RestServerFixture.start({}, []);
    try {
      const answer = await fetch(`http://127.0.0.1:${String(server.port)}/openapi.json`);
      const { openapi, paths } = (await answer.json()) as Description;
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
      );
      const declared = managementRoutes().flatMap(({ method, path }) =>
        /^\/ui(?:\/|$)/.test(path) ? [] : [`${method} ${path}`],
      );
      assert.deepEqual([openapi, described.sort()], ['3.1.0', [...new Set(declared)].sort()]);
      const ids = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      assert.equal(new Set(ids).size, ids.length);
    } finally {
      await server.close();
    }
  });

  it('has of two routes with the same method and path the one that answers first, and every schema that it names', () => {
    const route = (summary: string): DescribedRoute => ({
      ...{ method: 'GET', path: '/a', summary, tag: 'worker', answers: { 200: { type: 'object' } } },
      handle: () => undefined,
    });
    const { paths, components } = openApi([route('first'), route('second')]) as {
      readonly paths: Readonly<Record<string, { readonly get: { readonly summary: string } }>>;
      readonly components: { readonly schemas: object };
    };
    assert.deepEqual([paths['/a']?.get.summary, Object.keys(components.schemas)], ['first', ['ErrorMessage']]);
  });

  it('is what the answers in all tests are compared with', () => {
    const info = { version: '4.3.1', commit: 'c', kafka_cluster_id: 'k' };
    assertDescribed('GET', '/', 200, info);
    assert.throws(() => assertDescribed('GET', '/', 200, { ...info, more: 1 }), /not as described/);
    assert.throws(() => assertDescribed('DELETE', '/connectors/a', 200, ''), /answered 200, which is not described/);
    assert.throws(() => assertDescribed('GET', '/connectors/a/nothing', 200, {}), /is not described/);
    assertDescribed('GET', '/connectors/a/status', 404, { error_code: 404, message: 'No status found' });
    assert.throws(() => assertDescribed('GET', '/connectors/a', 500, { error: 'x' }), /not as described/);
  });
});
