import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { freePort, isFree, nextFreePort, startOnFreePorts } from '../../../src/dev/ports.ts';

describe('ports', () => {
  it('a free port is below the ephemeral ports, and is returned once', async () => {
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

  describe('that another process takes between the look and the start', () => {
    const servers: Server[] = [];

    afterEach(async () => {
      for (const server of servers.splice(0)) {
        server.close();
        await once(server, 'close');
      }
    });

    async function take(port: number): Promise<void> {
      const server = createServer().listen(port, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
    }

    it('give way to the next free ones', async () => {
      const wanted = await freePort();
      const tried: (readonly number[])[] = [];
      const ports = await startOnFreePorts([wanted, wanted], async (free) => {
        tried.push(free);
        if (tried.length < 3) {
          await take(free[0] ?? 0);
          throw new Error('address in use');
        }
        return free;
      });
      assert.equal(tried.length, 3);
      assert.equal(new Set([...tried.map(([first]) => first), ...ports]).size, 4, 'four different ports');
      assert.ok(ports.every((port) => port > wanted));
    });

    it('fail with one message when that happens repeatedly', async () => {
      const wanted = await freePort();
      let tries = 0;
      const start = async ([port = 0]: readonly number[]) => {
        tries += 1;
        await take(port);
        throw new Error('address in use');
      };
      await assert.rejects(
        startOnFreePorts([wanted], start),
        /^ConnectError: The start failed 5 times, because other processes took the chosen ports first\. .* taken: \d+$/,
      );
      assert.equal(tries, 5);
    });

    it('are not tried again where the start fails for another reason', async () => {
      let tries = 0;
      const start = () => {
        tries += 1;
        return Promise.reject(new Error('no space left'));
      };
      await assert.rejects(startOnFreePorts([await freePort()], start), /^Error: no space left$/);
      assert.equal(tries, 1);
    });
  });
});
