import assert from 'node:assert/strict';
import { REQUEST_CASES, type InfluxRequestCase } from '../golden/influxdb/request-cases.ts';
import { InfluxDb } from '../support/influxdb.ts';
import { uniqueName } from '../support/services.ts';
import { IngestFixture } from './http-ingest-fixture.ts';

interface Answer {
  readonly status: number;
  readonly answer: unknown;
}

/** Requests as clients of InfluxDB 1 send them: both servers are asked, where `influxd` is installed. */
describe('requests of InfluxDB clients before they write, compared with InfluxDB 1.6', () => {
  const made = uniqueName('asked').replaceAll('-', '_');
  const none = `no_${made}`;
  let api: IngestFixture;
  before(async () => (api = await IngestFixture.start()));
  after(async () => {
    await api.database.run(`DROP DATABASE IF EXISTS ${made} WITH (FORCE)`);
    await api.close();
  });

  const named = (text: string): string => text.replaceAll('NONE', none).replaceAll('DB', made);
  // `SHOW DATABASES` also has those that the case did not make, and positions count the characters of the names.
  const unnamed = (text: string): unknown =>
    JSON.parse(text.replaceAll(none, 'NONE').replaceAll(made, 'DB'), (key, value: unknown) =>
      key === 'values' && Array.isArray(value) ? value.filter((row) => String(row) === 'DB') : value,
    );

  async function asked(
    { path, database, body }: InfluxRequestCase,
    post: (path: string, body: string | URLSearchParams) => Promise<Response>,
  ): Promise<Answer> {
    const query = database === undefined ? '' : `?db=${named(database)}`;
    const response = await post(
      path + query,
      path === '/query' ? new URLSearchParams({ q: named(body) }) : named(body),
    );
    return { status: response.status, answer: unnamed(await response.text()) };
  }

  const expected = ({ body, status, answer }: InfluxRequestCase): Answer => {
    const longer = named(body).length - body.length;
    const text = JSON.stringify(answer).replace(/char (\d+)/, (_, at) => `char ${String(Number(at) + longer)}`);
    return { status, answer: JSON.parse(text) };
  };

  it('the expected answers are those of an influxd that is installed here', async function () {
    const influx = await InfluxDb.start();
    if (influx === undefined) this.skip();
    try {
      for (const each of REQUEST_CASES) {
        const answer = await asked(each, (path, body) => influx.post(path, body));
        assert.deepEqual({ name: each.name, ...answer }, { name: each.name, ...expected(each) });
      }
    } finally {
      await influx.stop();
    }
  });

  it('this API answers the same', async () => {
    for (const each of REQUEST_CASES) {
      const answer = await asked(each, (path, body) => post(path, body));
      // QuestDB, which has the same path, has further keys.
      const error = each.path === '/write' ? { error: (answer.answer as { error: unknown }).error } : answer.answer;
      assert.deepEqual(
        { name: each.name, status: answer.status, answer: error },
        { name: each.name, ...expected(each) },
      );
    }
  });

  const post = (path: string, body: string | URLSearchParams, authorization = api.authorization): Promise<Response> =>
    fetch(`${api.address}${path}`, { method: 'POST', body, headers: { Authorization: authorization } });
  const json = async (response: Promise<Response>): Promise<unknown> => (await response).json();

  it('statements that are not answered here say so at their number, and end the request', async () => {
    const q = new URLSearchParams({ q: `SHOW DATABASES; SELECT mean("a;b") FROM 'x;y'; CREATE DATABASE never_made` });
    const { results } = (await json(post('/query', q))) as { results: { statement_id: number; error?: string }[] };
    assert.deepEqual(
      results.map(({ statement_id, error }) => [statement_id, error]),
      [
        [0, undefined],
        [
          1,
          'only SHOW DATABASES, CREATE DATABASE, CREATE RETENTION POLICY and SHOW RETENTION POLICIES are answered here; send SQL to POST /restapi/query',
        ],
        [2, 'not executed'],
      ],
    );
    assert.deepEqual(await api.rows("SELECT count(*) FROM pg_database WHERE datname = 'never_made'"), [['0']]);
  });

  it('a duration is taken with a warning, because no rows are deleted by age', async () => {
    const q = (text: string): URLSearchParams => new URLSearchParams({ q: named(text) });
    const policy = await json(post('/query', q('CREATE RETENTION POLICY p ON DB DURATION 2h REPLICATION 1 DEFAULT')));
    const text = 'rows are not deleted by age here: the duration is ignored';
    assert.deepEqual(policy, { results: [{ statement_id: 0, messages: [{ level: 'warning', text }] }] });
    const columns = ['name', 'duration', 'shardGroupDuration', 'replicaN', 'default'];
    assert.deepEqual(await json(post('/query', q('SHOW RETENTION POLICIES ON DB'))), {
      results: [{ statement_id: 0, series: [{ columns, values: [['autogen', '0s', '168h0m0s', 1, true]] }] }],
    });
  });

  it('bodies beyond the limit are 413 on the paths of other systems, whose clients divide them then', async () => {
    const small = await IngestFixture.start({ 'max.body.bytes': '1000' });
    const body = Array.from({ length: 100 }, (_, id) => `large v=${String(id)} ${String(id)}`).join('\n');
    try {
      const reason = 'the request body is larger than 1000 bytes (max.body.bytes)';
      const answers: Record<string, unknown> = {
        '/write': { error: reason, code: 'request too large', message: reason },
        '/api/v2/write': { code: 'request too large', message: reason },
        '/api/v3/write_lp': { error: reason },
        '/api/put': { error: { code: 413, message: reason } },
      };
      for (const [path, answer] of Object.entries(answers)) {
        const reply = await small.post(path, body);
        assert.deepEqual([reply.status, reply.body], [413, answer], path);
      }
      const documented = await small.post('/restapi/linedb', body);
      assert.deepEqual([documented.status, documented.body.desc], [400, reason]);
    } finally {
      await small.close();
    }
  });

  it('buckets are databases, and one organization is there', async () => {
    const name = `bucket_${made}`;
    const bucket = JSON.stringify({ name, orgID: '0000000000000001', retentionRules: [] });
    const created = await post('/api/v2/buckets', bucket);
    assert.equal(created.status, 201);
    const shown = (await created.json()) as { id: string; name: string };
    assert.match(shown.id, /^[0-9a-f]{16}$/);
    const found = (await json(
      fetch(`${api.address}/api/v2/buckets?name=${name}`, { headers: { Authorization: api.authorization } }),
    )) as { buckets: unknown[] };
    assert.deepEqual(found.buckets, [
      { id: shown.id, orgID: '0000000000000001', type: 'user', name, retentionRules: [] },
    ]);
    const again = await post('/api/v2/buckets', bucket);
    assert.deepEqual(
      [again.status, await again.json()],
      [422, { code: 'conflict', message: `bucket with name ${name} already exists` }],
    );
    const orgs = await json(
      fetch(`${api.address}/api/v2/orgs?org=mine`, { headers: { Authorization: api.authorization } }),
    );
    assert.deepEqual((orgs as { orgs: unknown }).orgs, [{ id: '0000000000000001', name: 'mine' }]);
    const missing = await post('/api/v2/dashboards', '');
    assert.deepEqual(
      [missing.status, await missing.json()],
      [404, { code: 'not found', message: 'URL does not exist' }],
    );
    await api.database.run(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('a session of InfluxDB 2 is a cookie, with which lines are written until it is ended', async () => {
    const signin = await post('/api/v2/signin', '');
    const cookie = signin.headers.get('set-cookie') ?? '';
    assert.equal(signin.status, 204);
    assert.match(cookie, /^influxdb-oss-session=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Strict$/);
    const withCookie = (path: string, body: string): Promise<Response> =>
      fetch(`${api.address}${path}`, {
        method: 'POST',
        body,
        headers: { Cookie: cookie.slice(0, cookie.indexOf(';')) },
      });
    assert.equal((await withCookie('/api/v2/write', 'signed v=1 1')).status, 204);
    assert.equal((await withCookie('/restapi/query', 'select 1')).status, 401);
    assert.equal((await withCookie('/api/v2/signout', '')).status, 204);
    const after = await withCookie('/api/v2/write', 'signed v=1 2');
    assert.deepEqual([after.status, ((await after.json()) as { code: string }).code], [401, 'unauthorized']);
    assert.equal((await post('/api/v2/signin', '', `Basic ${btoa('postgres:wrong')}`)).status, 401);
  });
});
