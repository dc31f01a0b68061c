import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PortListener, type ListenerSettings } from '../../../src/http/port-listener.ts';
import { answersTo, HOSTILE_REQUESTS, statusesOf } from '../../support/hostile-requests.ts';
import { until } from '../../support/until.ts';

describe('a slow client', () => {
  let listener: PortListener;
  let port: number;
  before(async () => {
    listener = new PortListener(
      {
        host: '127.0.0.1',
        port: 0,
        tls: undefined,
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

  it('that sends no further request on its connection is disconnected', async () => {
    const startedAt = performance.now();
    assert.match(await answerTo('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), /^HTTP\/1\.1 200 .*\r\n\r\nok$/s);
    assert.ok(performance.now() - startedAt < 5_000);
  });

  it('that does not end its request is cut off', async () => {
    assert.match(await answerTo('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'), /^HTTP\/1\.1 408 /);
  });
});

describe('connections beyond the limits', () => {
  let listener: PortListener;
  let port: number;
  const sockets: Socket[] = [];
  const running: ServerResponse[] = [];
  const listen = (settings: Partial<ListenerSettings>): PortListener =>
    new PortListener(
      { host: '127.0.0.1', port: 0, tls: undefined, maxConnections: 6, ...settings },
      (request, response) => {
        if (request.url === '/wait') running.push(response);
        else response.end('ok');
      },
      (_request, response) => response.writeHead(503).end(),
    );
  beforeEach(async () => {
    listener = listen({ maxPerAddress: 3 });
    port = await listener.listen();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    running.length = 0;
    listener.cut();
    await listener.close();
  });

  async function open(localAddress: string, sent?: string): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    await once(socket, 'connect');
    if (sent !== undefined) socket.write(`GET ${sent} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return socket;
  }

  async function ask(localAddress: string): Promise<string> {
    const socket = await open(localAddress, '/');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString().slice(9, 12);
  }

  it('S11, M1: are refused with 503 and not reset, and the silent ones of an address do not give way to another of its own', async () => {
    const silent: Socket[] = [];
    for (let index = 0; index < 10; index++) silent.push(await open('127.0.0.1'));
    assert.equal(await ask('127.0.0.1'), '503');
    assert.equal(await ask('127.0.0.2'), '200');
    assert.ok(silent.every(({ closed }) => !closed));
  });

  it('S11, M1: remain available to others if one address holds more than half of them silently', async () => {
    await listener.close();
    listener = listen({ maxPerAddress: undefined });
    port = await listener.listen();
    const silent: Socket[] = [];
    for (let index = 0; index < 6; index++) silent.push(await open('127.0.0.1'));
    for (let index = 0; index < 3; index++) await open(`127.0.0.${String(3 + index)}`, '/wait');
    await until(() => running.length === 3, 'three requests run');
    await until(() => silent.filter(({ closed }) => closed).length === 3, 'three of six have given way');
    assert.deepEqual(
      silent.map(({ closed }) => closed),
      [true, true, true, false, false, false],
    );
    assert.equal(await ask('127.0.0.9'), '503', 'the address has no more than half any longer');
  });

  it('S11, M1: make way when they have sent nothing for as long as headers may take', async () => {
    await listener.close();
    listener = listen({
      maxPerAddress: undefined,
      timeouts: { headersTimeout: 300, connectionsCheckingInterval: 60_000 },
    });
    port = await listener.listen();
    for (let index = 0; index < 6; index++) await open('127.0.0.1');
    assert.equal(await ask('127.0.0.1'), '503');
    await until(async () => (await ask('127.0.0.1')) === '200', 'the silent ones are idle');
  });

  it('S11: are closed if they are idle after a request, so that other clients are accepted', async () => {
    for (let index = 0; index < 12; index++) assert.equal(await ask(`127.0.0.${String(3 + (index % 4))}`), '200');
    assert.equal(await ask('127.0.0.2'), '200');
  });

  it('S11: are refused if all others are busy, only for the address that has too many', async () => {
    for (let index = 0; index < 3; index++) await open('127.0.0.1', '/wait');
    await until(() => running.length === 3, 'three requests run');
    assert.equal(await ask('127.0.0.1'), '503');
    assert.equal(await ask('127.0.0.2'), '200');
    running.pop()?.end('done');
    await until(async () => (await ask('127.0.0.1')) === '200', 'there is room again');
  });
});

describe('requests to the database HTTP API that are not well formed', () => {
  const seen: string[] = [];
  let listener: PortListener;
  let port: number;
  before(async () => {
    listener = new PortListener(
      { host: '127.0.0.1', port: 0, tls: undefined, maxConnections: 150 },
      (request, response) => {
        seen.push(request.url ?? '');
        request.resume().on('error', () => undefined);
        response.end('ok');
      },
      (_request, response) => response.writeHead(503).end(),
    );
    port = await listener.listen();
  });
  afterEach(() => seen.splice(0));
  after(async () => {
    listener.cut();
    await listener.close();
  });

  for (const { name, bytes, statuses } of HOSTILE_REQUESTS) {
    it(`are one request, and no other after it, with ${name}`, async () => {
      const [status = 0, ...others] = statusesOf(await answersTo(port, bytes));
      assert.ok(statuses?.includes(status) ?? [200, 400].includes(status), String(status));
      assert.deepEqual([others.filter((other) => other === 200), seen.includes('/smuggled')], [[], false]);
    });
  }
});
