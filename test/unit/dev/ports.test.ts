import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { freePort, isFree, nextFreePort } from '../../../src/dev/ports.ts';

describe('ports', () => {
  it('a free port lies below those the system takes for outgoing connections, and is given once', async () => {
    const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
    assert.equal(new Set(ports).size, ports.length);
    assert.ok(ports.every((port) => port >= 20_000 && port < 32_000));
  });

  it('the next free port skips one that is taken, also when it is taken on all addresses', async () => {
    const server = createServer().listen(0);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      assert.equal(await isFree(port), false);
      assert.ok((await nextFreePort(port)) > port);
    } finally {
      server.close();
      await once(server, 'close');
    }
    assert.equal(await nextFreePort(port), port);
  });
});
