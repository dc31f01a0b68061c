import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../support/until.ts';
import { HttpFixture, send, type Reply } from './http-fixture.ts';

const PLAIN = { tls: 'off', listeners: 'http://127.0.0.1:0' };
/** 1,000 bytes a row, with a pause after the 3,000th. */
const slow = (rows: number, pause: string): string =>
  `select n, repeat('x', 1000), case when n = 3000 then ${pause} end from generate_series(1, ${String(rows)}) n`;

function held(reply: Reply): readonly unknown[] {
  return [reply.status, reply.body['code'], reply.body['rows'], reply.body['truncated']];
}

/** M3: the answer of a query is sent when it is known how the query ended. */
describe('an answer of up to 5 MB', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start(PLAIN)));
  after(() => api.close());

  it('reports a failure of the query by status, code and desc, however late it was (M3)', async () => {
    const reply = await api.query(slow(4000, 'pg_sleep(0.15)').replace('from', ', 1 / (3500 - n) from'));
    const { desc, ...rest } = reply.body;
    assert.deepEqual([reply.status, desc], [500, 'pq: division by zero']);
    assert.deepEqual(rest, { code: 500, time: null, column_meta: null, data: null, rows: null });
  });

  it('reports omitted rows by a header, however late that was (M3)', async () => {
    const reply = await api.query(slow(6000, 'pg_sleep(0.15)'));
    assert.deepEqual([reply.headers['x-truncated'], reply.headers['trailer']], ['true', undefined]);
    assert.equal(reply.headers['content-length'], String(reply.bytes.length));
    assert.equal(reply.body['rows'], (reply.body['data'] as unknown[]).length);
  });

  it('is sent after the database connection was given back, so that slow readers hold none (M3, H7)', async () => {
    const sql = slow(4900, 'pg_sleep(0.15)');
    const sockets = Array.from({ length: 5 }, () => ask(api, sql));
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'readable')));
      const inUse = () =>
        api.sql.number(`select count(*) from pg_stat_activity where pid <> pg_backend_pid()
          and datname = current_database() and backend_type = 'client backend' and state <> 'idle'`);
      await until(async () => (await inUse()) === 0, 'all connections are idle');
      for (const socket of sockets) {
        const text = await rest(socket);
        assert.deepEqual([text.slice(0, 13), text.slice(-14)], ['HTTP/1.1 200 ', '],"rows":4900}']);
      }
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('of rows much wider than it are left out without being held (M3)', async () => {
    const service = await api.separate();
    const query = (body: string) => send(`${service.url}/restapi/query`, 'POST', { authorization: api.admin, body });
    try {
      await query('select 1');
      const before = await service.peakBytes();
      const reply = await query("select repeat('x', 1000000) from generate_series(1, 300)");
      assert.deepEqual(held(reply), [200, 0, 5, true]);
      const grownMb = Math.round(((await service.peakBytes()) - before) / 1e6);
      console.log(`      ${String(grownMb)} MB more for 300 MB of rows`);
      assert.ok(grownMb < 150, `grew by ${String(grownMb)} MB for 300 MB of rows`);
    } finally {
      await service.stop();
    }
  });
});

describe('answers that fill the room for held ones', () => {
  let api: HttpFixture;
  let ordinary: { name: string; authorization: string };
  before(async () => {
    // Room for two, one of each user.
    api = await HttpFixture.start({
      ...PLAIN,
      'query.held.bytes': String(10 * 1024 * 1024),
      'connection.wait.ms': '800',
    });
    ordinary = await api.role();
  });
  after(() => api.close());

  const sleeping = (): Promise<number> =>
    api.sql.number(
      `select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
    );

  it('make others of more than 64 kB wait: those get 503 after connection.wait.ms, or their turn (M3)', async () => {
    const controller = new AbortController();
    const holder = api.call('POST', '/restapi/query', api.admin, {
      body: slow(4000, 'pg_sleep(60)'),
      signal: controller.signal,
    });
    const gone = assert.rejects(holder);
    await until(async () => (await sleeping()) === 1, 'an answer has its room and is not complete');
    const [refused, small, other] = await Promise.all([
      api.query(slow(2000, 'null')),
      api.query('select 1'),
      api.query(slow(2000, 'null'), ordinary.authorization),
    ]);
    assert.deepEqual([refused.status, refused.body['code'], refused.headers['retry-after']], [503, -1, '1']);
    assert.match(String(refused.body['desc']), /query\.held\.bytes/);
    assert.deepEqual([small.status, small.body['data']], [200, [[1]]]);
    assert.deepEqual(held(other), [200, 0, 2000, undefined]);
    const waiting = api.query(slow(2000, 'null'));
    controller.abort();
    await gone;
    assert.deepEqual(held(await waiting), [200, 0, 2000, undefined]);
  });

  it('never wait for each other: many at once are all answered (M3)', async function () {
    const service = await api.another({ ...PLAIN, 'query.held.bytes': String(10 * 1024 * 1024) });
    api.service = service;
    const asked = [slow(4900, 'null'), slow(9000, 'null'), 'select n from generate_series(1, 100000) n', 'select 1'];
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        api.query(asked[index % asked.length] ?? '', index % 3 === 0 ? ordinary.authorization : api.admin),
      ),
    );
    assert.deepEqual(
      replies.map(({ status, body }) => [status, body['code'], (body['data'] as unknown[]).length === body['rows']]),
      replies.map(() => [200, 0, true]),
    );
  });
});

/** A request whose answer is not read yet. */
function ask(api: HttpFixture, sql: string): Socket {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const headers = `Host: a\r\nConnection: close\r\nAuthorization: ${api.admin}\r\nContent-Length: ${String(sql.length)}`;
  socket.write(`POST /restapi/query HTTP/1.1\r\n${headers}\r\n\r\n${sql}`);
  return socket;
}

async function rest(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(socket, 'end');
  return text;
}
