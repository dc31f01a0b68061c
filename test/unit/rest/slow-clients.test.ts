import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AnswerBudget } from '../../../src/rest/answer-budget.ts';
import { statusesOf } from '../../support/hostile-requests.ts';
import { until } from '../../support/until.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../tls/tls-fixture.ts';
import { RestServerFixture } from './rest-server-fixture.ts';

const TIMEOUTS = { headersTimeout: 300, requestTimeout: 600, keepAliveTimeout: 300, connectionsCheckingInterval: 30 };
const HEAD = 'POST /connectors HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const GET = 'GET /connectors HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('clients of the management API', () => {
  const sockets: Socket[] = [];
  let api: RestServerFixture | undefined;

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await api?.close();
    api = undefined;
  });

  function open(localAddress = '127.0.0.1'): Socket {
    const socket = connect({ port: api?.port ?? 0, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  }

  /** Sends the bytes one by one, and resolves with all that arrives until the connection is closed. */
  async function trickled(bytes: string): Promise<string> {
    const socket = open();
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    let sent = 0;
    const timer = setInterval(() => socket.write(bytes.charAt(sent++) || 'x'), 5);
    await closed(socket);
    clearInterval(timer);
    return answer;
  }

  async function ask(localAddress: string): Promise<number> {
    const socket = open(localAddress);
    await once(socket, 'connect');
    socket.write(GET);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return statusesOf(answer.toString())[0] ?? 0;
  }

  it('that send their headers, or their body, byte by byte are cut off', async () => {
    api = await RestServerFixture.start({ timeouts: TIMEOUTS }, []);
    const [headers, body, chunks] = await Promise.all([
      trickled('GET /connectors HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
      trickled(`${HEAD}Content-Length: 100000\r\n\r\n{"name":"`),
      trickled(`${HEAD}Transfer-Encoding: chunked\r\n\r\nffff\r\n{"name":"`),
    ]);
    for (const answer of [headers, body, chunks]) assert.deepEqual(statusesOf(answer), [408]);
  });

  it('that send nothing at all, over TLS or not, are cut off', async () => {
    api = await RestServerFixture.start({ timeouts: TIMEOUTS }, []);
    await closed(open().resume());
    await api.close();
    api = await RestServerFixture.start({ timeouts: TIMEOUTS }, [], { key: PRIVATE_KEY, cert: CERTIFICATE });
    await closed(open().resume());
  });

  it('that do not end their TLS handshake are cut off, also when they send it byte by byte', async () => {
    api = await RestServerFixture.start({ timeouts: TIMEOUTS }, [], { key: PRIVATE_KEY, cert: CERTIFICATE });
    const answers = await Promise.all([trickled('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'), trickled('\x16')]);
    assert.deepEqual(answers, ['', '']);
  });

  it('that open more connections than rest.max.connections are answered 503, and keep no other address out', async () => {
    api = await RestServerFixture.start({ maxConnections: 4 }, []);
    for (let index = 0; index < 4; index++) await once(open(), 'connect');
    assert.equal(await ask('127.0.0.1'), 503);
    assert.equal(await ask('127.0.0.2'), 200);
  });

  it('that are slow to send bodies give way to other addresses', async () => {
    api = await RestServerFixture.start(
      { maxConnections: 4, timeouts: { headersTimeout: 200, connectionsCheckingInterval: 60_000 } },
      [],
    );
    const slow = [open(), open(), open(), open()];
    for (const socket of slow) {
      await once(socket, 'connect');
      socket.write(`${HEAD}Content-Length: 100000\r\n\r\n{`);
    }
    await until(async () => (await ask('127.0.0.2')) === 200, 'a slow one has given way');
    assert.ok(slow.some(({ closed }) => closed));
    assert.ok(slow.filter(({ closed }) => !closed).length >= 2, 'its address keeps half of all connections');
  });

  it('that do not take their answers are cut off', async () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `connector-${String(index).padStart(40, '0')}`);
    api = await RestServerFixture.start({ answers: { takeMs: 300 } }, names);
    const socket = open();
    await once(socket, 'connect');
    socket.write(GET);
    await once(socket, 'data');
    socket.pause();
    let taken = 0;
    socket.on('data', ({ length }: Buffer) => (taken += length));
    const bytes = JSON.stringify(names).length;
    await until(() => api?.heldBytes === 0, 'the answer is not held any more');
    socket.resume();
    await until(() => socket.closed, 'the connection is closed');
    assert.ok(taken < bytes, `${String(taken)} of ${String(bytes)} bytes`);
  });

  it('share the bytes of answers that they do not take, and the slow ones give way', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `connector-${String(index).padStart(40, '0')}`);
    const bytes = JSON.stringify(names).length;
    api = await RestServerFixture.start({ answers: { totalBytes: 2 * bytes } }, names);
    const statuses: number[] = [];
    for (let index = 0; index < 20; index++) {
      const socket = open();
      await once(socket, 'connect');
      socket.write(GET);
      const [head] = (await once(socket, 'data')) as [Buffer];
      socket.pause();
      statuses.push(statusesOf(head.toString('latin1'))[0] ?? 0);
      assert.ok(api.heldBytes <= 2 * bytes, String(api.heldBytes));
    }
    assert.deepEqual([statuses.slice(0, 2), statuses.includes(503)], [[200, 200], true]);
    await until(async () => (await ask('127.0.0.2')) === 200, 'a slow one has given way');
  });
});

/** Also when the other side resets the connection. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

describe('the budget of answers', () => {
  it('has room for any answer that is the only one', () => {
    const budget = new AnswerBudget({ totalBytes: 10 });
    const response = Object.assign(new EventEmitter(), { closed: false, destroyed: false });
    budget.hold(response as never, 'x'.repeat(1_000));
    assert.equal(budget.bytes, 1_000);
    assert.throws(() => budget.hold({ ...response } as never, 'x'), { status: 503 });
    response.emit('close');
    assert.equal(budget.bytes, 0);
  });
});
