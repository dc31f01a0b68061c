import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { basicAuth, credentials } from '../../../src/rest/basic-auth.ts';

describe('users of the management API', () => {
  let server: Server;
  before(async () => {
    const app = new Koa();
    app.use(basicAuth(credentials({ ann: 'correct horse' })));
    app.use((context) => {
      context.body = 'in';
    });
    const handle = app.callback();
    server = createServer((incoming, response) => void handle(incoming, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  async function send(method: string, path: string, authorization = ''): Promise<[number, string | undefined]> {
    const { port } = server.address() as AddressInfo;
    const headers = authorization === '' ? {} : { authorization };
    return new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
        response.resume();
        response.once('end', () => {
          resolve([response.statusCode ?? 0, response.headers['www-authenticate']]);
        });
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  it('are asked for on every path of the console: its page, files, streams and data, whatever the path looks like', async () => {
    const paths = ['/ui', '/ui/', '/ui/assets/index.js', '/ui/events', '/ui/snapshot', '/ui/connectors/a/log'];
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const [status, challenge] = await send(method, path);
        assert.equal(status, 401, `${method} ${path}`);
        assert.match(challenge ?? '', /^Basic realm=/);
      }
      assert.equal((await send('GET', path, `Basic ${Buffer.from('ann:correct horse').toString('base64')}`))[0], 200);
    }
    for (const path of ['//ui', '/UI', '/ui%2Fevents', '/x/../ui/events', '/ui/..%2f', '/ui/connectors/a/tasks'])
      for (const wrong of ['', 'Basic', 'Basic !', 'Bearer x', `Basic ${Buffer.from('ann:').toString('base64')}`])
        assert.equal((await send('POST', path, wrong))[0], 401, path);
  });
});
