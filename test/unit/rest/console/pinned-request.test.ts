import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { developmentCertificate } from '../../../../plugins/database-http/transport/certificate.ts';
import { pinnedRequest } from '../../../../src/rest/console/pinned-request.ts';
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
  const ask = { method: 'GET', path: '/restapi/login?a=1', headers: {}, maxBytes: 100 };

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
      await assert.rejects(asked, /another certificate than its file has/);
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
});
