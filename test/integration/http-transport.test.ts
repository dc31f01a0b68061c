import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, readFile } from 'node:fs/promises';
import { Agent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { ingestRoutes } from '../../plugins/database-http/ingest/routes.ts';
import { developmentCertificate } from '../../plugins/database-http/transport/certificate.ts';
import { until } from '../support/until.ts';
import { HttpFixture, send } from './http-fixture.ts';

describe('the port of the database HTTP API', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start({ 'max.connections': '5', 'address.connections': '5' })));
  after(() => api.close());

  it('answers over TLS with a certificate that its authority file vouches for', async () => {
    const reply = await api.query('select 1');
    assert.equal(reply.status, 200);
    await assert.rejects(send(`${api.url}/restapi/query`, 'POST', { body: 'select 1' }), /self-signed|unable to/);
  });

  it('reports in every answer the duration of reading, of the database and in total', async () => {
    const calls: [method: string, path: string, body?: string][] = [
      ['GET', 'login'],
      ['GET', 'session'],
      ['DELETE', 'session', 'no session'],
      ['POST', 'ddl', 'create table if not exists timed (k_timestamp timestamptz primary key, v int8)'],
      ['POST', 'insert', 'insert into timed values (now(), 1)'],
      ['POST', 'query', 'select pg_sleep(0.05)'],
      ['POST', 'query', 'select * from missing'],
      ['POST', 'linedb', 'timed v=1i'],
      ['POST', 'collector', 'timed v=1i'],
      ['POST', 'tsdbjson', '{"metric":"timed.v","timestamp":1700000000,"value":1}'],
      ['POST', 'tsdbtelnet', 'timed.v 1700000000 1'],
      ['POST', 'nowhere', 'x'],
    ];
    const service = await api.another({}, { routes: ingestRoutes() });
    const ca = await readFile(join(api.directory, 'ca.pem'));
    for (const [method, path, body] of calls) {
      const url = `${service.address ?? ''}/restapi/${path}`;
      const reply = await send(url, method, { authorization: api.admin, ca, ...(body === undefined ? {} : { body }) });
      const timing = String(reply.headers['server-timing']);
      const [, parse, db, total] = /^parse;dur=([\d.]+), db;dur=([\d.]+), total;dur=([\d.]+)$/.exec(timing) ?? [];
      assert.ok(Number(parse) + Number(db) <= Number(total) * 2 + 1, `${path}: ${timing}`);
      if (body?.includes('pg_sleep') === true) assert.ok(Number(db) >= 45 && Number(parse) < 45, timing);
    }
  });

  it('sends plain HTTP to https with 307, host and query kept', async () => {
    const plain = api.url.replace('https:', 'http:');
    const reply = await send(`${plain}/restapi/query?db=a%20b&tz=8`, 'POST', {
      authorization: api.admin,
      body: 'select 1',
    });
    assert.equal(reply.status, 307);
    assert.equal(reply.headers['location'], `${api.url}/restapi/query?db=a%20b&tz=8`);
    assert.equal(reply.text, '');
  });

  it('speaks TLS 1.2 and newer alone', async () => {
    const { hostname, port } = new URL(api.url);
    const options = { host: hostname, port: Number(port), rejectUnauthorized: false };
    const modern = connectTls({ ...options, maxVersion: 'TLSv1.2' });
    await once(modern, 'secureConnect');
    assert.equal(modern.getProtocol(), 'TLSv1.2');
    modern.destroy();
    const old = connectTls({ ...options, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
    await assert.rejects(once(old, 'secureConnect'));
    old.destroy();
  });

  it('rejects connections that do not speak HTTP, without an effect on others', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(Buffer.from([0x16, 3, 1, 0xff, 0xff, 0, 0, 0]));
    socket.on('error', () => undefined);
    assert.equal((await api.query('select 1')).status, 200);
    socket.destroy();
  });

  it('answers 503 with Retry-After beyond its connections, and serves again when one is closed', async () => {
    const held = new AbortController();
    const { signal } = held;
    const running = Array.from({ length: 5 }, () =>
      api.call('POST', '/restapi/query', api.admin, { body: 'select pg_sleep(60)', signal }).catch(() => undefined),
    );
    const count = "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'";
    await until(async () => (await api.sql.number(count)) === 5, 'five requests run');
    const reply = await api.query('select 1');
    assert.equal(reply.status, 503);
    assert.equal(reply.headers['retry-after'], '1');
    assert.equal(reply.headers['connection'], 'close');
    assert.deepEqual(reply.body, { code: -1, desc: 'too many HTTP connections: at most 5 at the same time' });
    held.abort();
    await Promise.all(running);
    await until(async () => (await api.query('select 1')).status === 200, 'a connection is free');
  });
});

describe('M1: one client address, over TLS and without further options', () => {
  let api: HttpFixture;
  const sockets: TLSSocket[] = [];
  before(async () => (api = await HttpFixture.start()));
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await api.close();
  });

  it('has 100 requests with one token at once', async () => {
    const token = await api.login();
    const replies = await Promise.all(Array.from({ length: 100 }, () => api.query('select 1', token)));
    assert.deepEqual(
      replies.map(({ status }) => status),
      Array.from({ length: 100 }, () => 200),
    );
  });

  it('has 150 connections, and above them 503 with a body and no reset', async () => {
    const { hostname, port } = new URL(api.url);
    /** A request whose body is still to come, on a connection of its own. */
    const begin = () => {
      const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
      sockets.push(socket);
      const seen = { socket, text: '', failure: '' };
      socket.on('data', (chunk: Buffer) => (seen.text += chunk.toString()));
      socket.on('error', (error: Error) => (seen.failure = error.message));
      socket.write(
        `POST /restapi/query HTTP/1.1\r\nHost: a\r\nAuthorization: ${api.admin}\r\nContent-Length: 8\r\n\r\nselect `,
      );
      return seen;
    };
    const all = Array.from({ length: 250 }, begin);
    const refused = () => all.filter(({ text }) => text.startsWith('HTTP/1.1 503 '));
    await until(() => refused().length >= 100, 'a hundred are refused', { timeoutMs: 25_000 });
    for (const { text } of refused())
      assert.ok(text.endsWith('{"code":-1,"desc":"too many HTTP connections: at most 150 at the same time"}'), text);
    const taken = all.filter((each) => !refused().includes(each));
    assert.equal(taken.length, 150);
    for (const { socket } of taken) socket.write('1');
    await until(() => taken.every(({ text }) => text.startsWith('HTTP/1.1 200 ')), 'the others are answered', {
      timeoutMs: 25_000,
    });
    assert.deepEqual([...new Set(all.map(({ failure }) => failure))], ['']);
  }).timeout(60_000);
});

describe('the service', () => {
  it('takes a connection.url with a user and no database: the database is default.database (S6)', async () => {
    const api = await HttpFixture.start();
    try {
      const { user, password, database, url } = api.access;
      for (const named of ['', '/missing']) {
        const service = await api.another({
          'connection.url': `postgresql://${user}@${new URL(url).host}${named}`,
          'connection.password': password,
        });
        const reply = await send(`${service.address ?? ''}/restapi/query`, 'POST', {
          authorization: api.admin,
          ca: await readFile(join(api.directory, 'ca.pem')),
          body: 'select current_database()',
        });
        assert.deepEqual(reply.body['data'], [[database]]);
        await service.stop();
      }
    } finally {
      await api.close();
    }
  });

  it('reads a changed certificate again without a restart', async () => {
    const api = await HttpFixture.start();
    try {
      const one = join(api.directory, 'one');
      const two = join(api.directory, 'two');
      const first = await developmentCertificate(one);
      const second = await developmentCertificate(two);
      const service = await api.another(
        { 'tls.certificate': first.certificatePath, 'tls.key': first.keyPath },
        { certificateCheckMs: 20 },
      );
      const { hostname, port } = new URL(service.address ?? '');
      const serial = async (): Promise<string> => {
        const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
        await once(socket, 'secureConnect');
        const { serialNumber } = socket.getPeerCertificate();
        socket.destroy();
        return serialNumber;
      };
      const serialOf = async (path: string) => new X509Certificate(await readFile(path)).serialNumber;
      assert.equal(await serial(), await serialOf(first.certificatePath));
      // For a moment certificate and key do not fit.
      await copyFile(second.keyPath, first.keyPath);
      await copyFile(second.certificatePath, first.certificatePath);
      const expected = await serialOf(second.certificatePath);
      await until(async () => (await serial()) === expected, 'the new certificate is shown');
    } finally {
      await api.close();
    }
  });

  it('speaks plain HTTP when tls=off', async () => {
    const api = await HttpFixture.start({ tls: 'off', listeners: 'http://127.0.0.1:0' });
    try {
      assert.match(api.url, /^http:/);
      assert.deepEqual((await api.query('select 1')).body['data'], [[1]]);
    } finally {
      await api.close();
    }
  });

  it('lets running requests end when it stops, and takes no new ones', async () => {
    const api = await HttpFixture.start();
    try {
      const running = api.query('select 1 from pg_sleep(0.5)');
      await until(
        async () =>
          (await api.sql.number(
            "select count(*) from pg_stat_activity where query like '%pg_sleep(0.5)' and state = 'active' and pid <> pg_backend_pid()",
          )) === 1,
        'the statement runs',
      );
      const stopped = api.service.stop();
      await assert.rejects(api.query('select 1'));
      assert.equal((await running).status, 200);
      await stopped;
    } finally {
      await api.close();
    }
  });

  it('cancels running requests when the grace period is over', async () => {
    const api = await HttpFixture.start({ 'shutdown.grace.ms': '100' });
    try {
      const running = api.query('select 1 from pg_sleep(60)').catch((error: unknown) => error);
      await until(
        async () =>
          (await api.sql.number(
            "select count(*) from pg_stat_activity where query like '%pg_sleep(60)' and state = 'active' and pid <> pg_backend_pid()",
          )) === 1,
        'the statement runs',
      );
      const startedAt = performance.now();
      await api.service.stop();
      assert.ok(performance.now() - startedAt < 30_000);
      await running;
    } finally {
      await api.close();
    }
  });

  it('answers 503 while the database is unreachable', async () => {
    const api = await HttpFixture.start();
    try {
      const port = new URL(api.access.url).port;
      const service = await api.another({ 'connection.url': api.access.url.replace(`:${port}/`, ':1/') });
      for (const [method, path] of [
        ['GET', 'login'],
        ['POST', 'query'],
      ] as const) {
        const reply = await api.call(
          method,
          `/restapi/${path}`,
          api.admin,
          path === 'query' ? { body: 'select 1' } : {},
        );
        assert.equal(reply.status, 200);
        const away = await send(`${service.address ?? ''}/restapi/${path}`, method, {
          authorization: api.admin,
          ca: await readFile(join(api.directory, 'ca.pem')),
          ...(path === 'query' ? { body: 'select 1' } : {}),
        });
        assert.equal(away.status, 503);
        assert.match(String(away.headers['retry-after']), /^\d+$/);
        assert.equal(away.body['desc'], 'the database is not available now, please try again later');
      }
    } finally {
      await api.close();
    }
  });

  it('refuses more requests at once with one token than the limit, and no other user', async () => {
    const api = await HttpFixture.start({ 'token.connections': '3' });
    try {
      const token = await api.login();
      const slow = Array.from({ length: 3 }, () => api.query('select 1 from pg_sleep(0.6)', token));
      await until(
        async () =>
          (await api.sql.number(
            "select count(*) from pg_stat_activity where query like '%pg_sleep(0.6)' and state = 'active' and pid <> pg_backend_pid()",
          )) === 3,
        'three statements run',
      );
      const fourth = await api.query('select 1', token);
      assert.equal(fourth.status, 503);
      assert.equal(fourth.headers['retry-after'], '1');
      assert.match(String(fourth.body['desc']), /too many concurrent connections with this token: at most 3/);
      assert.equal((await api.query('select 1')).status, 200);
      assert.deepEqual(
        (await Promise.all(slow)).map(({ status }) => status),
        [200, 200, 200],
      );
      assert.equal((await api.query('select 1', token)).status, 200);
    } finally {
      await api.close();
    }
  });

  it('keeps connections open between requests', async () => {
    const api = await HttpFixture.start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    try {
      const ports = new Set<number | undefined>();
      for (let index = 0; index < 3; index++) {
        const { hostname, port } = new URL(api.url);
        await new Promise<void>((resolve, reject) => {
          const sent = httpsRequest(
            {
              host: hostname,
              port,
              agent,
              method: 'POST',
              path: '/restapi/query',
              headers: { Authorization: api.admin },
            },
            (response) => {
              ports.add(response.socket.localPort);
              response.resume();
              response.on('end', resolve);
            },
          );
          sent.on('error', reject);
          sent.end('select 1');
        });
      }
      assert.equal(ports.size, 1);
    } finally {
      agent.destroy();
      await api.close();
    }
  });
});
