import assert from 'node:assert/strict';
import { pino } from 'pino';
import { storingRoutes } from '../../plugins/database-http/plugin.ts';
import { serviceCounts, serviceGauges, type ServiceFigure } from '../../src/observe/service-figures.ts';
import { until } from '../support/until.ts';
import { HttpFixture } from './http-fixture.ts';

type Line = Readonly<Record<string, unknown>> & { readonly msg: string };

describe('operators of the database HTTP API', () => {
  let api: HttpFixture;
  const lines: Line[] = [];
  before(async () => {
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
    const options = { tls: 'off', listeners: 'http://127.0.0.1:0', 'access.log': 'all' };
    api = await HttpFixture.start(options, { routes: storingRoutes() }, logger);
  });
  after(() => api.close());

  const counted = (name: string, labels: Readonly<Record<string, string>>): number =>
    serviceCounts()
      .filter((figure) => figure.name === `sluice_database_http_${name}_total`)
      .filter((figure) => Object.entries(labels).every(([label, value]) => figure.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  const lineOf = (requestId: string): Promise<Line> =>
    until(
      () => lines.find((line) => line['requestId'] === requestId && line['audit'] !== true),
      `a line of ${requestId}`,
    );
  const withId = async (path: string, body: string, id: string): Promise<void> => {
    const reply = await api.call('POST', path, api.admin, { body, headers: { 'X-Request-Id': id } });
    assert.equal(reply.headers['x-request-id'], id);
    await lineOf(id);
  };

  it('see requests, rows, faults and bytes of each route in the metrics', async () => {
    const route = { route: '/restapi/linedb' };
    const before = ['requests', 'rows', 'faults', 'received_bytes', 'sent_bytes'].map((name) => counted(name, route));
    await withId('/restapi/linedb', 'seen v=1 1000\nbad\nseen v=2 2000', 'id-1');
    await withId('/restapi/linedb', 'seen v=3 3000', 'id-2');
    const after = ['requests', 'rows', 'faults', 'received_bytes', 'sent_bytes'].map((name) => counted(name, route));
    const [requests, rows, faults, received = 0, sent = 0] = after.map((value, index) => value - (before[index] ?? 0));
    assert.deepEqual([requests, rows, faults], [2, 3, 1]);
    assert.ok(received > 200 && received < 2_000, String(received));
    assert.ok(sent > 200 && sent < 2_000, String(sent));
    assert.ok(counted('requests', { ...route, method: 'POST', status: '400' }) >= 1);
    const read = counted('rows', { route: '/restapi/query' });
    await withId('/restapi/query', 'select v from seen', 'id-3');
    assert.equal(counted('rows', { route: '/restapi/query' }) - read, 3);
    const unknown = counted('requests', { route: 'unknown', method: 'other', status: '404' });
    await api.call('PROPFIND', '/nowhere/at/all', undefined, { headers: { 'X-Request-Id': 'id-4' } });
    await lineOf('id-4');
    assert.equal(counted('requests', { route: 'unknown', method: 'other', status: '404' }) - unknown, 1);
  });

  it('see connections, sessions and the pool as they are now', async () => {
    const now = (name: string): number =>
      serviceGauges()
        .filter((figure: ServiceFigure) => figure.name === `sluice_database_http_${name}`)
        .reduce((sum, { value }) => sum + value, 0);
    const sessions = now('sessions');
    await api.login();
    assert.equal(now('sessions') - sessions, 1);
    const running = now('requests_running');
    const slow = api.query('select pg_sleep(0.5)');
    await until(() => now('requests_running') > running && now('pool_requests') > 0, 'the statement runs');
    assert.equal((await slow).status, 200);
    await until(() => now('requests_running') === running && now('pool_requests') === 0, 'it has ended');
  });

  it('read the user and path of each request in the access log, and never parameters and bodies', async () => {
    await withId('/restapi/query?tz=Europe/Oslo&secret=parameter', "select 'secret body'", 'trace/7');
    const { msg, user, address, status, rows, tookMs } = await lineOf('trace/7');
    assert.deepEqual(
      [msg, user, address, status, rows],
      ['database HTTP API: POST /restapi/query 200', api.access.user, '127.0.0.1', '200', 1],
    );
    assert.equal(typeof tookMs, 'number');
    assert.doesNotMatch(JSON.stringify(lines), /secret|Oslo/);
    const made = await api.call('GET', '/restapi/session', api.admin, { headers: { 'X-Request-Id': 'bad id\t' } });
    assert.match(String(made.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  });

  it('read of each change of definitions, rights, settings and sessions, without names and values', async () => {
    const { name, authorization } = await api.role();
    const before = lines.length;
    await withId(
      '/restapi/ddl',
      `create table hidden_name (a int); grant select on hidden_name to ${name}; drop table none`,
      'a1',
    );
    await withId('/restapi/ddl', "set cluster setting server.rest.timeout = '987654321'", 'a2');
    await api.call('DELETE', '/restapi/session', await api.login(authorization), { headers: { 'X-Request-Id': 'a3' } });
    await api.query('select 1');
    const told = lines.slice(before).filter((line) => line['audit'] === true);
    assert.deepEqual(
      told.map((line) => [line['requestId'], line['statement'], line['outcome'], line['user'], line['address']]),
      [
        ['a1', 'create', 'success', api.access.user, '127.0.0.1'],
        ['a1', 'grant', 'success', api.access.user, '127.0.0.1'],
        ['a1', 'drop', 'failure', api.access.user, '127.0.0.1'],
        ['a2', 'set-cluster-setting', 'success', api.access.user, '127.0.0.1'],
        ['a3', 'delete-session', 'success', name, '127.0.0.1'],
      ],
    );
    assert.ok(told.every((line) => line['database'] === api.access.database));
    assert.doesNotMatch(JSON.stringify(told), /hidden_name|987654321/);
    await api.post('/restapi/ddl', 'set cluster setting server.rest.timeout = default');
  });
});
