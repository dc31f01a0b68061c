import assert from 'node:assert/strict';
import { InfluxDB, Point, setLogger } from '@influxdata/influxdb-client';
import { InfluxDBClient, Point as Point3, setLogger as setLogger3 } from '@influxdata/influxdb3-client';
import { Sender } from '@questdb/nodejs-client';
import { FieldType, InfluxDB as InfluxDB1 } from 'influx';
import { until } from '../support/until.ts';
import { IngestFixture } from './http-ingest-fixture.ts';

const AT = new Date('2023-11-14T22:13:20Z');
const SHOWN = '2023-11-14T22:13:20Z';

/** Clients as they come from the registry; what they wrote is read back through `/restapi/query`. */
describe('stock clients write through the alias routes', () => {
  let api: IngestFixture;
  before(async () => {
    const silent = { error: () => undefined, warn: () => undefined };
    setLogger(silent);
    setLogger3(silent);
    api = await IngestFixture.start();
  });
  after(() => api.close());

  const stored = async (sql: string): Promise<unknown> => {
    const answer = await api.post('/restapi/query', sql);
    assert.equal(answer.body.code, 0, answer.text);
    return (JSON.parse(answer.text) as { data: unknown }).data;
  };
  const credentials = () => api.database.access;
  const token = () => `${credentials().user}:${credentials().password}`;

  it('@influxdata/influxdb-client (InfluxDB 2), large batches packed', async () => {
    const client = new InfluxDB({ url: api.address, token: token(), writeOptions: { gzipThreshold: 1000 } });
    const write = client.getWriteApi('org', credentials().database, 'ms', { maxRetries: 0 });
    for (let id = 0; id < 200; id++) {
      const at = new Date(AT.getTime() + id);
      write.writePoint(
        new Point('two')
          .tag('host', `web ${String(id % 2)}`)
          .intField('n', id)
          .floatField('f', 1.5)
          .stringField('s', 'a "b" \\c')
          .timestamp(at),
      );
    }
    await write.close();
    assert.deepEqual(await stored(`SELECT count(*), sum(n), min(s), min(host) FROM two`), [
      [200, 19900, 'a "b" \\c', 'web 0'],
    ]);
  });

  it('@influxdata/influxdb-client learns of bad lines, and the good ones are stored', async () => {
    const write = new InfluxDB({ url: api.address, token: token() }).getWriteApi('org', credentials().database, 'ms', {
      maxRetries: 0,
    });
    write.writeRecords(['twobad v=1 1700000000000', 'twobad v=', 'twobad v=3 1700000000001']);
    await assert.rejects(write.close(), (error: Error & { statusCode?: number; json?: { code?: string } }) => {
      assert.deepEqual([error.statusCode, error.json?.code], [400, 'invalid']);
      assert.match(error.message, /partial write: line 2: .* dropped=1/);
      return true;
    });
    assert.deepEqual(await stored('SELECT count(*) FROM twobad'), [[2]]);
    const stranger = new InfluxDB({ url: api.address, token: 'postgres:wrong' }).getWriteApi('o', 'b', 'ms', {
      maxRetries: 0,
    });
    stranger.writeRecord('t v=1');
    await assert.rejects(stranger.close(), { statusCode: 401 });
  });

  it('influx (InfluxDB 1), by Basic and by u and p', async () => {
    const { user: username, password, database } = credentials();
    const { hostname, port } = new URL(api.address);
    const client = new InfluxDB1({
      host: hostname,
      port: Number(port),
      protocol: 'http',
      username,
      password,
      database,
      schema: [
        {
          measurement: 'first',
          fields: { n: FieldType.INTEGER, ok: FieldType.BOOLEAN, s: FieldType.STRING },
          tags: ['host'],
        },
      ],
    });
    await client.writePoints([
      { measurement: 'first', tags: { host: 'a,b' }, fields: { n: 7, ok: true, s: 'x"y' }, timestamp: AT },
    ]);
    assert.deepEqual(await stored('SELECT k_timestamp, host, n, ok, s FROM first'), [[SHOWN, 'a,b', 7, true, 'x"y']]);
    const [host] = await client.ping(2_000);
    assert.deepEqual([host?.online, host?.version], [true, '1.8.10']);
    const long = 'f'.repeat(70);
    await assert.rejects(client.writePoints([{ measurement: long, fields: { v: 1 } }]), /partial write: .*at most 63/);
    const query = new URLSearchParams({ db: database, u: username, p: password, precision: 's' });
    const response = await fetch(`${api.address}/write?${query.toString()}`, {
      method: 'POST',
      body: 'byquery v=1 1700000000',
    });
    assert.deepEqual([response.status, await response.text()], [204, '']);
    assert.deepEqual(await stored('SELECT k_timestamp FROM byquery'), [[SHOWN]]);
  });

  it('influx (InfluxDB 1) that asks for its database first and creates it, with the rights of its user', async () => {
    const { user: username, password } = credentials();
    const { hostname, port } = new URL(api.address);
    const database = `made "by" ${credentials().database.slice(-8)}`;
    const client = new InfluxDB1({
      host: hostname,
      port: Number(port),
      protocol: 'http',
      username,
      password,
      database,
    });
    assert.equal((await client.ping(2_000))[0]?.online, true);
    assert.ok(!(await client.getDatabaseNames()).includes(database));
    await client.createDatabase(database);
    await client.createDatabase(database);
    assert.ok((await client.getDatabaseNames()).includes(database));
    await client.writePoints([{ measurement: 'begun', fields: { v: 1.5 }, timestamp: AT }]);
    const read = await api.post(`/restapi/query?db=${encodeURIComponent(database)}`, 'SELECT v FROM begun');
    assert.deepEqual((read.body as { data?: unknown }).data, [[1.5]], read.text);
    await assert.rejects(client.query('select * from begun'), /send SQL to POST \/restapi\/query/);
    await assert.rejects(client.getMeasurements(), /send SQL to POST/);
    const role = `plain_${credentials().database.slice(-8)}`;
    await api.database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`);
    // As Telegraf asks at its start.
    const telegraf = (q: string) =>
      fetch(`${api.address}/query`, {
        method: 'POST',
        headers: { Authorization: `Basic ${btoa(`${role}:p`)}` },
        body: new URLSearchParams({ q }),
      });
    const known = await telegraf(`CREATE DATABASE "${database.replaceAll('"', '\\"')}"; SHOW DATABASES`);
    const { results } = (await known.json()) as { results: { error?: string; series?: { values: string[][] }[] }[] };
    assert.deepEqual([known.status, results.length, results[0]?.error], [200, 2, undefined]);
    assert.ok(results[1]?.series?.[0]?.values.flat().includes(database));
    assert.deepEqual(await (await telegraf('CREATE DATABASE other')).json(), {
      results: [{ statement_id: 0, error: 'pq: permission denied to create database' }],
    });
    assert.equal((await fetch(`${api.address}/query?q=SHOW+DATABASES`)).status, 401);
    await api.database.run(`DROP ROLE ${role}`, `DROP DATABASE "${database.replaceAll('"', '""')}" WITH (FORCE)`);
  });

  it('@influxdata/influxdb3-client, and its partial-write errors contain line, reason and text', async () => {
    const client = new InfluxDBClient({ host: api.address, token: token(), database: credentials().database });
    try {
      await client.write(Point3.measurement('three').setTag('host', 'a').setFloatField('v', 1.5).setTimestamp(AT));
      const v3 = { noSync: true };
      await client.write(
        Point3.measurement('three').setTag('host', 'b').setIntegerField('n', 5).setTimestamp(AT),
        undefined,
        undefined,
        v3,
      );
      assert.deepEqual(await stored('SELECT k_timestamp, host, v, n FROM three ORDER BY host'), [
        [SHOWN, 'a', 1.5, null],
        [SHOWN, 'b', null, 5],
      ]);
      await assert.rejects(
        client.write('three,host=c v=1 1\nthree,host=c n=1.5 2\nbad line', undefined, undefined, v3),
        (error: Error) => {
          assert.match(
            error.message,
            /partial write of line protocol occurred:\n\tline 2: pq: .*1\.5 is not an integer \(three,host=c n=1\.5 2\)\n\tline 3: .*\(bad line\)/,
          );
          return true;
        },
      );
      assert.equal(await client.getServerVersion(), '1.8.10');
    } finally {
      await client.close();
    }
  });

  it('/api/v3/write_lp determines the unit of times by their size without a precision', async () => {
    const lines = [
      'auto,p=s v=1 1700000000',
      'auto,p=ms v=1 1700000000000',
      'auto,p=us v=1 1700000000000000',
      'auto,p=ns v=1 1700000000000000000',
    ];
    const answer = await api.post('/api/v3/write_lp', lines.join('\n'));
    assert.deepEqual([answer.status, answer.text], [204, '']);
    assert.deepEqual(await stored('SELECT count(*), min(k_timestamp), max(k_timestamp) FROM auto'), [
      [4, SHOWN, SHOWN],
    ]);
    const bad = await api.post('/api/v3/write_lp', 'auto v=1\nauto v=');
    assert.equal(bad.status, 400);
    const { error, data } = JSON.parse(bad.text) as { error: string; data: Record<string, unknown>[] };
    assert.equal(error, 'partial write of line protocol occurred');
    assert.deepEqual(Object.keys(data[0] ?? {}), ['original_line', 'line_number', 'error_message']);
    assert.deepEqual([data[0]?.['original_line'], data[0]?.['line_number']], ['auto v=', 2]);
  });

  it('/api/v3/write_lp?accept_partial=false stores nothing when a line cannot be read', async () => {
    const bad = await api.post('/api/v3/write_lp?accept_partial=false', 'whole v=1\nwhole v=');
    assert.equal(bad.status, 400);
    const { error, data } = JSON.parse(bad.text) as { error: string; data: Record<string, unknown> };
    assert.equal(error, 'parsing failed for write_lp endpoint');
    assert.deepEqual([data['original_line'], data['line_number']], ['whole v=', 2]);
    assert.deepEqual(await api.rows(`SELECT to_regclass('whole')`), [[null]]);
    assert.equal((await api.post('/api/v3/write_lp?accept_partial=false', 'whole v=1\nwhole v=2 5')).status, 204);
    assert.deepEqual(await api.rows('SELECT count(*) FROM whole'), [['2']]);
  });

  it('/api/v3/write_lp?accept_partial=false stores nothing when the database refuses a line, tables included', async () => {
    await api.database.run('CREATE TABLE strict (k_timestamp timestamptz(3) PRIMARY KEY, v int2, w varchar(3))');
    const good = Array.from({ length: 300 }, (_, id) => `strict v=${String(id)}i ${String(id + 1)}000000`);
    const refusals: [line: string, reason: RegExp][] = [
      ['strict v=1.5 999000000', /^pq: .*1\.5 is not an integer/],
      ['strict v=70000i 999000000', /^pq: .*(?:out of|range)/],
      ['strict v="\0" 999000000', /^pq: /],
      [`strict,${'n'.repeat(64)}=x v=1i 999000000`, /^pq: .*63/],
    ];
    for (const [line, reason] of refusals) {
      const body = ['aaa v=1 1', ...good, line, 'zzz v=1 1', 'strict added=1 5'];
      const answer = await api.post('/api/v3/write_lp?accept_partial=false&precision=ns', body.join('\n'));
      assert.equal(answer.status, 400, answer.text);
      const { error, data } = JSON.parse(answer.text) as { error: string; data: Record<string, unknown> };
      assert.equal(error, 'parsing failed for write_lp endpoint');
      assert.deepEqual([data['original_line'], data['line_number']], [line, 302]);
      assert.match(String(data['error_message']), reason);
      assert.deepEqual(
        await api.rows(`SELECT (SELECT count(*) FROM strict), to_regclass('aaa'), to_regclass('zzz'),
          (SELECT count(*) FROM pg_attribute WHERE attrelid = 'strict'::regclass AND attnum > 0)`),
        [['0', null, null, '3']],
      );
    }
    const whole = ['aaa v=1 1', ...good, 'zzz v=1 1', 'strict added=1 5'].join('\n');
    assert.equal((await api.post('/api/v3/write_lp?accept_partial=false&precision=ns', whole)).status, 204);
    assert.deepEqual(await stored('SELECT (SELECT count(*) FROM strict), (SELECT count(*) FROM zzz)'), [[301, 1]]);
    assert.equal((await api.post('/restapi/linedb', 'strict later=1i 7000')).body.code, 0);
  });

  it('bodies with accept_partial=false that come together are each stored whole, in the same tables', async () => {
    const body = (id: number) =>
      ['one', 'two', 'six'].map((t) => `tog${t},h=${String(id)} f${String(id % 3)}=1i ${String(id + 1)}000`).join('\n');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, id) => api.post('/api/v3/write_lp?accept_partial=false&precision=ns', body(id))),
    );
    assert.deepEqual(new Set(answers.map(({ text }) => text)), new Set(['']));
    const count = (t: string) => `(SELECT count(*) FROM tog${t})`;
    assert.deepEqual(await stored(`SELECT ${count('one')}, ${count('two')}, ${count('six')}`), [[20, 20, 20]]);
    const open = `SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND datname = current_database()`;
    await until(async () => (await api.rows(open))[0]?.[0] === '0', 'no transaction is left open');
  });

  it('@questdb/nodejs-client over HTTP', async () => {
    const { user, password } = credentials();
    const { host } = new URL(api.address);
    const sender = await Sender.fromConfig(
      `http::addr=${host};username=${user};password=${password};auto_flush=off;retry_timeout=5000;`,
    );
    try {
      await sender
        .table('trades')
        .symbol('pair', 'ETH-USD')
        .symbol('side', 'sell')
        .floatColumn('price', 2615.54)
        .intColumn('size', 3)
        .booleanColumn('own', true)
        .stringColumn('note', 'a "b"')
        .timestampColumn('seen', AT.getTime() * 1000, 'us')
        .at(AT.getTime(), 'ms');
      await sender.table('trades').symbol('pair', 'BTC-USD').floatColumn('price', 39269.98).at(AT.getTime(), 'ms');
      await sender.flush();
      assert.deepEqual(
        await stored('SELECT k_timestamp, pair, side, price, size, own, note, seen FROM trades ORDER BY pair'),
        [
          [SHOWN, 'BTC-USD', null, 39269.98, null, null, null, null],
          [SHOWN, 'ETH-USD', 'sell', 2615.54, 3, true, 'a "b"', SHOWN],
        ],
      );
      await sender.table('trades').symbol('pair', 'X').stringColumn('price', 'dear').at(AT.getTime(), 'ms');
      await assert.rejects(sender.flush(), /statusCode=400.*line 1: pq: .*price/);
    } finally {
      await sender.close();
    }
  });

  it('@questdb/nodejs-client with binary values gets a message with the protocol_version to use, without their bytes (T5)', async () => {
    const { user, password } = credentials();
    const { host } = new URL(api.address);
    for (const version of ['2', '3']) {
      const sender = await Sender.fromConfig(
        `http::addr=${host};username=${user};password=${password};auto_flush=off;retry_timeout=5000;protocol_version=${version};`,
      );
      try {
        // Its last byte is a line break.
        const withBreak = Buffer.from([0x9a, 0x99, 0x99, 0xff, 0xfe, 0x99, 0x01, 0x0a]).readDoubleLE();
        await sender.table('binary').symbol('pair', 'X').floatColumn('price', 2615.54).at(AT.getTime(), 'ms');
        await sender.table('binary').symbol('pair', 'Y').floatColumn('price', withBreak).at(AT.getTime(), 'ms');
        await assert.rejects(sender.flush(), (error: Error) => {
          assert.match(
            error.message,
            /line 1: line protocol: field \\?"price\\?": a binary value, as QuestDB's clients write them with protocol_version=2 or 3: leave protocol_version at auto, or set it to 1/,
          );
          assert.match(error.message, /^[ -~]*$/);
          return true;
        });
      } finally {
        await sender.close();
      }
    }
    assert.deepEqual(await api.rows(`SELECT to_regclass('binary')`), [[null]]);
  });

  it('OpenTSDB: /api/put, with summary and details', async () => {
    const good = { metric: 'sys.load', timestamp: 1700000000, value: 0.5, tags: { host: 'a' } };
    const put = (query: string, body: unknown) =>
      api.post(`/api/put${query}`, JSON.stringify(body), { 'Content-Type': 'application/json' });
    const plain = await put('', good);
    assert.deepEqual([plain.status, plain.text], [204, '']);
    assert.deepEqual(await stored('SELECT "timestamp", value, host FROM "sys.load"'), [[SHOWN, 0.5, 'a']]);
    const bad = { ...good, value: null };
    assert.deepEqual(JSON.parse((await put('?summary', [good, { ...good, timestamp: 1700000001 }])).text), {
      success: 2,
      failed: 0,
    });
    const details = await put('?details', [good, bad]);
    assert.equal(details.status, 400);
    const { errors, ...counts } = JSON.parse(details.text) as { errors: { datapoint: unknown; error: string }[] };
    assert.deepEqual(counts, { success: 1, failed: 1 });
    assert.deepEqual(
      errors.map(({ datapoint }) => datapoint),
      [bad],
    );
    assert.match(errors[0]?.error ?? '', /value/);
    const failed = await put('', [bad]);
    assert.deepEqual([failed.status, (JSON.parse(failed.text) as { error: { code: number } }).error.code], [400, 400]);
  });

  it('/ping, /health and /settings answer without credentials', async () => {
    const get = (path: string, method = 'GET') => fetch(`${api.address}${path}`, { method });
    assert.deepEqual([(await get('/ping')).status, (await get('/ping', 'HEAD')).status], [204, 204]);
    assert.deepEqual(await (await get('/ping?verbose=true')).json(), { version: '1.8.10' });
    assert.equal(((await (await get('/health')).json()) as { status: string }).status, 'pass');
    assert.equal((await get('/settings')).status, 200);
    assert.equal(((await (await get('/api/version')).json()) as { version: string }).version, '2.4.0');
    assert.equal((await fetch(`${api.address}/write`, { method: 'POST', body: 't v=1' })).status, 401);
    assert.equal((await api.post('/api/v2/write', '')).status, 204);
  });
});
