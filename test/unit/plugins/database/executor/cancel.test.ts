import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { requestCancel } from '../../../../../plugins/database/executor/cancel.ts';

/** Long enough for the end of a connection to arrive on 127.0.0.1. */
const PAUSE_MS = 50;

describe('a cancel request', () => {
  it('waits until the server closes the connection, because pgbouncer crashes if the client does', async () => {
    const events: string[] = [];
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('end', () => events.push('the client closes'));
      socket.once('data', (bytes) => {
        events.push(bytes.toString('hex'));
        void delay(PAUSE_MS).then(() => {
          events.push('the server closes');
          socket.end();
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      await requestCancel({ host: '127.0.0.1', port, tls: undefined, processId: 7, secretKey: -1 }, 10_000);
      assert.deepEqual(events.slice(0, 2), ['0000001004d2162e00000007ffffffff', 'the server closes']);
    } finally {
      server.close();
    }
  });
});
