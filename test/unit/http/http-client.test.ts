import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PeerClient, PeerUnreachableError } from '../../../src/herder/peer-client.ts';
import { httpRequest, httpResponse } from '../../../src/http/http-client.ts';
import { openTimers } from '../../support/open-timers.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../tls/tls-fixture.ts';

const TIMEOUT_MS = 60_000;

describe('the client for outgoing requests', () => {
  const servers: (Server | TcpServer)[] = [];
  const sockets = new Set<Socket>();

  async function listen(server: Server | TcpServer, scheme = 'http'): Promise<URL> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new URL(`${scheme}://127.0.0.1:${String(port)}/a?b=c`);
  }

  const serve = (listener: RequestListener): Promise<URL> => listen(createServer(listener));

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  it('resolves with an answer of any status, and leaves neither a timer nor a listener', async () => {
    const timers = openTimers();
    const { signal } = new AbortController();
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => {
        response.writeHead(409, { 'x-seen': `${request.method ?? ''} ${request.url ?? ''}` });
        response.end(`${text} ${request.headers['content-length'] ?? ''} ${request.headers.connection ?? ''}`);
      });
    });
    const { status, headers, body } = await httpRequest({
      method: 'PUT',
      url,
      body: 'text',
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    assert.deepEqual([status, headers['x-seen'], body.toString()], [409, 'PUT /a?b=c', 'text 4 close']);
    await delay(10);
    assert.deepEqual(openTimers(), timers);
  });

  it('does not follow redirects, so that nobody else gets the credentials', async () => {
    const seen: string[] = [];
    const elsewhere = await serve((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.end();
    });
    for (const redirect of [301, 302, 303, 307, 308]) {
      const url = await serve((_request, response) => {
        response.writeHead(redirect, { location: elsewhere.href }).end();
      });
      const headers = { authorization: 'Bearer secret' };
      const { status } = await httpRequest({ url, headers, timeoutMs: TIMEOUT_MS });
      assert.equal(status, redirect);
    }
    assert.deepEqual(seen, []);
  });

  it('rejects when the body has more bytes than allowed, and closes the connection', async () => {
    const closed: Promise<unknown>[] = [];
    const url = await serve((request, response) => {
      closed.push(once(request.socket, 'close'));
      response.write('x'.repeat(100));
    });
    await assert.rejects(
      httpRequest({ url, timeoutMs: TIMEOUT_MS, maxBytes: 99 }),
      /^Error: the answer has more than 99 bytes$/,
    );
    await Promise.all(closed);
    const exact = await serve((_request, response) => response.end('x'.repeat(99)));
    assert.equal((await httpRequest({ url: exact, timeoutMs: TIMEOUT_MS, maxBytes: 99 })).body.length, 99);
  });

  it('rejects when the answer takes too long, also when its bytes keep coming', async () => {
    const silent = await serve(() => undefined);
    await assert.rejects(httpRequest({ url: silent, timeoutMs: 20 }), /^Error: no answer within 20 ms$/);
    const slow = await serve((request, response) => {
      const timer = setInterval(() => response.write('x'), 5);
      request.socket.on('close', () => clearInterval(timer));
    });
    const asked = httpRequest({ url: slow, timeoutMs: 200, idleTimeoutMs: 150 });
    await assert.rejects(asked, /^Error: no answer within 200 ms$/);
  });

  it('rejects when the server stops sending for the idle timeout', async () => {
    const url = await serve((_request, response) => response.write('x'));
    const asked = httpRequest({ url, timeoutMs: TIMEOUT_MS, idleTimeoutMs: 50 });
    await assert.rejects(asked, /^Error: no answer within 50 ms$/);
  });

  it('rejects with the reason of its signal before the request, before the answer and within it', async () => {
    let begun: () => void = () => undefined;
    const url = await serve((request, response) => {
      if (request.method === 'POST') response.write('x');
      begun();
    });
    const reason = new Error('stopped');
    await assert.rejects(httpRequest({ url, timeoutMs: TIMEOUT_MS, signal: AbortSignal.abort(reason) }), reason);
    for (const method of ['GET', 'POST']) {
      const stop = new AbortController();
      const arrived = new Promise<void>((resolve) => (begun = resolve));
      const asked = httpRequest({ method, url, timeoutMs: TIMEOUT_MS, signal: stop.signal });
      await arrived;
      if (method === 'POST') await delay(20);
      stop.abort(reason);
      await assert.rejects(asked, reason);
    }
  });

  it('rejects when the answer ends before its length', async () => {
    const url = await listen(
      createTcpServer((socket) => {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx');
      }),
    );
    await assert.rejects(httpRequest({ url, timeoutMs: TIMEOUT_MS }), /^Error: the answer broke off$/);
  });

  it('takes TLS settings for https', async () => {
    const server = createSecureServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_request, response) =>
      response.end('x'),
    );
    const url = await listen(server, 'https');
    await assert.rejects(httpRequest({ url, timeoutMs: TIMEOUT_MS }), /certificate/);
    const tls = { ca: CERTIFICATE, checkServerIdentity: () => undefined };
    assert.equal((await httpRequest({ url, timeoutMs: TIMEOUT_MS, tls })).status, 200);
  });

  it('gives an answer as it arrives, which ends with the signal too', async () => {
    const url = await serve((_request, response) => response.write('x'.repeat(1000)));
    const stop = new AbortController();
    const response = await httpResponse({ url, timeoutMs: TIMEOUT_MS, signal: stop.signal });
    let bytes = 0;
    const reading = async (): Promise<void> => {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        stop.abort(new Error('stopped'));
      }
    };
    await assert.rejects(reading(), /^Error: stopped$/);
    assert.equal(bytes, 1000);
  });

  it('tells another worker that was not reached from one that did not answer', async () => {
    const closed = createTcpServer();
    const url = (await listen(closed)).href;
    closed.close();
    await once(closed, 'close');
    const peers = new PeerClient(undefined);
    const headers = {};
    await assert.rejects(
      peers.request({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS }),
      (error) => error instanceof PeerUnreachableError && error.message.startsWith('connect ECONNREFUSED'),
    );
    const silent = (await serve(() => undefined)).href;
    await assert.rejects(
      peers.request({ method: 'GET', url: silent, headers, timeoutMs: 20 }),
      (error) => !(error instanceof PeerUnreachableError),
    );
  });
});
