import assert from 'node:assert/strict';
import { basic, HttpFixture } from './http-fixture.ts';

const NO_MATCH = 'the provided username and password did not match any credentials on the server.';
const UNKNOWN = 'Incorrect authentication token: can not find token, need login first';

describe('login and tokens', () => {
  let api: HttpFixture;
  let nowMs = Date.now();
  before(async () => (api = await HttpFixture.start({}, { nowMs: () => nowMs })));
  after(() => api.close());

  it('give a token of 32 hex digits for user and password, another one each time', async () => {
    const first = await api.call('GET', '/restapi/login', api.admin);
    const second = await api.call('GET', '/restapi/login', api.admin);
    assert.equal(first.status, 200);
    assert.deepEqual(Object.keys(first.body), ['code', 'token']);
    assert.equal(first.body['code'], 0);
    assert.match(String(first.body['token']), /^[0-9a-f]{32}$/);
    assert.notEqual(first.body['token'], second.body['token']);
    assert.equal(first.headers['content-type'], 'application/json');
  });

  it('take passwords with colons, which end the user name at the first one', async () => {
    const { authorization } = await api.role('', 'a:b::c');
    assert.equal((await api.query('select 1', authorization)).status, 200);
  });

  it('refuse wrong passwords, unknown users and roles without LOGIN alike', async () => {
    await api.sql.run(`DROP ROLE IF EXISTS http_no_login`, `CREATE ROLE http_no_login PASSWORD 'x'`);
    for (const authorization of [
      basic(api.access.user, 'wrong'),
      basic('nobody', 'x'),
      basic('http_no_login', 'x'),
      basic(api.access.user, ''),
    ]) {
      const reply = await api.call('GET', '/restapi/login', authorization);
      assert.equal(reply.status, 401);
      assert.deepEqual(reply.body, { code: -1, desc: NO_MATCH });
    }
    await api.sql.run('DROP ROLE http_no_login');
  });

  it('refuse invalid headers with the documented texts', async () => {
    const cases: [string | undefined, string][] = [
      [undefined, 'wrong username or password, please check'],
      ['Bearer abc', 'can not find Basic attribute, please check'],
      ['Basic', 'wrong username or password, please check'],
      ['Basic !!!', 'wrong username or password, please check'],
      [`Basic ${Buffer.from('nocolon').toString('base64')}`, 'wrong username or password, please check'],
    ];
    for (const [authorization, desc] of cases) {
      const reply = await api.call('GET', '/restapi/login', authorization);
      assert.equal(reply.status, 401, authorization ?? 'none');
      assert.deepEqual(reply.body, { code: -1, desc });
    }
  });

  it('refuse db at login', async () => {
    const reply = await api.call('GET', '/restapi/login?db=x', api.admin);
    assert.deepEqual([reply.status, reply.body], [400, { code: -1, desc: 'wrong db parameter for login.' }]);
  });

  it('answer unknown tokens with 401 in the shape of each endpoint', async () => {
    const token = `Basic ${'0'.repeat(32)}`;
    const ddl = await api.post('/restapi/ddl', 'create table x (a int)', token);
    assert.deepEqual([ddl.status, ddl.text], [401, `{"code":-1,"desc":["${UNKNOWN}"],"time":null}`]);
    const insert = await api.post('/restapi/insert', 'insert into x values (1)', token);
    assert.deepEqual(
      [insert.status, insert.text],
      [401, `{"code":-1,"desc":["${UNKNOWN}"],"rows":null,"notice":null,"time":null}`],
    );
    const query = await api.post('/restapi/query', 'select 1', basic(api.access.user, 'wrong'));
    assert.deepEqual(
      [query.status, query.text],
      [401, `{"code":-1,"desc":"${UNKNOWN}","time":null,"column_meta":null,"data":null,"rows":null}`],
    );
    const session = await api.call('GET', '/restapi/session', token);
    assert.deepEqual([session.status, session.body['desc']], [401, 'Incorrect authentication token: can not verify']);
  });

  it('end a token 60 minutes after its last use, and not before', async () => {
    const token = await api.login();
    nowMs += 59 * 60_000;
    assert.equal((await api.query('select 1', token)).status, 200);
    nowMs += 59 * 60_000;
    assert.equal((await api.query('select nonsense', token)).status, 500, 'failed statements refresh it too');
    nowMs += 59 * 60_000;
    assert.equal((await api.query('select 1', token)).status, 200);
    nowMs += 60 * 60_000;
    assert.equal((await api.query('select 1', token)).status, 401);
  });

  it('are refreshed by every operation, refused ones too', async () => {
    const token = await api.login();
    const operations: [method: string, path: string, body?: string][] = [
      ['GET', '/restapi/session'],
      ['DELETE', '/restapi/session', 'none'],
      ['POST', '/restapi/ddl', 'select 1'],
      ['POST', '/restapi/insert', ''],
      ['POST', '/restapi/query', 'drop table x'],
    ];
    for (const [method, path, body] of operations) {
      nowMs += 59 * 60_000;
      const reply = await api.call(method, path, token, body === undefined ? {} : { body });
      assert.notEqual(reply.status, 401, `${method} ${path}`);
    }
    assert.equal((await api.query('select 1', token)).status, 200);
  });

  it('change the validity by SET CLUSTER SETTING at once, and keep it over a restart', async () => {
    const token = await api.login();
    const set = await api.post('/restapi/ddl', 'SET CLUSTER SETTING server.rest.timeout=2;');
    assert.deepEqual({ ...set.body, time: 0 }, { code: 0, desc: ['success'], time: 0 });
    nowMs += 119_000;
    assert.equal((await api.query('select 1', token)).status, 200);
    const shown = await api.query('show cluster setting server.rest.timeout');
    assert.deepEqual(shown.body['data'], [['2']]);
    nowMs += 121_000;
    assert.equal((await api.query('select 1', token)).status, 401);
    const restarted = await api.another({}, { nowMs: () => nowMs });
    const before = api.service;
    api.service = restarted;
    await api.login();
    const kept = await api.query('show cluster setting server.rest.timeout');
    assert.deepEqual(kept.body['data'], [['2']]);
    api.service = before;
    await api.post('/restapi/ddl', 'reset cluster setting server.rest.timeout');
  });

  it('take minutes from 1 to 2^63-1, exactly', async () => {
    for (const value of ['0', '-1', '9223372036854775808', '1.5', "'x'"]) {
      const reply = await api.post('/restapi/ddl', `SET CLUSTER SETTING server.rest.timeout=${value}`);
      assert.equal(reply.body['code'], -1, value);
      assert.notEqual(reply.status, 200, value);
    }
    const largest = await api.post('/restapi/ddl', 'SET CLUSTER SETTING server.rest.timeout=9223372036854775807');
    assert.equal(largest.status, 200);
    const token = await api.login();
    const sessions = await api.call('GET', '/restapi/session', token);
    assert.match(sessions.text, /"MaxLifeTime":553402322211286548420,/);
    assert.match(sessions.text, /"ExpirationTime":"9999-12-31 23:59:59"/);
    await api.post('/restapi/ddl', 'SET CLUSTER SETTING server.rest.timeout=60');
  });

  it('let administrators alone change cluster settings: superusers and members of admin', async () => {
    const { authorization } = await api.role();
    const reply = await api.post('/restapi/ddl', 'SET CLUSTER SETTING server.rest.timeout=5', authorization);
    assert.equal(reply.status, 400);
    assert.match(reply.text, /only users with the admin role/);
  });
});

describe('sessions', () => {
  let api: HttpFixture;
  before(async () => {
    api = await HttpFixture.start();
    await api.sql.run('DO $$BEGIN CREATE ROLE admin; EXCEPTION WHEN duplicate_object THEN NULL; END$$');
  });
  after(() => api.close());

  async function list(authorization: string): Promise<Record<string, unknown>[]> {
    const reply = await api.call('GET', '/restapi/session', authorization);
    assert.equal(reply.status, 200);
    assert.deepEqual(Object.keys(reply.body), ['code', 'tokens']);
    return reply.body['tokens'] as Record<string, unknown>[];
  }

  it('are listed with the documented fields', async () => {
    const { name, authorization } = await api.role();
    assert.deepEqual(await list(authorization), []);
    const token = await api.login(authorization);
    const [session = {}] = await list(token);
    assert.deepEqual(Object.keys(session), [
      'SessionID',
      'Username',
      'Token',
      'MaxLifeTime',
      'LastLoginTime',
      'ExpirationTime',
    ]);
    assert.match(String(session['SessionID']), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.equal(session['Username'], name);
    assert.equal(session['Token'], token.slice('Basic '.length));
    assert.equal(session['MaxLifeTime'], 3600);
    const toMs = (text: unknown) => Date.parse(`${String(text).replace(' ', 'T')}Z`);
    assert.equal(toMs(session['ExpirationTime']) - toMs(session['LastLoginTime']), 3_600_000);
    assert.ok(Math.abs(toMs(session['LastLoginTime']) - Date.now()) < 10_000);
  });

  it('are seen by administrators all, by others their own, by token too; tokens of others are cut (M9)', async () => {
    const one = await api.role();
    const two = await api.role();
    const boss = await api.role('IN ROLE admin');
    const deputy = await api.role(`IN ROLE ${boss.name}`);
    const tokens = [
      await api.login(one.authorization),
      await api.login(one.authorization),
      await api.login(two.authorization),
    ];
    const users = (sessions: Record<string, unknown>[]) => sessions.map((session) => session['Username']);
    assert.deepEqual(users(await list(one.authorization)), [one.name, one.name]);
    const tokensOf = (sessions: Record<string, unknown>[]) =>
      sessions.map((session) => `Basic ${String(session['Token'])}`).sort();
    for (const own of [one.authorization, tokens[0], tokens[1]]) {
      assert.deepEqual(tokensOf(await list(own ?? '')), tokens.slice(0, 2).sort());
    }
    for (const administrator of [api.admin, boss.authorization, deputy.authorization]) {
      const seen = users(await list(administrator));
      assert.equal(seen.filter((name) => name === one.name).length, 2);
      assert.equal(seen.filter((name) => name === two.name).length, 1);
      const text = JSON.stringify(await list(administrator));
      for (const token of tokens) {
        const shown = token.slice('Basic '.length);
        assert.deepEqual([text.includes(shown), text.includes(`"${shown.slice(0, 8)}*"`)], [false, true]);
      }
    }
    const bosses = await api.login(boss.authorization);
    const own = (await list(bosses)).filter((session) => session['Username'] === boss.name);
    assert.deepEqual(tokensOf(own), [bosses]);
  });

  it('are deleted by their user, also by token and with a line break after the id, and by administrators', async () => {
    const one = await api.role();
    const other = await api.role();
    const token = await api.login(one.authorization);
    const [session = {}] = await list(token);
    const id = String(session['SessionID']);
    const foreign = await api.call('DELETE', '/restapi/session', other.authorization, { body: id });
    assert.deepEqual([foreign.status, foreign.body], [400, { code: -1, desc: 'do not have authority, please check.' }]);
    const deleted = await api.call('DELETE', '/restapi/session', token, { body: `${id}\r\n` });
    assert.deepEqual([deleted.status, deleted.body], [200, { code: 0, desc: 'delete success' }]);
    assert.equal((await api.query('select 1', token)).status, 401);
    const again = await api.call('DELETE', '/restapi/session', one.authorization, { body: id });
    assert.deepEqual(again.body, { code: -1, desc: 'no connid matching the given one was found.' });
    const third = await api.login(one.authorization);
    const [mine = {}] = await list(third);
    const byAdmin = await api.call('DELETE', '/restapi/session', api.admin, { body: String(mine['SessionID']) });
    assert.equal(byAdmin.status, 200);
    const empty = await api.call('DELETE', '/restapi/session', api.admin, {});
    assert.equal(empty.status, 400);
    assert.match(String(empty.body['desc']), /^invalid request body: send the id of a session/);
  });

  it('are ended by their own token without a body (M9)', async () => {
    const { authorization } = await api.role();
    const tokens = [await api.login(authorization), await api.login(authorization), await api.login(authorization)];
    for (const [index, body] of [undefined, ' \n'].entries()) {
      const reply = await api.call('DELETE', '/restapi/session', tokens[index], body === undefined ? {} : { body });
      assert.deepEqual([reply.status, reply.body], [200, { code: 0, desc: 'delete success' }]);
      assert.equal((await api.query('select 1', tokens[index])).status, 401);
    }
    assert.equal((await api.query('select 1', tokens[2])).status, 200);
  });
});

describe('the rights of two users', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  it('are those of their roles in the database', async () => {
    await api.post('/restapi/ddl', 'create table secrets (a int); create table shared (a int)');
    const reader = await api.role();
    const writer = await api.role();
    await api.post(
      '/restapi/ddl',
      `grant select on shared to ${reader.name}; grant insert on shared to ${writer.name}`,
    );
    const token = await api.login(reader.authorization);
    const denied = await api.query('select * from secrets', token);
    assert.deepEqual(
      [denied.status, denied.body['code'], denied.body['desc']],
      [500, 500, 'pq: permission denied for table secrets'],
    );
    assert.equal((await api.query('select * from shared', token)).status, 200);
    const insert = await api.post('/restapi/insert', 'insert into shared values (1)', token);
    assert.deepEqual(insert.body['desc'], [
      'pq: permission denied for table shared: INSERT needs the privilege INSERT on it',
    ]);
    assert.equal(
      (await api.post('/restapi/insert', 'insert into shared values (1)', writer.authorization)).status,
      200,
    );
    const who = await Promise.all(
      [reader, writer].map(({ authorization }) => api.query('select current_user', authorization)),
    );
    assert.deepEqual(
      who.map(({ body }) => body['data']),
      [[[reader.name]], [[writer.name]]],
    );
  });

  it('do not grow by a SET ROLE inside a statement of an earlier request', async () => {
    const { authorization } = await api.role();
    await api.query("select set_config('role', 'postgres', false)", authorization);
    await api.query("select set_config('search_path', 'pg_catalog', false)", authorization);
    const reply = await api.query("select current_setting('role'), current_setting('search_path')", authorization);
    assert.deepEqual(reply.body['data'], [['none', '"$user", public']]);
  });
});

describe('requests with a password', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  it('that come together are checked by one new connection, and later ones by none', async () => {
    const { name, authorization } = await api.role();
    const replies = await Promise.all(Array.from({ length: 20 }, () => api.query('select 1', authorization)));
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    const logins = await api.sql.rows(
      `select count(*) from pg_stat_activity where usename = '${name}' and application_name like 'sluice login%'`,
    );
    assert.deepEqual(logins, [['0']]);
  });

  it('that is guessed are slowed down, and the correct one still works', async () => {
    const { name, authorization } = await api.role();
    const startedAt = performance.now();
    for (let index = 0; index < 6; index++) {
      assert.equal((await api.query('select 1', basic(name, `guess ${String(index)}`))).status, 401);
    }
    assert.ok(performance.now() - startedAt > 300);
    assert.equal((await api.query('select 1', authorization)).status, 200);
  });

  it('show it in no session, no answer and no log', async () => {
    const { authorization } = await api.role('', 'very-secret-word');
    await api.login(authorization);
    const replies = [
      await api.call('GET', '/restapi/session', api.admin),
      await api.query('select * from missing', authorization),
      await api.query('select 1', authorization, '?db=missing'),
    ];
    for (const { text } of replies) assert.equal(text.includes('very-secret-word'), false);
  });
});
