import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ingestRoutes } from '../../plugins/database-http/ingest/routes.ts';
import { serviceGauges } from '../../src/observe/service-figures.ts';
import { sharesBackends } from '../support/services.ts';
import { until } from '../support/until.ts';
import { HttpFixture, send, type Reply } from './http-fixture.ts';

const MAX_BYTES = 5 * 1024 * 1024;

describe('the query endpoint', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  it('prints native JSON values with the digits of the database', async () => {
    const reply =
      await api.query(`select 9223372036854775807::int8, -5::int2, 0.1::float8, 1e300::float8, 'NaN'::float8,
      12345678901234567890.123456789::numeric, true, null::int, 'a"b\\c', '\\x0aff'::bytea, '{"a": 1}'::jsonb,
      date '2024-05-06', time '07:08:09.5', '2024-05-06 07:08:09.250000+00'::timestamptz, timestamp '2024-05-06 07:08:09',
      'infinity'::timestamptz, array[1,2], 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, E'tab\\tline\\n', 'é€😀'`);
    assert.equal(reply.status, 200);
    const data = /"data":(\[\[.*\]\])/.exec(reply.text)?.[1];
    assert.equal(
      data,
      '[[9223372036854775807,-5,0.1,1e+300,"NaN",12345678901234567890.123456789,true,null,"a\\"b\\\\c","\\\\x0aff",' +
        '"{\\"a\\": 1}","2024-05-06","07:08:09.5","2024-05-06T07:08:09.25Z","2024-05-06T07:08:09Z","infinity","{1,2}",' +
        '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11","tab\\tline\\n","é€😀"]]',
    );
  });

  it('gives 64-bit integers as text with int64=string', async () => {
    const reply = await api.query('select 9223372036854775807, 1::int4', api.admin, '?int64=string');
    assert.deepEqual(reply.body['data'], [['9223372036854775807', 1]]);
  });

  it('describes columns by name, type and length in bytes', async () => {
    await api.post(
      '/restapi/ddl',
      `create table described (a bool, b int2, c int4, d int8, e float4, f float8, g varchar(128), h varchar, i char(5),
        j text, k numeric(12,3), l numeric, m bytea, n timestamp, o timestamptz, p date, q jsonb, r int8[], s text[], "t t" uuid)`,
    );
    const reply = await api.query('select * from described');
    assert.deepEqual([reply.body['data'], reply.body['rows'], reply.body['code']], [[], 0, 0]);
    const meta = /"column_meta":(\[.*\]),"data"/.exec(reply.text)?.[1];
    const largest = '9223372036854775807';
    assert.equal(
      meta,
      `[["a","BOOL",1],["b","INT2",2],["c","INT4",4],["d","INT8",8],["e","FLOAT4",4],["f","FLOAT8",8],["g","VARCHAR",128],` +
        `["h","VARCHAR",${largest}],["i","CHAR",5],["j","TEXT",${largest}],["k","NUMERIC",12],["l","NUMERIC",0],` +
        `["m","BYTES",${largest}],["n","TIMESTAMP",8],["o","TIMESTAMPTZ",8],["p","DATE",8],["q","JSONB",8],["r","_INT8",8],` +
        `["s","_TEXT",${largest}],["t t","UUID",8]]`,
    );
  });

  it('answers failures with 500 and nulls, also when they come with a later row', async () => {
    for (const sql of ['select * from missing', 'select 1/(5000-n) from generate_series(1, 10000) n']) {
      const reply = await api.query(sql);
      assert.equal(reply.status, 500);
      const { desc, ...rest } = reply.body;
      assert.match(String(desc), /^pq: (?:relation "missing" does not exist|division by zero)$/);
      assert.deepEqual(rest, { code: 500, time: null, column_meta: null, data: null, rows: null });
    }
  });

  it('says SQLSTATE and position of a statement that fails, also of a page and after characters beyond 16 bits', async () => {
    const sql = "select '😀' as a,\n nope from pg_class";
    for (const parameters of ['', '?limit=5']) {
      const { headers } = await api.query(sql, api.admin, parameters);
      assert.deepEqual([headers['x-sql-state'], headers['x-sql-position']], ['42703', '19']);
    }
    const { headers } = await api.query('select 1 / 0');
    assert.deepEqual([headers['x-sql-state'], headers['x-sql-position']], ['22012', undefined]);
    const after = await api.query('\n/* 😀 */ ; select nope');
    assert.deepEqual([after.headers['x-sql-state'], after.headers['x-sql-position']], ['42703', '19']);
  });

  it('says them of the first statement that the database refuses among those that write', async () => {
    await api.post('/restapi/ddl', 'create table positions (ts timestamptz, v int8)');
    const faultOf = async (path: string, sql: string): Promise<unknown[]> => {
      const { status, headers } = await api.post(path, sql);
      return [status, headers['x-sql-state'], headers['x-sql-position']];
    };
    const insert = "insert into positions values ('2026-01-01 00:00Z', 1)";
    assert.deepEqual(await faultOf('/restapi/insert', `${insert};\n insert into positions values (nope); ${insert}`), [
      500,
      '42703',
      String(insert.length + ';\n insert into positions values ('.length + 1),
    ]);
    assert.deepEqual(await faultOf('/restapi/ddl', 'update positions set nope = 1'), [500, '42703', '22']);
    assert.deepEqual(await faultOf('/restapi/ddl', 'create table positions (v int8)'), [500, '42P07', undefined]);
    assert.deepEqual(await faultOf('/restapi/insert', insert), [200, undefined, undefined]);
  });

  it('ends at 5 MB with a whole row and says so', async () => {
    const reply = await api.query("select n, repeat('x', 1000) from generate_series(1, 10000) n");
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['x-truncated'] ?? reply.trailers['x-truncated'], 'true');
    assert.ok(reply.bytes.length <= MAX_BYTES);
    assert.ok(reply.bytes.length > MAX_BYTES - 1100);
    const { data, rows, truncated, ...rest } = reply.body;
    assert.equal(truncated, true);
    assert.equal(rows, (data as unknown[]).length);
    assert.deepEqual((data as unknown[]).at(-1), [rows, 'x'.repeat(1000)]);
    assert.deepEqual([rest['code'], rest['desc']], [0, null]);
    const whole = await api.query("select repeat('x', 1000) from generate_series(1, 4000) n");
    assert.equal(whole.body['rows'], 4000);
    assert.equal('truncated' in whole.body || 'x-truncated' in whole.headers, false);
  });

  it('says by a header that rows are left out, of an answer longer than what is held by a trailer, and rows are exact', async () => {
    const ca = await readFile(join(api.directory, 'ca.pem'));
    for (const [maxBytes, width, where] of [
      [60_000, 10, 'headers'],
      [6_000_000, 2_000, 'trailers'],
    ] as const) {
      const service = await api.another({ 'query.max.bytes': String(maxBytes) });
      const cell = 'é'.repeat(width);
      for (const encoding of ['identity', 'gzip']) {
        const reply = await send(`${service.address ?? ''}/restapi/query`, 'POST', {
          authorization: api.admin,
          ca,
          body: `select n, repeat('é', ${String(width)}) from generate_series(1, 3000) n`,
          headers: { 'Accept-Encoding': encoding },
        });
        const told = { headers: reply.headers['x-truncated'], trailers: reply.trailers['x-truncated'] };
        assert.deepEqual(told, { headers: undefined, trailers: undefined, [where]: 'true' });
        assert.equal(reply.headers['trailer'], where === 'trailers' ? 'X-Truncated, X-Continuation' : undefined);
        const text = encoding === 'gzip' ? gunzipSync(reply.bytes).toString() : reply.text;
        const { data, rows, truncated } = JSON.parse(text) as { data: unknown[]; rows: number; truncated: boolean };
        assert.deepEqual([reply.status, truncated, data.length, data.at(-1)], [200, true, rows, [rows, cell]]);
        const left = maxBytes - Buffer.byteLength(text);
        assert.ok(left >= 0 && left < 2 * width + 100, `${String(left)} bytes are left`);
      }
      const whole = await send(`${service.address ?? ''}/restapi/query`, 'POST', {
        authorization: api.admin,
        ca,
        body: 'select n from generate_series(1, 3000) n',
      });
      assert.deepEqual([whole.body['rows'], whole.body['truncated'], whole.trailers], [3000, undefined, {}]);
    }
  });

  it('packs answers for clients that ask for gzip', async () => {
    const sql = 'select n, n * 2 from generate_series(1, 50000) n';
    const headers = { 'Accept-Encoding': 'gzip, deflate' };
    const packed = await api.call('POST', '/restapi/query', api.admin, { body: sql, headers });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    const body = JSON.parse(gunzipSync(packed.bytes).toString()) as Record<string, unknown>;
    assert.deepEqual([body['rows'], (body['data'] as unknown[])[49_999]], [50_000, [50_000, 100_000]]);
  });

  it('streams 500,000 rows with at most 50 MB more than a tenth of them takes', async () => {
    const sql = (rows: number) =>
      `select n, n * 1.5, 'name ' || n, n % 7, n, n from generate_series(1, ${String(rows)}) n`;
    const service = await api.separate({ 'query.max.bytes': '1000000000' });
    try {
      for (let round = 0; round < 5; round++) await drain(service.url, api.admin, sql(50_000));
      const before = await service.peakBytes();
      const length = await drain(service.url, api.admin, sql(500_000));
      assert.ok(length > 20e6, `${String(length)} bytes came`);
      const grownMb = Math.round(((await service.peakBytes()) - before) / 1e6);
      console.log(`      ${String(grownMb)} MB more for ${String(Math.round(length / 1e6))} MB`);
      assert.ok(grownMb < 50, `grew by ${String(grownMb)} MB`);
    } finally {
      await service.stop();
    }
  });

  it('sends the first rows of an answer longer than what is held while later ones are still to come', async () => {
    const service = await api.another({ 'query.max.bytes': '50000000' });
    // Some 7 MB, then rows that take a minute.
    const sql = "select repeat('x', 1000), case when n > 7000 then pg_sleep(60) end from generate_series(1, 7001) n";
    await drain(service.address ?? '', api.admin, sql, 'abort at the first byte');
    const sleeping =
      "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
    await until(async () => (await api.sql.number(sleeping)) === 0, 'the statement was cancelled');
  });

  it('cancels the statement of a client that disconnects', async () => {
    const controller = new AbortController();
    const query = api.call('POST', '/restapi/query', api.admin, {
      body: 'select pg_sleep(60) /* to be cancelled */',
      signal: controller.signal,
    });
    const running = async () =>
      (await api.sql.number(
        "select count(*) from pg_stat_activity where query like '%pg_sleep(60) /* to be%' and pid <> pg_backend_pid() and state = 'active'",
      )) === 1;
    await until(running, 'the statement runs');
    controller.abort();
    await assert.rejects(query);
    await until(async () => !(await running()), 'the statement was cancelled', { timeoutMs: 30_000 });
  });
});

describe('statements that write', () => {
  it('are cancelled when their client disconnects, and store nothing', async () => {
    const api = await HttpFixture.start({}, { routes: ingestRoutes() });
    try {
      await api.post('/restapi/ddl', 'create table gone (k_timestamp timestamptz primary key, v int8)');
      await api.sql.run(
        `create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(60); return new; end'`,
        'create trigger wait before insert on gone for each row execute function wait()',
      );
      const sleeping = () =>
        api.sql.number(
          `select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
        );
      const controller = new AbortController();
      const calls = [
        ['insert', 'insert into gone values (now(), 1)'],
        ['linedb', 'gone v=2i'],
      ].map(([path = '', body = '']) =>
        api.call('POST', `/restapi/${path}`, api.admin, { body, signal: controller.signal }),
      );
      const ended = Promise.all(calls.map((call) => assert.rejects(call)));
      await until(async () => (await sleeping()) === 2, 'both statements run');
      controller.abort();
      await ended;
      await until(async () => (await sleeping()) === 0, 'both were cancelled', { timeoutMs: 30_000 });
      assert.equal(await api.sql.number('select count(*) from gone'), 0);
    } finally {
      await api.close();
    }
  });
});

describe('limits of statements', () => {
  let api: HttpFixture;
  before(
    async () =>
      (api = await HttpFixture.start({
        'statement.timeout.ms': '200',
        'user.connections': '2',
        'connection.wait.ms': '400',
      })),
  );
  after(() => api.close());

  it('end a statement after statement.timeout.ms', async () => {
    const reply = await api.query('select pg_sleep(30)');
    assert.deepEqual([reply.status, reply.body['desc']], [500, 'pq: the statement was cancelled after 200 ms']);
    const ddl = await api.post(
      '/restapi/ddl',
      'create table slow as select 1 as a from pg_sleep(30); create table quick (a int)',
    );
    assert.deepEqual(ddl.body['desc'], ['pq: the statement was cancelled after 200 ms', 'success']);
  });

  it('answer 503 when none comes free in time', async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => api.query('select pg_sleep(0.18)')));
    const refused = replies.filter(({ status }) => status === 503);
    assert.ok(refused.length > 0);
    for (const reply of refused) {
      assert.equal(reply.body['desc'], 'get connection timeout');
      assert.equal(reply.headers['retry-after'], '1');
    }
  });
});

describe('requests of a user with all connections in use', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start({ 'user.connections': '1', 'connection.wait.ms': '600000' })));
  after(() => api.close());

  const waiting = (): number =>
    serviceGauges().find(({ name, labels }) => name.endsWith('pool_requests') && labels['state'] === 'waiting')
      ?.value ?? 0;

  it('wait for one, and get it in the order in which they came', async function () {
    if (sharesBackends('the test holds a lock of its session')) this.skip();
    await api.sql.run('select pg_advisory_lock(1)');
    const holding = api.query('select pg_advisory_xact_lock(1)');
    await until(
      async () =>
        (await api.sql.number(`select count(*) from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`)) > 0,
      'the request that has the connection waits for the lock',
    );
    const replies: Promise<Reply>[] = [];
    while (replies.length < 8) {
      replies.push(api.query('select extract(epoch from clock_timestamp())::float8'));
      await until(() => waiting() === replies.length, `${String(replies.length)} requests wait`);
    }
    await api.sql.run('select pg_advisory_unlock(1)');
    assert.equal((await holding).status, 200);
    const times = (await Promise.all(replies)).map(({ body }) => Number((body['data'] as unknown[][])[0]?.[0]));
    assert.deepEqual(
      times.toSorted((a, b) => a - b),
      times,
    );
  });
});

/** Reads an answer without keeping it; resolves with its length. */
async function drain(
  url: string,
  authorization: string,
  sql: string,
  mode?: 'abort at the first byte',
): Promise<number> {
  const { protocol, hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let length = 0;
    const sent = (protocol === 'https:' ? httpsRequest : httpRequest)(
      {
        host: hostname,
        port,
        method: 'POST',
        path: '/restapi/query',
        agent: false,
        rejectUnauthorized: false,
        headers: { Authorization: authorization },
      },
      (response) => {
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (mode !== undefined) {
            sent.destroy();
            resolve(length);
          }
        });
        response.on('end', () => {
          resolve(length);
        });
        response.on('error', () => undefined);
      },
    );
    sent.on('error', reject);
    sent.end(sql);
  });
}
