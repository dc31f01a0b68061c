import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { developmentCertificate } from '../../../../plugins/database-http/transport/certificate.ts';
import { readBody } from '../../../../src/http/http-client.ts';
import { pinnedResponse, type OwnService } from '../../../../src/operate/console/pinned-request.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../tls/tls-fixture.ts';

describe('a request to a service of this process', () => {
  const seen: string[] = [];
  const servers: Server[] = [];

  async function listen(server: Server): Promise<string> {
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return `127.0.0.1:${String(port)}`;
  }

  const answering: RequestListener = (request, response) => {
    seen.push(request.url ?? '');
    response.end('x'.repeat(100));
  };
  const ask = { method: 'GET', path: '/restapi/login?a=1', headers: {}, timeoutMs: 60_000 };

  async function pinnedRequest(
    service: OwnService,
    { maxBytes = 100, signal }: { maxBytes?: number; signal: AbortSignal },
  ) {
    const response = await pinnedResponse(service, { ...ask, signal });
    return { status: response.statusCode, body: await readBody(response, maxBytes) };
  }

  beforeEach(() => {
    seen.length = 0;
  });

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('goes to who has its certificate, for whatever name that is', async () => {
    const host = await listen(createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, answering));
    const service = { url: `https://${host}`, certificate: CERTIFICATE };
    const { status, body } = await pinnedRequest(service, { ...ask, signal: new AbortController().signal });
    assert.deepEqual([status, body.length, seen], [200, 100, ['/restapi/login?a=1']]);
  });

  it('does not go to anybody else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-pinned-'));
    try {
      const { certificatePath } = await developmentCertificate(folder);
      const host = await listen(createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, answering));
      const service = { url: `https://${host}`, certificate: await readFile(certificatePath, 'utf8') };
      const asked = pinnedRequest(service, { ...ask, signal: new AbortController().signal });
      await assert.rejects(asked, /a certificate that differs from its certificate file/);
      assert.deepEqual(seen, []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('ends with its signal, and has no more of the answer than it may', async () => {
    const host = await listen(createPlainServer(answering));
    const asked = pinnedRequest(
      { url: `http://${host}` },
      { ...ask, maxBytes: 99, signal: new AbortController().signal },
    );
    await assert.rejects(asked, /more than 99 bytes/);
    const silent = await listen(createPlainServer(() => undefined));
    const stop = new AbortController();
    const waiting = pinnedRequest({ url: `http://${silent}` }, { ...ask, signal: stop.signal });
    stop.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
  });

  it('gives an answer of any size as it comes, and ends when the answer is no longer wanted', async () => {
    const closed: Promise<unknown>[] = [];
    const host = await listen(
      createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
        request.socket.on('error', () => undefined);
        closed.push(new Promise((resolve) => request.socket.once('close', resolve)));
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          response.once('drain', more);
        };
        more();
      }),
    );
    const service = { url: `https://${host}`, certificate: CERTIFICATE };
    const response = await pinnedResponse(service, { ...ask, signal: new AbortController().signal });
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > 10_000_000) break;
    }
    await Promise.all(closed);
    assert.equal(closed.length, 1);
  });
});
