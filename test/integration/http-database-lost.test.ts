import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import { storingRoutes } from '../../plugins/database-http/plugin.ts';
import { DatabaseHttpService } from '../../plugins/database-http/service.ts';
import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { parseOptions, silentLogger, type Logger } from '../../src/index.ts';
import { onServer, ownPostgres } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { basic, send, type Reply } from './http-fixture.ts';

describe('the database HTTP API with a separate database', () => {
  let postgres: LocalPostgres;
  let sql: SqlClient;
  const services: DatabaseHttpService[] = [];
  before(async () => {
    postgres = await ownPostgres();
    sql = new SqlClient(onServer(postgres, 'postgres'));
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await sql.close();
    await postgres.discard();
  });

  async function start(options: Record<string, string> = {}, logger: Logger = silentLogger) {
    const settings = parseOptions(serviceOptions, {
      listeners: 'http://127.0.0.1:0',
      tls: 'off',
      'connection.url': postgres.url(),
      'default.database': 'postgres',
      ...options,
    });
    const service = new DatabaseHttpService(settings, { logger }, storingRoutes());
    services.push(service);
    await service.start();
    const right = basic(postgres.user, postgres.password);
    return async (path: string, body: string, authorization = right): Promise<Reply> =>
      send(`${service.address ?? ''}${path.startsWith('/') ? '' : '/restapi/'}${path}`, body === '' ? 'GET' : 'POST', {
        authorization,
        ...(body === '' ? {} : { body }),
      });
  }

  const running = (text: string): Promise<number> =>
    sql.number(`select count(*) from pg_stat_activity where wait_event = 'PgSleep' and pid <> pg_backend_pid()
      and query like '%${text}%'`);

  describe('that is restarted', () => {
    it('fails running requests with the reason, and serves again with the same token, clean connections and no left session', async () => {
      const call = await start({ 'query.max.bytes': '50000000' });
      const token = `Basic ${String((await call('login', '')).body['token'])}`;
      await call('linedb', 'kept v=1i 1000', token);
      const query = call('query', 'select 1 from pg_sleep(60) /* lost */', token);
      const ddl = call(
        'ddl',
        'create table a (a int); select 1; create table b as select 1 c from pg_sleep(60) /* lost */',
        token,
      );
      const streamed = call(
        'query',
        `select repeat('x', 3000), case when n > 2000 then pg_sleep(60) end /* lost */ from generate_series(1, 3000) n`,
        token,
      );
      const broken = assert.rejects(streamed, /aborted|ECONNRESET|hang up/);
      // By then the first rows of the last one are on their way.
      await until(async () => (await running('lost')) === 3, 'three statements sleep');
      await postgres.kill();
      const [read, changed] = await Promise.all([query, ddl]);
      const away = 'the database is not available now, please try again later';
      assert.deepEqual([read.status, read.body['code'], read.body['desc'], read.body['data']], [503, -1, away, null]);
      assert.match(String(read.headers['retry-after']), /^\d+$/);
      assert.deepEqual(
        [changed.status, changed.body['desc']],
        [503, ['success', 'wrong statement for ddl interface and please check', away]],
      );
      await broken;
      for (const [path, body] of [
        ['query', 'select 1'],
        ['linedb', 'kept v=2i 2000'],
        ['insert', 'insert into kept values (now())'],
      ] as const) {
        const reply = await call(path, body, token);
        assert.deepEqual([reply.status, reply.body['code']], [503, -1], `${path}: ${reply.text}`);
      }
      await postgres.start();
      await sql.close();
      const again = await call(
        'query',
        `select current_user, session_user, current_setting('TimeZone'), sum(v) from kept`,
        token,
      );
      assert.deepEqual(again.body['data'], [['postgres', 'postgres', 'UTC', 1]], again.text);
      assert.equal((await call('linedb', 'kept v=3i 3000', token)).body['code'], 0);
      const left = `select count(*) from pg_stat_activity where backend_type = 'client backend' and
        pid <> pg_backend_pid() and (state <> 'idle' or query like '%lost%')`;
      await until(async () => (await sql.number(left)) === 0, 'all connections are idle and new');
    });

    it('is logged once when it is unreachable and once when it is reachable again, not with each request', async () => {
      const lines: { level: number; msg: string }[] = [];
      const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
      const call = await start({}, logger);
      const told = (): string[] => lines.filter(({ msg }) => msg.includes('the database is')).map(({ msg }) => msg);
      assert.equal((await call('query', 'select 1')).status, 200);
      assert.deepEqual(told(), []);
      await postgres.kill();
      for (let index = 0; index < 3; index++) {
        const replies = await Promise.all([
          call('query', 'select 1'),
          call('linedb', 'lost v=1i'),
          call('insert', 'insert into t values (1)'),
        ]);
        assert.deepEqual(
          replies.map(({ status }) => status),
          [503, 503, 503],
        );
      }
      assert.equal(told().length, 1, told().join('\n'));
      assert.match(told().join(), /^database HTTP API: the database is unreachable, requests are answered 503: /);
      await postgres.start();
      await sql.close();
      for (let index = 0; index < 3; index++) assert.equal((await call('query', 'select 1')).status, 200);
      assert.match(told().slice(1).join('\n'), /^database HTTP API: the database is reachable again after \d+ s$/);
      assert.deepEqual(
        lines.filter(({ msg }) => told().includes(msg)).map(({ level }) => level),
        [40, 30],
      );
    });

    it('does not disturb a client that creates its database and writes, as Telegraf does', async () => {
      const call = await start();
      await postgres.kill();
      const asked: string[] = [];
      const create = async (): Promise<Reply> =>
        call('/query', new URLSearchParams({ q: 'CREATE DATABASE "sent"' }).toString());
      // Telegraf creates its database at its start, whatever comes of it, and again where a write says that there is none. It repeats
      // what is answered with 5xx, and drops what is answered with another 4xx or as a partial write.
      const write = async (body: string): Promise<boolean> => {
        const { status, text } = await call('/write?db=sent', body);
        asked.push(`${String(status)} ${text}`);
        if (status === 404 && text.includes('database not found')) assert.equal((await create()).status, 200);
        else assert.ok(status === 204 || (status === 503 && !text.includes('partial write')), text);
        return status === 204;
      };
      assert.equal((await create()).status, 503);
      assert.equal(await write('sent v=1 1\nbad\nsent v=2 2'), false);
      const health = await call('/health', '');
      assert.deepEqual([health.status, health.body['status'], health.headers['retry-after']], [503, 'fail', '5']);
      await postgres.start();
      await sql.close();
      assert.equal(await write('sent v=1 1000\nsent v=2 2000'), false);
      assert.match(asked.at(-1) ?? '', /^404 \{"error":"database not found: \\"sent\\""/);
      assert.equal(await write('sent v=1 1000\nsent v=2 2000'), true);
      const stored = await call('query?db=sent', 'select count(*), sum(v) from sent');
      assert.deepEqual(stored.body['data'], [[2, 3]], stored.text);
      await until(async () => (await call('/health', '')).status === 200, 'it is well again');
    });

    it('restarts in the middle of a body, and the response has the number of stored rows', async () => {
      const call = await start();
      const row = (id: number): string => `middle v=${String(id)}i ${String(id + 1)}000\n`;
      const made = await call('linedb', row(0));
      assert.equal(made.body['code'], 0, made.text);
      await sql.run(
        `create function slow() returns trigger language plpgsql as
        'begin if new.v = 30000 then perform pg_sleep(60); end if; return new; end'`,
        'create trigger slow before insert on middle for each row execute function slow()',
      );
      const body = Array.from({ length: 40_000 }, (_, id) => row(id)).join('');
      const written = call('linedb', body);
      await until(
        async () => (await running('middle')) >= 1 && (await sql.number('select count(*) from middle')) >= 20_000,
        'some batches are stored',
      );
      await postgres.kill();
      const reply = await written;
      assert.deepEqual([reply.status, reply.body['code']], [503, -1]);
      await postgres.start();
      await sql.close();
      await sql.run('drop trigger slow on middle');
      assert.equal(await sql.number('select count(*) from middle'), Number(reply.body['rows']));
      const repeated = await call('linedb', body);
      assert.deepEqual([repeated.body['code'], repeated.body['rows']], [0, 40_000]);
      assert.equal(await sql.number('select count(*) from middle'), 40_000);
    });
  });

  describe('that requires no password', () => {
    before(() => rewriteAccess('trust'));
    after(() => rewriteAccess('scram-sha-256'));

    async function rewriteAccess(method: string): Promise<void> {
      const path = join(postgres.dataDir, 'pg_hba.conf');
      const rules = await readFile(path, 'utf8');
      await writeFile(path, rules.replace(/^(host .*\s)(?:scram-sha-256|md5|password|trust)$/gm, `$1${method}`));
      await sql.run('select pg_reload_conf()');
    }

    function remember(warnings: string[]): Logger {
      return pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    }

    it('rejects all users, and logs the reason at the start', async () => {
      const warnings: string[] = [];
      const call = await start({}, remember(warnings));
      await until(() => warnings.some((text) => text.includes('trust.authentication=warn')), 'the log tells');
      for (const password of ['postgres', 'anything']) {
        for (const [path, body] of [
          ['login', ''],
          ['query', 'select 1'],
        ] as const) {
          const reply = await call(path, body, basic('postgres', password));
          assert.deepEqual([reply.status, reply.body['code']], [401, -1]);
          assert.match(String(reply.body['desc']), /does not ask this user for a password/);
        }
      }
    });

    it('accepts all users with trust.authentication=warn, and warns once', async () => {
      const warnings: string[] = [];
      const call = await start({ 'trust.authentication': 'warn' }, remember(warnings));
      assert.equal((await call('query', 'select 1', basic('postgres', 'anything'))).status, 200);
      assert.equal((await call('query', 'select 1', basic('postgres', 'other'))).status, 200);
      assert.equal((await call('query', 'select 1', basic('nobody', 'other'))).status, 401);
      assert.equal(warnings.filter((text) => text.includes('any password is accepted')).length, 1);
    });
  });
});
