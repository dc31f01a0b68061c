import assert from 'node:assert/strict';
import { createServer as createWebServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { pino } from 'pino';
import { createKafkaClient } from '../../../src/kafka/client/client.ts';
import { refusalOf } from '../../support/refusal.ts';

/** The response of a TLS listener to a client without TLS: a fatal alert, unexpected message. */
const TLS_ALERT = Buffer.of(0x15, 3, 3, 0, 2, 2, 10);

async function refusalBy(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const properties = { 'bootstrap.servers': `127.0.0.1:${String(port)}` };
  try {
    return await refusalOf(createKafkaClient(properties, pino({ level: 'silent' })), 1_500);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

describe('an address that is not a Kafka listener', () => {
  it('is reported for a web server, and for a TLS listener without TLS on the client', async () => {
    const servers = [
      createWebServer(),
      createServer((socket) => {
        socket.on('error', () => undefined).once('data', () => socket.end(TLS_ALERT));
      }),
    ];
    for (const server of servers) {
      const refusal = await refusalBy(server);
      assert.match(refusal, /Broker 127\.0\.0\.1:\d+.*Invalid response size of \d+ bytes\./);
      assert.match(refusal, /security\.protocol matches it\./);
    }
  });
});
