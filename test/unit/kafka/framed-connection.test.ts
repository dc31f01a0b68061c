import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { FramedConnection } from '../../../src/kafka/connections/framed-connection.ts';
import { libraryLogger, type RequestQueue, type SaslOptions } from '../../../src/kafka/library/kafkajs-internals.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

const HANDSHAKE = 17;

interface CheckedQueue extends RequestQueue {
  throttledUntil: number;
  throttleCheckTimeoutId: unknown;
  checkPendingRequests(): void;
  destroy(): void;
}

function connectionTo(port: number, sasl: SaslOptions | null = null): FramedConnection {
  return new FramedConnection({
    ...{ host: '127.0.0.1', port, clientId: 'test', logger: libraryLogger(silentLogger), ssl: null, sasl },
    ...{
      connectionTimeout: 10_000,
      reauthenticationThreshold: 0,
      requestTimeout: 10_000,
      enforceRequestTimeout: false,
    },
    socketFactory: ({ onConnect }) => connect(port, '127.0.0.1', onConnect),
  });
}

describe('the request queue of a connection', () => {
  const newQueue = (): CheckedQueue => connectionTo(1).requestQueue as CheckedQueue;

  it('is that of the pinned kafkajs version', () => {
    const { version } = createRequire(import.meta.url)('kafkajs/package.json') as { version: string };
    assert.equal(version, '2.2.4');
    const { pending, throttledUntil, throttleCheckTimeoutId } = newQueue();
    assert.deepEqual([pending, throttledUntil, throttleCheckTimeoutId], [[], -1, null]);
  });

  it('sets no timer while the connection is idle', () => {
    const queue = newQueue();
    queue.checkPendingRequests();
    assert.equal(queue.throttleCheckTimeoutId, null);
  });

  it('keeps the timer while the broker throttles', () => {
    const queue = newQueue();
    queue.throttledUntil = Date.now() + 60_000;
    queue.checkPendingRequests();
    assert.notEqual(queue.throttleCheckTimeoutId, null);
    queue.destroy();
  });
});

describe('the authentication of a connection', () => {
  let server: Server;
  afterEach(() => server.close());

  /** A broker with a fixed response. */
  async function brokerWith(body: Buffer): Promise<number> {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (request) => {
        const head = Buffer.alloc(8);
        head.writeInt32BE(4 + body.length);
        request.copy(head, 4, 8, 12);
        socket.write(Buffer.concat([head, body]));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  const damaged = {
    'a list of 2^31 - 1 mechanisms': '00007fffffff',
    'a list of 2^30 mechanisms whose lengths go back': '00004000000080028002',
    nothing: '',
  };
  for (const [what, hex] of Object.entries(damaged)) {
    it(`fails if the broker responds to the handshake with ${what}`, async () => {
      const port = await brokerWith(Buffer.from(hex, 'hex'));
      const connection = connectionTo(port, { mechanism: 'plain', username: 'u', password: 'p' });
      connection.setVersions({ [HANDSHAKE]: { minVersion: 0, maxVersion: 1 } });
      await connection.connect();
      await assert.rejects(connection.authenticate(), /invalid (?:list )?length/);
      await connection.disconnect();
    });
  }
});
