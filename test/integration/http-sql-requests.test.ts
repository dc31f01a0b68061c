import assert from 'node:assert/strict';
import { HttpFixture, type Reply } from './http-fixture.ts';

describe('SQL over HTTP', () => {
  let api: HttpFixture;
  before(async () => {
    api = await HttpFixture.start({
      tls: 'off',
      listeners: 'http://127.0.0.1:0',
      'cors.allow.origins': 'https://*.example.org',
    });
    await api.sql.run('create table items (id int primary key, name text, tags text[], extra jsonb, seen timestamptz)');
  });
  after(() => api.close());

  const asJson = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    api.call('POST', path, api.admin, {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
    });
  const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    api.call('GET', path, api.admin, { headers });

  it('takes the values of parameters in a JSON body, on each of its routes', async () => {
    const sql = 'insert into items values ($1, $2, $3, $4, $5)';
    const params = [1, "o'neil; drop table items", ['a', 'b,"c"'], { deep: [1] }, '2024-05-06T07:08:09Z'];
    const stored = await asJson('/restapi/insert', { sql, params });
    assert.deepEqual([stored.status, stored.body['rows']], [200, 1], stored.text);
    const changed = await asJson('/restapi/ddl', {
      sql: 'update items set name = $2 where id = $1',
      params: [1, null],
    });
    assert.deepEqual(changed.body['desc'], ['success']);
    const read = await asJson('/restapi/query', {
      sql: 'select id, name, tags[2], extra, seen from items where id = $1 and $2 = any(tags)',
      params: [1, 'a'],
    });
    assert.deepEqual(read.body['data'], [[1, null, 'b,"c"', '{"deep": [1]}', '2024-05-06T07:08:09Z']], read.text);
  });

  it('reports invalid parameters, and accepts one statement with them', async () => {
    const few = await asJson('/restapi/query', { sql: 'select $1::int + $2::int', params: [1] });
    assert.deepEqual([few.status, few.body['code']], [500, 500]);
    assert.match(
      String(few.body['desc']),
      /^pq: bind message supplies 1 parameters, but prepared statement "" requires 2$/,
    );
    const type = await asJson('/restapi/query', { sql: 'select $1::int', params: ['x'] });
    assert.match(String(type.body['desc']), /^pq: invalid input syntax for type integer: "x"/);
    const two = await asJson('/restapi/insert', {
      sql: 'insert into items values ($1); insert into items values ($1)',
      params: [2],
    });
    assert.deepEqual([two.status, two.body['desc']], [400, ['a request with params has one statement']]);
    const key = await asJson('/restapi/query', { sql: 'select 1', args: [] });
    assert.deepEqual([key.status, key.body['code']], [400, -1]);
    assert.deepEqual((await api.query('select count(*) from items where id = 2')).body['data'], [[0]]);
  });

  it('is read by GET as well, with q', async () => {
    const read = await get(`/restapi/query?q=${encodeURIComponent('select $1::int8 as n')}&params=[7]&int64=string`);
    assert.deepEqual([read.status, read.body['data']], [200, [['7']]], read.text);
    assert.equal((await get('/restapi/query?q=')).status, 400);
    assert.equal((await get('/restapi/query?q=delete+from+items')).status, 400);
    assert.equal((await get('/restapi/ddl?q=create+table+x()')).status, 404);
  });

  it('gives CSV and NDJSON for Accept, without a bound: a small result is held so that failures have a status, a larger one is streamed', async () => {
    const sql = (count: number): string =>
      `select n, repeat('é', 500) as t from generate_series(1, ${String(count)}) n`;
    const csv = await api.call('POST', '/restapi/query', api.admin, { body: sql(2), headers: { Accept: 'text/csv' } });
    assert.deepEqual(
      [csv.status, csv.headers['content-type'], csv.text],
      [200, 'text/csv; charset=utf-8', `n,t\r\n1,${'é'.repeat(500)}\r\n2,${'é'.repeat(500)}\r\n`],
    );
    const lines = await get(`/restapi/query?q=${encodeURIComponent(sql(20_000))}`, { Accept: 'application/x-ndjson' });
    const rows = lines.text.trimEnd().split('\n');
    assert.deepEqual(
      [lines.headers['content-type'], lines.headers['transfer-encoding']],
      ['application/x-ndjson', 'chunked'],
    );
    assert.deepEqual([rows.length, (JSON.parse(rows.at(-1) ?? '') as { n: number }).n], [20_000, 20_000]);
    assert.ok(lines.bytes.length > 20_000_000);
    const failed = await get('/restapi/query?q=select+1/(3-n)+from+generate_series(1,5)+n', { Accept: 'text/csv' });
    assert.deepEqual(
      [failed.status, failed.headers['content-type'], failed.body['desc']],
      [500, 'application/json', 'pq: division by zero'],
    );
  });

  it('returns a result in pages, also beyond 5 MB', async () => {
    const sql = 'select n from generate_series(1, 5) n order by n';
    const pages: unknown[] = [];
    let continuation: unknown;
    do {
      const page = await asJson('/restapi/query', {
        sql,
        limit: 2,
        ...(continuation === undefined ? {} : { continuation }),
      });
      assert.equal(page.status, 200, page.text);
      pages.push(page.body['data']);
      continuation = page.body['continuation'] ?? undefined;
      assert.equal(page.headers['x-continuation'], continuation);
    } while (continuation !== undefined);
    assert.deepEqual(pages, [[[1], [2]], [[3], [4]], [[5]]]);
    const large = "select n, repeat('x', 1000) from generate_series(1, 8000) n order by n";
    const first = await api.query(large);
    assert.deepEqual([first.body['truncated'], 'continuation' in first.body], [true, false]);
    const token = encodeURIComponent(String(first.headers['x-continuation']));
    const rest = await api.query(large, api.admin, `?continuation=${token}`);
    assert.equal(Number(first.body['rows']) + Number(rest.body['rows']), 8000);
    assert.deepEqual((rest.body['data'] as [number][])[0]?.[0], Number(first.body['rows']) + 1);
    assert.equal(rest.headers['x-continuation'], undefined);
    assert.equal((await api.query('select 1', api.admin, `?continuation=${token}`)).status, 400);
    const shown = await api.query('show databases', api.admin, '?limit=1');
    assert.deepEqual([shown.status, shown.body['rows']], [200, 1], shown.text);
  });

  it('is open to pages of the origins of cors.allow.origins', async () => {
    const origin = { Origin: 'https://app.example.org' };
    const preflight = await api.call('OPTIONS', '/restapi/query', undefined, {
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
    assert.deepEqual(
      [
        preflight.status,
        preflight.headers['access-control-allow-origin'],
        preflight.headers['access-control-allow-methods'],
      ],
      [204, 'https://app.example.org', 'GET, POST'],
    );
    const read = await get('/restapi/query?q=select+1', origin);
    assert.equal(read.headers['access-control-allow-origin'], 'https://app.example.org');
    const refused = await api.call('GET', '/restapi/query?q=select+1', undefined, { headers: origin });
    assert.deepEqual(
      [refused.status, refused.headers['access-control-allow-origin']],
      [401, 'https://app.example.org'],
    );
    const other = await api.call('OPTIONS', '/restapi/query', undefined, {
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
    });
    assert.deepEqual([other.status, other.headers['access-control-allow-origin']], [404, undefined]);
  });
});
