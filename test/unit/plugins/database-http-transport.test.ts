import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PortListener } from '../../../plugins/database-http/transport/listener.ts';

describe('a slow client', () => {
  let listener: PortListener;
  let port: number;
  before(async () => {
    listener = new PortListener(
      {
        host: '127.0.0.1',
        port: 0,
        certificate: undefined,
        maxConnections: 10,
        timeouts: { headersTimeout: 150, requestTimeout: 300, keepAliveTimeout: 100, connectionsCheckingInterval: 30 },
      },
      (request, response) => {
        request.resume().on('end', () => response.end('ok'));
      },
      (_request, response) => response.end(),
    );
    port = await listener.listen();
  });
  after(() => listener.close());

  async function answerTo(sent: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(sent);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(socket, 'close');
    return answer;
  }

  it('that does not end its headers is cut off', async () => {
    assert.match(await answerTo('POST / HTTP/1.1\r\nHost: a\r\nX-Slow: '), /^HTTP\/1\.1 408 /);
  });

  it('that sends no further request on its connection is let go', async () => {
    const startedAt = performance.now();
    assert.match(await answerTo('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), /^HTTP\/1\.1 200 .*\r\n\r\nok$/s);
    assert.ok(performance.now() - startedAt < 5_000);
  });

  it('that does not end its request is cut off', async () => {
    assert.match(await answerTo('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'), /^HTTP\/1\.1 408 /);
  });
});
