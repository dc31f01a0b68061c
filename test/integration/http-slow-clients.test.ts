import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ingestRoutes } from '../../plugins/database-http/ingest/routes.ts';
import { until } from '../support/until.ts';
import { HttpFixture } from './http-fixture.ts';

const TIMEOUTS = { 'client.timeout.ms': '300', 'client.headers.timeout.ms': '300' };

describe('a client that stalls', () => {
  let api: HttpFixture;
  before(async () => {
    const plain = { tls: 'off', listeners: 'http://127.0.0.1:0', 'query.max.bytes': '500000000' };
    api = await HttpFixture.start({ ...plain, ...TIMEOUTS }, { routes: ingestRoutes() });
  });
  after(() => api.close());

  function open(): Socket {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    return socket;
  }

  /** Resolves with all bytes that arrive until the connection is closed. */
  async function answerTo(socket: Socket, sent: string): Promise<string> {
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(sent);
    await once(socket, 'close');
    return answer;
  }

  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${api.admin}\r\nContent-Length: ${String(length)}\r\n\r\n`;

  /** Statements of the API that run, or have a transaction open. */
  const busy = () =>
    api.sql.number(`select count(*) from pg_stat_activity where pid <> pg_backend_pid()
      and datname = current_database() and state <> 'idle'`);

  it('in its headers is cut off', async () => {
    assert.match(await answerTo(open(), 'POST /restapi/query HTTP/1.1\r\nHost: a\r\nX-Slow: '), /^HTTP\/1\.1 408 /);
  });

  it('in its body is cut off, and leaves nothing behind', async () => {
    await api.post('/restapi/linedb', 'stalled v=1i 1000');
    assert.equal(await answerTo(open(), `${head('/restapi/linedb', 1000)}stalled v=2i 2000\nstalled v=`), '');
    assert.equal(await answerTo(open(), `${head('/restapi/insert', 1000)}insert into stalled`), '');
    assert.deepEqual((await api.query('select sum(v) from stalled')).body['data'], [[1]]);
    await until(async () => (await busy()) === 0, 'nothing runs');
  });

  it('while it is answered is cut off, and its statement is cancelled', async () => {
    const sql = "select n, repeat('x', 1000) from generate_series(1, 400000) n";
    const socket = open();
    socket.write(`${head('/restapi/query', sql.length)}${sql}`);
    await once(socket, 'data');
    socket.pause();
    assert.equal((await api.query('select 1')).status, 200);
    await until(async () => (await busy()) === 0, 'nothing runs', { timeoutMs: 25_000 });
    let rest = '';
    socket.on('data', (chunk: Buffer) => (rest = rest.slice(-20) + chunk.toString('latin1')));
    socket.resume();
    await until(() => socket.closed, 'the connection is closed', { timeoutMs: 25_000 });
    assert.doesNotMatch(rest, /0\r\n(?:X-Truncated: true\r\n)?\r\n$/);
  });

  it('is not one that waits for the database', async () => {
    const sql = `select case n when 1000 then pg_sleep(0.4) when 1500 then pg_sleep(0.4) end, repeat('x', 10)
      from generate_series(1, 3000) n`;
    const reply = await api.query(sql);
    assert.deepEqual([reply.status, reply.body['rows']], [200, 3000]);
  });
});

describe('clients that take their answers slowly', () => {
  it('give way, the slowest first, when other requests of their user wait for a connection', async () => {
    const api = await HttpFixture.start({
      tls: 'off',
      listeners: 'http://127.0.0.1:0',
      'query.max.bytes': '500000000',
      'user.connections': '2',
      'connection.wait.ms': '20000',
      'client.timeout.ms': '600000',
    });
    const sockets: Socket[] = [];
    const { hostname, port } = new URL(api.url);
    const slow = async (): Promise<void> => {
      const sql = "select n, repeat('x', 1000) from generate_series(1, 400000) n";
      const socket = connect(Number(port), hostname);
      sockets.push(socket);
      socket.on('error', () => undefined);
      const length = String(sql.length);
      socket.write(
        `POST /restapi/query HTTP/1.1\r\nHost: a\r\nAuthorization: ${api.admin}\r\nContent-Length: ${length}\r\n\r\n${sql}`,
      );
      await once(socket, 'data');
      socket.pause();
    };
    try {
      await slow();
      await slow();
      const read = await api.query('select 1');
      assert.deepEqual([read.status, read.body['data']], [200, [[1]]]);
      const streaming = `select count(*) from pg_stat_activity where datname = current_database() and query like '%generate_series%'
        and pid <> pg_backend_pid() and state <> 'idle'`;
      assert.equal(await api.sql.number(streaming), 1);
    } finally {
      for (const socket of sockets) socket.destroy();
      await api.close();
    }
  });
});

describe('a client that stalls before TLS', () => {
  it('is cut off: without a byte, and in the handshake', async () => {
    const api = await HttpFixture.start(TIMEOUTS);
    try {
      const { hostname, port } = new URL(api.url);
      for (const sent of [Buffer.alloc(0), Buffer.from([0x16, 3, 1])]) {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        socket.write(sent);
        socket.resume();
        await until(() => socket.closed, 'the connection is closed', { timeoutMs: 25_000 });
      }
    } finally {
      await api.close();
    }
  });
});

describe('clients that send garbage', () => {
  it('slow no other client down and stop none of its requests', async () => {
    const api = await HttpFixture.start(
      { ...TIMEOUTS, 'max.connections': '400', 'address.connections': '400' },
      { routes: ingestRoutes() },
    );
    const { hostname, port } = new URL(api.url);
    const sockets: Socket[] = [];
    const keep = (socket: Socket): Socket => {
      socket.on('error', () => undefined);
      sockets.push(socket);
      return socket;
    };
    const plain = (): Socket => keep(connect(Number(port), hostname));
    const secure = (): Socket => keep(connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }));
    try {
      await api.post('/restapi/linedb', 'kept v=0i 1');
      for (let round = 0; round < 5; round++) {
        plain().write(randomBytes(5000));
        plain().write(Buffer.concat([Buffer.from([0x16, 3, 1, 0xff, 0xff]), randomBytes(3000)]));
        plain();
        secure().write(randomBytes(5000));
        secure().write(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
        secure().write(`POST /restapi/linedb HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`);
        const gzip = `Authorization: ${api.admin}\r\nContent-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n`;
        secure().write(
          Buffer.concat([Buffer.from(`POST /restapi/linedb HTTP/1.1\r\nHost: a\r\n${gzip}`), randomBytes(5000)]),
        );
        const [stored, read] = await Promise.all([
          api.post('/restapi/linedb', `kept v=1i ${String(round + 1)}000`),
          api.query('select 1'),
        ]);
        assert.deepEqual([stored.body['code'], read.body['data']], [0, [[1]]]);
      }
      assert.deepEqual((await api.query('select count(*), sum(v) from kept')).body['data'], [[6, 5]]);
    } finally {
      for (const socket of sockets) socket.destroy();
      await api.close();
    }
  });
});
