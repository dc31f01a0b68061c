import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { database } from '../support/services.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { basic, send } from './http-fixture.ts';
import { standaloneProperties } from './http-worker-fixture.ts';

const PLUGINS = fileURLToPath(new URL('../support/example-plugins', import.meta.url));
describe('a worker with services=database-http', () => {
  const folder = temporaryFolder('http-worker');

  it('serves the database beside the management API, which does not list it as a plugin', async () => {
    const access = await database('worker');
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: await standaloneProperties(folder.path, {
        services: 'database-http',
        'database.http.listeners': 'https://127.0.0.1:0',
        'database.http.connection.url': `jdbc:db://${access.host}:${String(access.port)}`,
        'database.http.default.database': access.database,
        'database.http.tls.directory': folder.path,
      }),
    });
    assert.deepEqual(config.warnings, []);
    const worker = await startWorker(config, { logger: silentLogger });
    try {
      await worker.started;
      const url = worker.services['database-http'] ?? '';
      const ca = await readFile(join(folder.path, 'ca.pem'));
      const authorization = basic(access.user, access.password);
      const reply = await send(`${url}/restapi/query`, 'POST', {
        authorization,
        ca,
        body: 'select current_database()',
      });
      assert.deepEqual(reply.body['data'], [[access.database]]);
      const written = await send(`${url}/restapi/linedb`, 'POST', {
        authorization,
        ca,
        body: 'weather,site=oslo temp=3.5 1700000000000000000',
      });
      assert.deepEqual([written.status, written.body['rows']], [200, 1]);
      const metricsLines = async () => (await send(`${worker.url}/metrics`, 'GET', {})).text.split('\n');
      // Tests that ran in this process before have counted too.
      const collapsedIn = (lines: readonly string[]): number => {
        const sample = 'sluice_rows_collapsed_total{path="/restapi/linedb"} ';
        return Number(lines.find((line) => line.startsWith(sample))?.slice(sample.length) ?? 0);
      };
      const collapsedBefore = collapsedIn(await metricsLines());
      // Both fall into one microsecond.
      const collapsing = await send(`${url}/restapi/linedb`, 'POST', {
        authorization,
        ca,
        body: 'weather,site=oslo temp=3.5 1700000001000000000\nweather,site=oslo temp=4 1700000001000000001',
      });
      assert.deepEqual([collapsing.status, collapsing.body['rows']], [200, 1]);
      const metrics = await metricsLines();
      assert.equal(collapsedIn(metrics), collapsedBefore + 1);
      assert.ok(metrics.some((line) => line.startsWith('sluice_thread_heap_bytes{thread="1",purpose="services"} ')));
      const plugins = await send(`${worker.url}/connector-plugins?connectorsOnly=false`, 'GET', {});
      assert.equal(plugins.text.includes('DatabaseHttp'), false);
    } finally {
      await worker.stop();
    }
  });

  it('closes its config providers when a service cannot start', async () => {
    const closed = join(folder.path, 'closed');
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: await standaloneProperties(folder.path, {
        services: 'database-http',
        'plugin.path': PLUGINS,
        'config.providers': 'vault',
        'config.providers.vault.class': 'com.example.CountingConfigProvider',
        'config.providers.vault.param.closed.file': closed,
      }),
    });
    await assert.rejects(startWorker(config, { logger: silentLogger }), /connection\.url/);
    assert.equal(await readFile(closed, 'utf8'), 'closed\n');
  });
});
