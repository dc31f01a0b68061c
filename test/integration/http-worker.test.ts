import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { broker, database } from '../support/services.ts';
import { basic, send } from './http-fixture.ts';

const CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';

describe('a worker with services=database-http', () => {
  let directory: string;
  before(async () => (directory = await mkdtemp(join(tmpdir(), 'sluice-http-worker-'))));
  after(() => rm(directory, { recursive: true }));

  async function properties(more: Record<string, string>): Promise<Record<string, string>> {
    return {
      'bootstrap.servers': (await broker()).bootstrapServers,
      'key.converter': CONVERTER,
      'value.converter': CONVERTER,
      'offset.storage.file.filename': join(directory, 'offsets'),
      listeners: 'http://127.0.0.1:0',
      ...more,
    };
  }

  it('serves the database beside the management API, which does not list it as a plugin', async () => {
    const access = await database('worker');
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: await properties({
        services: 'database-http',
        'database.http.listeners': 'https://127.0.0.1:0',
        'database.http.connection.url': `jdbc:db://${access.host}:${String(access.port)}`,
        'database.http.default.database': access.database,
        'database.http.tls.directory': directory,
      }),
    });
    assert.deepEqual(config.warnings, []);
    const worker = await startWorker(config, { logger: silentLogger });
    try {
      await worker.started;
      const url = worker.services['database-http'] ?? '';
      const ca = await readFile(join(directory, 'ca.pem'));
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
      const plugins = await send(`${worker.url}/connector-plugins?connectorsOnly=false`, 'GET', {});
      assert.equal(plugins.text.includes('DatabaseHttp'), false);
    } finally {
      await worker.stop();
    }
  });

  it('does not start when a service is none or cannot start, and says why', async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ services: 'database-ftp' }, /services: there is no service "database-ftp"; there are database-http/],
      [{ services: 'database-http' }, /connection\.url/],
      [{ services: 'database-http', 'database.http.connection.url': 'mysql://x' }, /check connection\.url is correct/],
      [
        {
          services: 'database-http',
          'database.http.connection.url': 'jdbc:db://127.0.0.1:1',
          'database.http.tls.certificate': '/nowhere.pem',
          'database.http.tls.key': '/nowhere.key',
        },
        /nowhere/,
      ],
    ];
    for (const [more, message] of cases) {
      const config = loadWorkerConfig({ mode: 'standalone', properties: await properties(more) });
      await assert.rejects(startWorker(config, { logger: silentLogger }), message);
    }
  });
});
