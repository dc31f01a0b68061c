import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { BodyBudget } from '../../../src/rest/body-budget.ts';
import { errorAnswer } from '../../../src/rest/error-mapping.ts';
import { readBytes } from '../../../src/rest/request-body.ts';
import { until } from '../../support/until.ts';

const LIMITS = { totalBytes: 100_000, internalBytes: 30_000 };

describe('S4: the bodies of requests to the management API', () => {
  let server: Server;
  let budget: BodyBudget;
  /** Answers requests whose body was read. */
  const waiting: (() => void)[] = [];
  const sockets: Socket[] = [];

  beforeEach(async () => {
    budget = new BodyBudget(LIMITS);
    server = createServer((incoming, response) => {
      budget.watch(incoming, response, incoming.url === '/internal');
      readBytes(incoming, 40_000)
        .then((bytes) => waiting.push(() => response.end(String(bytes.length))))
        .catch((error: unknown) => response.writeHead(errorAnswer(error).status).end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const answer of waiting.splice(0)) answer();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  const port = () => (server.address() as AddressInfo).port;

  function post(body: Buffer | string, path = '/'): Promise<[status: number, text: string]> {
    return new Promise((resolve, reject) => {
      const sent = request({ port: port(), method: 'POST', path, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve([response.statusCode ?? 0, text]));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** A request whose body does not end. */
  function stall(bytes: number, path = '/'): Socket {
    const socket = connect(port(), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n${'x'.repeat(bytes)}`);
    return socket;
  }

  it('are bounded together, refused with 503 above the bound, and counted until their requests are answered', async () => {
    const running = Array.from({ length: 5 }, () => post(Buffer.alloc(20_000)));
    await until(() => waiting.length === 5, 'five bodies are read');
    assert.ok(budget.bytes <= LIMITS.totalBytes, String(budget.bytes));
    assert.equal((await post(Buffer.alloc(20_000)))[0], 503);
    assert.equal((await post(''.padEnd(20_000)))[0], 503);
    for (const answer of waiting.splice(0)) answer();
    assert.deepEqual(
      await Promise.all(running),
      Array.from({ length: 5 }, () => [200, '20000']),
    );
    await until(() => budget.bytes === 0, 'nothing is held');
    const again = post(Buffer.alloc(20_000));
    await until(() => waiting.length === 1, 'there is room again');
    waiting.pop()?.();
    assert.deepEqual(await again, [200, '20000']);
  });

  it('before the signature of a worker is checked have a smaller bound of their own', async () => {
    const signed = post(Buffer.alloc(20_000), '/internal');
    await until(() => waiting.length === 1, 'the body is read');
    assert.equal((await post(Buffer.alloc(20_000), '/internal'))[0], 503);
    const other = post(Buffer.alloc(20_000));
    await until(() => waiting.length === 2, 'bodies of users have room');
    for (const answer of waiting.splice(0)) answer();
    assert.deepEqual([(await signed)[0], (await other)[0]], [200, 200]);
  });

  it('are cut when they are slow and another finds no room, so that stalled ones keep nobody out', async () => {
    const stalled = [stall(30_000), stall(30_000), stall(30_000)];
    await until(() => budget.bytes >= 90_000, 'the bodies are held');
    const posted = async () => {
      const answer = post(Buffer.alloc(30_000));
      await Promise.race([answer, until(() => waiting.length > 0, 'the body is read').catch(() => undefined)]);
      for (const each of waiting.splice(0)) each();
      return (await answer)[0];
    };
    await until(async () => (await posted()) === 200, 'another request has room');
    await until(() => stalled.filter(({ destroyed }) => destroyed).length === 1, 'one of them was cut');
  });

  it('are refused with 413 and an answer, at once when the length says so, and in the middle otherwise', async () => {
    assert.equal((await post(Buffer.alloc(40_001)))[0], 413);
    const socket = connect(port(), '127.0.0.1');
    sockets.push(socket);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let sent = 0; sent < 5; sent++) socket.write(`2710\r\n${'x'.repeat(10_000)}\r\n`);
    await until(() => answer.startsWith('HTTP/1.1 413 '), 'the answer is there');
    assert.equal(budget.bytes, 0);
  });

  it('in chunks of one byte take no more memory than in one', async () => {
    const socket = connect(port(), '127.0.0.1');
    sockets.push(socket);
    socket.resume().write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write(`${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`);
    await until(() => waiting.length === 1, 'the body is read');
    assert.ok(budget.bytes >= 20_000 && budget.bytes <= 40_000, String(budget.bytes));
  });

  it('that break off leave nothing behind', async () => {
    const socket = stall(10_000);
    await until(() => budget.bytes > 0, 'a part is held');
    socket.destroy();
    await until(() => budget.bytes === 0, 'nothing is held');
  });
});
