import assert from 'node:assert/strict';
import { serviceOptions } from '../../../plugins/database-http/options.ts';
import { storingRoutes } from '../../../plugins/database-http/plugin.ts';
import { DatabaseHttpService } from '../../../plugins/database-http/service.ts';
import { parseOptions, silentLogger } from '../../../src/index.ts';

interface Described {
  readonly operationId: string;
  readonly security?: readonly unknown[];
}

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

/** Routes for SQL and sessions, and the description itself. */
const OTHERS = [
  'GET /restapi/login',
  'GET /restapi/session',
  'DELETE /restapi/session',
  'POST /api/v2/signin',
  'POST /api/v2/signout',
  'POST /restapi/ddl',
  'POST /restapi/insert',
  'GET /restapi/query',
  'POST /restapi/query',
  'GET /openapi.json',
];

describe('the OpenAPI description of the database HTTP API', () => {
  it('has every route of the API and no other, and marks those without credentials', async () => {
    const settings = parseOptions(serviceOptions, {
      listeners: 'http://127.0.0.1:0',
      tls: 'off',
      'connection.url': 'postgresql://127.0.0.1:1',
    });
    const service = new DatabaseHttpService(settings, { logger: silentLogger }, storingRoutes());
    await service.start();
    try {
      const answer = await fetch(`${service.address ?? ''}/openapi.json`);
      const { openapi, paths } = (await answer.json()) as Description;
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const storing = storingRoutes().flatMap((route) => ('prefix' in route ? [] : [`${route.method} ${route.path}`]));
      assert.deepEqual([openapi, described.sort()], ['3.1.0', [...OTHERS, ...storing].sort()]);
      const ids = Object.values(paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      assert.equal(new Set(ids).size, ids.length);
      const open = Object.keys(paths).filter((path) => paths[path]?.['get']?.security !== undefined);
      assert.deepEqual(open.sort(), ['/api/version', '/health', '/openapi.json', '/ping', '/settings']);
    } finally {
      await service.stop();
    }
  });
});
