import assert from 'node:assert/strict';
import { until } from '../support/until.ts';
import { basic, HttpFixture } from '../integration/http-fixture.ts';

describe('users who may no longer log in', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start({}, { believedMs: 500 })));
  after(() => api.close());

  const answers = async (authorization: string) => (await api.query('select 1', authorization)).status;

  const connections = (name: string, query = '%') =>
    api.sql.number(`SELECT count(*) FROM pg_stat_activity WHERE usename = '${name}' AND query LIKE '${query}'`);

  const changes: readonly (readonly [what: string, change: string])[] = [
    ['has another password', "PASSWORD 'new'"],
    ['may not log in', 'NOLOGIN'],
    ['has a password that has run out', "VALID UNTIL '2020-01-01'"],
  ];
  for (const [what, change] of changes) {
    it(`S8: a token ends with a user who ${what}, and so do the connections`, async () => {
      const { name, authorization } = await api.role();
      const token = await api.login(authorization);
      assert.equal(await answers(token), 200);
      await api.sql.run(`ALTER ROLE ${name} ${change}`);
      await until(async () => (await answers(token)) === 401, 'the token is refused');
      assert.equal(await answers(authorization), 401);
      await until(async () => (await connections(name)) === 0, 'no connection is left');
      // The session is gone for good.
      const back = await api.call('GET', '/restapi/session', api.admin);
      assert.equal(back.text.includes(name), false);
    });
  }

  it('S8: a login is checked by the database even right after a successful one', async () => {
    const { name, authorization } = await api.role();
    assert.equal((await api.call('GET', '/restapi/login', authorization)).status, 200);
    await api.sql.run(`ALTER ROLE ${name} PASSWORD 'new'`);
    assert.equal((await api.call('GET', '/restapi/login', authorization)).status, 401);
    assert.equal((await api.call('GET', '/restapi/login', basic(name, 'new'))).status, 200);
  });

  it('S8: what the user runs is cancelled', async () => {
    const { name, authorization } = await api.role();
    const token = await api.login(authorization);
    const running = api.query('select pg_sleep(60)', token);
    await until(async () => (await connections(name, '%pg_sleep%')) === 1, 'the statement runs');
    await api.sql.run(`ALTER ROLE ${name} NOLOGIN`);
    assert.equal((await running).status, 401);
    await until(async () => (await connections(name)) === 0, 'no connection is left');
  });
});

describe('clients that guess passwords', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start({ 'trusted.proxies': '127.0.0.1' }, { believedMs: 1 })));
  after(() => api.close());

  const login = async (authorization: string, from: string): Promise<number> =>
    (await api.call('GET', '/restapi/login', authorization, { headers: { 'X-Forwarded-For': from } })).status;

  it('S7: from many addresses do not keep the user out where he has been, and guesses of made-up names do not delay others', async () => {
    const user = await api.role();
    const other = await api.role();
    assert.equal(await login(user.authorization, '198.51.100.1'), 200);
    const guess = (index: number) => login(basic(user.name, `guess ${String(index)}`), `203.0.113.${String(index)}`);
    const addresses = Array.from({ length: 24 }, (_, index) => index);
    assert.deepEqual(new Set(await Promise.all(addresses.map(guess))), new Set([401]));
    const names = Array.from({ length: 12 }, (_, index) => basic(`nobody${String(index)}`, 'x'));
    await Promise.all(names.map((name) => login(name, '198.51.100.2')));
    const later = Promise.all([...addresses.map(guess), ...names.map((name) => login(name, '198.51.100.2'))]);
    // Also with a password that is new there.
    assert.equal(await login(user.authorization, '198.51.100.1'), 200);
    await api.sql.run(`ALTER ROLE ${user.name} PASSWORD 'another'`);
    assert.equal(await login(basic(user.name, 'another'), '198.51.100.1'), 200);
    assert.equal(await login(other.authorization, '198.51.100.2'), 200);
    assert.ok((await later).includes(503));
  });
});
