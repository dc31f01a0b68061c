import assert from 'node:assert/strict';
import { IngestFixture } from './http-ingest-fixture.ts';

const AT = '2023-11-14 22:13:20+00';

describe('time-series points by HTTP', () => {
  let api: IngestFixture;
  before(async () => (api = await IngestFixture.start()));
  after(() => api.close());

  it('tsdbjson stores an array of points, in tables named by their metrics', async () => {
    const points = [
      { metric: 'sys.cpu', timestamp: 1700000000, value: 21.5, tags: { host: 'web01', region: 'eu' } },
      { metric: 'sys.cpu', timestamp: 1700000001000, value: 7, tags: { host: 'web01', region: 'eu' } },
      { metric: 'sys.text', timestamp: 1700000000, value: 'on', tags: { host: 'a' } },
    ];
    const { status, body } = await api.post('/restapi/tsdbjson', JSON.stringify(points));
    assert.deepEqual([status, Object.keys(body)], [200, ['code', 'desc', 'rows', 'time']]);
    assert.deepEqual([body.code, body.desc, body.rows], [0, 'success;success;success;', 3]);
    assert.deepEqual(await api.rows('SELECT "timestamp", value, primary_tag, host, region FROM "sys.cpu" ORDER BY 1'), [
      [AT, '21.5', 'e663a4f7b265ea6997a94bdd821ae74caa8d3a029531919b22bd496ce3be2f1f', 'web01', 'eu'],
      [
        '2023-11-14 22:13:21+00',
        '7',
        'e663a4f7b265ea6997a94bdd821ae74caa8d3a029531919b22bd496ce3be2f1f',
        'web01',
        'eu',
      ],
    ]);
    // As docs/formats.md has them (M11).
    assert.deepEqual(
      await api.rows(
        `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '"sys.cpu"'::regclass AND attnum > 0 ORDER BY attnum LIMIT 3`,
      ),
      [
        ['timestamp', 'timestamp with time zone'],
        ['value', 'character varying(254)'],
        ['primary_tag', 'character varying(254)'],
      ],
    );
  });

  it('tsdbjson takes a single object, and value.type=auto makes columns of the value’s type', async () => {
    const point = JSON.stringify({ metric: 'one', timestamp: 1700000000, value: true, tags: {} });
    assert.equal((await api.post('/restapi/tsdbjson?value.type=auto', point)).body.rows, 1);
    assert.deepEqual(await api.rows('SELECT value, primary_tag FROM one'), [
      ['t', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ]);
    assert.equal((await api.post('/restapi/tsdbjson?value.type=blob', point)).status, 400);
  });

  it('tsdbjson writes the column that an existing table has for the metric, and keeps its other cells', async () => {
    await api.database.run(
      'CREATE TABLE room (k_timestamp timestamptz(3), temp float8, hum int8, primary_tag varchar(64) NOT NULL, spot varchar(10), PRIMARY KEY (k_timestamp, primary_tag))',
      `COMMENT ON COLUMN room.primary_tag IS 'sluice:primary-tag'`,
      `COMMENT ON COLUMN room.spot IS 'sluice:tag'`,
    );
    const point = (metric: string, value: number) => ({ metric, timestamp: 1700000000, value, tags: { spot: 'a' } });
    const body = JSON.stringify([point('room.temp', 20.5), point('room.hum', 60), point('room.none', 1)]);
    assert.equal((await api.post('/restapi/tsdbjson', body)).body.code, 0);
    assert.deepEqual(await api.rows('SELECT k_timestamp, temp, hum, spot FROM room'), [[AT, '20.5', '60', 'a']]);
    assert.deepEqual(await api.rows('SELECT value FROM "room.none"'), [['1']]);
  });

  it('tsdbjson stores the good points and names the bad ones; what is not JSON stores nothing', async () => {
    const points = [
      { metric: 'part', timestamp: 1700000000, value: 1 },
      { metric: 'part', value: 2 },
      { metric: 'part', timestamp: 1.5, value: 3 },
    ];
    const { status, body } = await api.post('/restapi/tsdbjson', JSON.stringify(points));
    assert.deepEqual([status, body.code, body.rows, body.time], [400, -1, 1, null]);
    assert.match(body.desc ?? '', /^point 2: .*timestamp or value column is nil.*; point 3: /);
    const broken = await api.post('/restapi/tsdbjson', '[{"metric":"part2","timestamp":1700000000,"value":1},{');
    assert.deepEqual([broken.status, broken.body.code], [400, -1]);
    assert.deepEqual(await api.rows(`SELECT to_regclass('part2')`), [[null]]);
    const empty = await api.post('/restapi/tsdbjson', '[]');
    assert.deepEqual([empty.status, empty.body.code, empty.body.rows], [400, -1, null]);
    assert.match(empty.body.desc ?? '', /invalid data/);
  });

  it('tsdbtelnet stores lines, with and without put, and names the bad ones', async () => {
    const good = 'net.in 1700000000 21.5 host=web01 region=eu\n\nput net.in 1700000001 22 host=web01 region=eu\r\n';
    const { body } = await api.post('/restapi/tsdbtelnet', good);
    assert.deepEqual([body.code, body.desc, body.rows], [0, 'success;success;', 2]);
    assert.deepEqual(await api.rows('SELECT "timestamp", value, primary_tag FROM "net.in" ORDER BY 1 LIMIT 1'), [
      [AT, '21.5', 'e663a4f7b265ea6997a94bdd821ae74caa8d3a029531919b22bd496ce3be2f1f'],
    ]);
    const bad = await api.post('/restapi/tsdbtelnet', `net.in 1700000005 x host=a\nnet.in 17\n${good}`);
    assert.deepEqual([bad.status, bad.body.code, bad.body.rows], [400, -1, 2]);
    assert.match(bad.body.desc ?? '', /line 1: .*value is not float type.*; line 2: .*missing indicator items/);
  });

  it('have times of 10, 13, 16 and 19 digits, for seconds to nanoseconds', async () => {
    const times = ['1700000000', '1700000000000', '1700000000000000', '1700000000000000000'];
    const points = times.map(
      (time, id) => `{"metric":"digits","timestamp":${time},"value":1,"tags":{"n":"j${String(id)}"}}`,
    );
    assert.equal((await api.post('/restapi/tsdbjson', `[${points.join()}]`)).body.rows, 4);
    const lines = times.map((time, id) => `put digits ${time} 1 n=t${String(id)}`);
    assert.equal((await api.post('/restapi/tsdbtelnet', lines.join('\n'))).body.rows, 4);
    assert.deepEqual(await api.rows('SELECT count(*), min("timestamp"), max("timestamp") FROM digits'), [
      ['8', AT, AT],
    ]);
  });

  it('have times before September 2001, and before 1970', async () => {
    const times = ['999999999', '-315619200', '0', '999999999999', '-315619200000'];
    const points = times.map(
      (time, id) => `{"metric":"early","timestamp":${time},"value":1,"tags":{"n":"j${String(id)}"}}`,
    );
    assert.equal((await api.post('/restapi/tsdbjson', `[${points.join()}]`)).body.rows, 5);
    const lines = times.map((time, id) => `early ${time} 1 n=t${String(id)}`);
    assert.equal((await api.post('/restapi/tsdbtelnet', lines.join('\n'))).body.rows, 5);
    assert.deepEqual(await api.rows(`SELECT "timestamp", count(*) FROM early GROUP BY 1 ORDER BY 1`), [
      ['1960-01-01 00:00:00+00', '4'],
      ['1970-01-01 00:00:00+00', '2'],
      ['2001-09-09 01:46:39+00', '2'],
      ['2001-09-09 01:46:39.999+00', '2'],
    ]);
  });

  it('have names that the database keeps whole, or are refused', async () => {
    const point = (metric: string, tag: string) => ({ metric, timestamp: 1700000000, value: 1, tags: { [tag]: 'x' } });
    const long = 'l'.repeat(64);
    const { status, body } = await api.post(
      '/restapi/tsdbjson',
      JSON.stringify([point(long, 'a'), point('short', long), point('short', 'a')]),
    );
    assert.deepEqual([status, body.rows], [400, 1]);
    assert.match(body.desc ?? '', /^point 1: .*63.*; point 2: .*63/);
  });

  it('of many metrics are stored in one table each, without the invalid ones, however often they are sent', async () => {
    const metrics = Array.from({ length: 120 }, (_, at) => `wide.m${String(at)}`);
    const body = (timestamp: number, last: unknown): string =>
      JSON.stringify(
        metrics.map((metric, at) => ({ metric, timestamp, value: at === 119 ? last : at, tags: { host: 'a' } })),
      );
    assert.equal((await api.post('/restapi/tsdbjson?value.type=auto', body(1700000000, 119))).body.rows, 120);
    const second = await api.post('/restapi/tsdbjson?value.type=auto', body(1700000001, 'no number'));
    assert.deepEqual([second.status, second.body.rows], [400, 119]);
    assert.match(String(second.body.desc), /^point 120: .*double precision/);
    assert.equal((await api.post('/restapi/tsdbjson?value.type=auto', body(1700000001, 1))).body.rows, 120);
    const all = metrics.map((metric) => `SELECT value FROM "${metric}"`).join(' UNION ALL ');
    assert.deepEqual(await api.rows(`SELECT count(*), sum(value) FROM (${all}) t`), [['240', '14162']]);
  });

  it('stores the same point once, and grows tables for new tags', async () => {
    const line = 'same.x 1700000000 1 a=1\n';
    await api.post('/restapi/tsdbtelnet', line + line);
    await api.post('/restapi/tsdbtelnet', `${line}same.x 1700000001 ${'9'.repeat(400)} a=1 b=${'y'.repeat(300)}\n`);
    assert.deepEqual(await api.rows('SELECT count(*), max(length(value)), max(length(b)) FROM "same.x"'), [
      ['2', '400', '300'],
    ]);
  });
});
