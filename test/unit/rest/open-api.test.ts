import assert from 'node:assert/strict';
import type { ResourceDependencies } from '../../../src/rest/resource.ts';
import { StageTracker } from '../../../src/observe/stage.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { OPERATIONS } from '../../../src/rest/operations.ts';
import { RestServer } from '../../../src/rest/server.ts';
import { openApi } from '../../../src/rest/open-api-resource.ts';
import { assertDescribed } from '../../support/open-api-check.ts';

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

describe('the OpenAPI description of the management API', () => {
  it('has every route of the server, and no other', async () => {
    const server = new RestServer(
      { stage: new StageTracker(), secrets: new SecretMask(), logger: silentLogger },
      {
        admin: 'shared',
        crossOrigin: { origins: '', methods: '' },
        allowedHosts: [],
        own: { hosts: [], advertised: undefined } as never,
        headerRules: [],
        extensions: [],
        maxConnections: 10,
      },
    );
    const port = await server.listen({ host: '127.0.0.1', port: 0 }, 'main');
    try {
      server.serve({ herder: { ready: true }, logger: silentLogger } as unknown as ResourceDependencies);
      const answer = await fetch(`http://127.0.0.1:${String(port)}/openapi.json`);
      const { openapi, paths } = (await answer.json()) as Description;
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
      );
      assert.deepEqual([openapi, described.sort()], ['3.1.0', Object.keys(OPERATIONS).sort()]);
      const ids = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      assert.equal(new Set(ids).size, ids.length);
    } finally {
      await server.close();
    }
  });

  it('cannot be made when a route has no description', () => {
    assert.throws(() => openApi([{ method: 'GET', path: '/nowhere' }]), /GET \/nowhere is not described/);
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
