import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { errorAnswer } from '../../../src/rest/error-mapping.ts';
import { consoleOriginTest, crossOrigin, originTest } from '../../../src/rest/cross-origin.ts';
import { requestOrigin } from '../../../src/rest/request-origin.ts';

describe('S13: where a request to the management API comes from', () => {
  let server: Server;
  before(async () => {
    const app = new Koa();
    app.use(async (context, next) => {
      try {
        await next();
      } catch (error) {
        const { status, body } = errorAnswer(error);
        context.status = status;
        context.body = body;
      }
    });
    app.use(
      requestOrigin({
        allowedHosts: ['connect.example.org', '*.example.net'],
        allowedOrigins: 'https://ui.example.org',
        own: { url: 'http://worker-1.example.com:8083', names: ['worker-1.example.com'] },
      }),
    );
    app.use((context) => {
      context.body = String(context.state['ownUrl']);
    });
    const handle = app.callback();
    server = createServer((incoming, response) => void handle(incoming, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  async function send(
    method: string,
    headers: Readonly<Record<string, string>>,
    path = '/',
  ): Promise<[number, string]> {
    const { port } = server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve([response.statusCode ?? 0, text]));
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  it('is refused under a name that a web site may have, and taken by addresses and names of the inside', async () => {
    const [status, text] = await send('GET', { Host: 'evil.example:8083' });
    assert.equal(status, 403);
    assert.match(text, /"evil\.example\\?".*allowed\.hosts/);
    const taken = ['127.0.0.1:8083', '10.1.2.3', '[::1]:8083', 'localhost', 'connect:8083', 'connect.default.svc'];
    const own = [
      'WORKER-1.example.com:8083',
      'connect.example.org.',
      'a.example.net',
      'connect.default.svc.cluster.local',
    ];
    for (const host of [...taken, ...own]) assert.equal((await send('GET', { Host: host }))[0], 200, host);
    for (const host of ['evil.example', 'example.net', 'localhost.evil.example', '127.0.0.1.evil.example']) {
      assert.equal((await send('PUT', { Host: host }))[0], 403, host);
    }
  });

  it('is refused when it writes from a page of another origin, without a body too', async () => {
    for (const origin of ['http://evil.example', 'null', 'http://localhost:3000', 'http://127.0.0.1']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        assert.equal((await send(method, { Host: '127.0.0.1:8083', Origin: origin }))[0], 403, `${method} ${origin}`);
      }
      assert.equal((await send('GET', { Host: '127.0.0.1:8083', Origin: origin }))[0], 200);
    }
    for (const origin of ['http://127.0.0.1:8083', 'https://ui.example.org']) {
      assert.equal((await send('POST', { Host: '127.0.0.1:8083', Origin: origin }))[0], 200, origin);
    }
  });

  it('S8: is refused when its page has the name and port of the worker and another scheme', async () => {
    const Host = 'connect.example.org';
    const post = async (headers: Readonly<Record<string, string>>, path = '/') =>
      (await send('POST', { Host, ...headers }, path))[0];
    assert.equal(await post({ Origin: 'http://connect.example.org' }), 200);
    assert.equal(await post({ Origin: 'https://connect.example.org' }), 403);
    // A proxy that ends TLS.
    const proxied = { 'X-Forwarded-Proto': 'https' };
    assert.equal(await post({ ...proxied, Origin: 'https://connect.example.org' }), 200);
    assert.equal(await post({ ...proxied, Origin: 'http://connect.example.org' }), 403);
    assert.equal(await post({ ...proxied, Origin: 'http://connect.example.org' }, '/ui/sql'), 403);
  });

  it('is refused where it writes and the browser says no more than that it comes from elsewhere', async () => {
    for (const site of ['cross-site', 'same-site']) {
      assert.equal((await send('POST', { Host: '127.0.0.1:8083', 'Sec-Fetch-Site': site }))[0], 403, site);
    }
    for (const site of ['same-origin', 'none']) {
      assert.equal((await send('POST', { Host: '127.0.0.1:8083', 'Sec-Fetch-Site': site }))[0], 200, site);
    }
  });

  it('is refused below /ui where it reads too, but for the page that links lead to', async () => {
    const Host = '127.0.0.1:8083';
    const paths = ['/ui/snapshot', '/ui/events', '/ui/connectors/a/log', '/ui/sql', '/ui/assets/a/b', '/ui//'];
    for (const path of paths) {
      for (const headers of [
        { Host, Origin: 'http://evil.example' },
        { Host, Origin: 'null' },
        { Host, 'Sec-Fetch-Site': 'cross-site' },
        { Host, 'Sec-Fetch-Site': 'same-site' },
      ]) {
        assert.equal((await send('GET', headers, path))[0], 403, path);
      }
      assert.equal((await send('GET', { Host, 'Sec-Fetch-Site': 'same-origin' }, path))[0], 200, path);
      assert.equal((await send('GET', { Host, Origin: 'https://ui.example.org' }, path))[0], 200, path);
    }
    for (const path of ['/ui', '/ui/', '/ui/assets/index.js', '/connectors']) {
      assert.equal((await send('GET', { Host, 'Sec-Fetch-Site': 'cross-site' }, path))[0], 200, path);
    }
  });

  it('may call no body anything but JSON, or a form where no browser is at work', async () => {
    const types = ['text/plain', 'multipart/form-data; boundary=x', 'application/xml'];
    for (const type of types)
      assert.equal((await send('POST', { Host: 'connect', 'Content-Type': type }))[0], 415, type);
    const form = { Host: 'connect', 'Content-Type': 'application/x-www-form-urlencoded' };
    assert.equal((await send('POST', form))[0], 200);
    assert.equal((await send('POST', { ...form, Origin: 'http://connect' }))[0], 415);
    assert.equal((await send('PUT', { Host: 'connect', 'Content-Type': 'Application/JSON;charset=utf-8' }))[0], 200);
  });

  it('S14: does not decide what Location says', async () => {
    assert.deepEqual(await send('GET', { Host: 'connect:1' }), [200, 'http://worker-1.example.com:8083']);
  });
});

describe('access.control.allow.origin', () => {
  it('opens the console to origins that it names, and not to everybody', () => {
    for (const everybody of ['*', 'http://*,https://*', '.*', 'https?://.+', ' * , https://*:8443']) {
      const isAllowed = consoleOriginTest(everybody);
      assert.equal(originTest(everybody)('https://evil.example:8443'), true, everybody);
      assert.equal(isAllowed('https://evil.example:8443'), false, everybody);
    }
    const isAllowed = consoleOriginTest('*, https://*.example.org, https://ops.example.net');
    assert.equal(isAllowed('https://a.example.org'), true);
    assert.equal(isAllowed('https://ops.example.net'), true);
    assert.equal(isAllowed('https://evil.example'), false);
    assert.equal(consoleOriginTest('')('https://evil.example'), false);
  });

  it('has no answer of the console read by others where everybody may read the API', async () => {
    const headersFor = async (path: string): Promise<string | undefined> => {
      const set = new Map<string, string>();
      const context = {
        path,
        state: {},
        req: { method: 'GET', headers: { origin: 'https://evil.example' } },
        res: { setHeader: (name: string, value: string) => set.set(name, value) },
      } as unknown as Koa.Context;
      await crossOrigin({ origins: '*', methods: '' })(context, () => Promise.resolve());
      return set.get('Access-Control-Allow-Origin');
    };
    assert.equal(await headersFor('/connectors'), 'https://evil.example');
    assert.equal(await headersFor('/ui/snapshot'), undefined);
    assert.equal(await headersFor('/ui'), undefined);
  });
});
