import assert from 'node:assert/strict';
import { randomFrom } from '../support/random.ts';
import { HttpFixture } from './http-fixture.ts';

describe("the original's functions over HTTP (M8)", () => {
  let api: HttpFixture;
  before(async () => {
    api = await HttpFixture.start();
    const table =
      'create table meters (ts timestamp not null, v float, n int, name varchar(20)) tags (site varchar(20) not null) primary tags (site)';
    assert.deepEqual((await api.post('/restapi/ddl', table)).body['desc'], ['success']);
    const random = randomFrom(8);
    const below = (count: number) => Math.floor(random() * count);
    const rows: string[] = [];
    for (let at = 0; at < 800; at++) {
      const site = ['oslo', 'rome', 'bern'][below(3)] ?? '';
      // In summer and winter, with gaps of minutes and of months; no two rows of a site at one time.
      const ms = 1_711_700_000_000 + below(3) * 86_400_000 * 100 + below(5_000_000) * 17 + at;
      const value = below(4) === 0 ? 'null' : String(below(10_000) / 8);
      rows.push(
        `(${String(ms)}, ${value}, ${below(3) === 0 ? 'null' : String(below(50))}, 'x${String(at)}', '${site}')`,
      );
    }
    const insert = await api.post('/restapi/insert', `insert into meters values ${rows.join(', ')}`);
    assert.equal(insert.body['rows'], rows.length, String(insert.body['desc']));
    await api.sql.run('CREATE VIEW plain AS SELECT ts, ts::timestamp AS local, v, n, name, site FROM meters');
  });
  after(() => api.close());

  async function rowsOf(sql: string, zone = 'UTC', user = api.admin): Promise<unknown[]> {
    const { status, body } = await api.query(sql, user, `?tz=${zone}`);
    assert.equal(status, 200, `${sql}: ${String(body['desc'])}`);
    return body['data'] as unknown[];
  }

  /** The statement of the original gives the rows of the query, which PostgreSQL reads as it is. */
  async function same(original: string, query: string, zones = ['UTC']): Promise<void> {
    for (const zone of zones) {
      const expected = await rowsOf(query, zone);
      assert.ok(expected.length > 0, query);
      assert.deepEqual(await rowsOf(original, zone), expected, `${original} in ${zone}`);
    }
  }

  it('first, last and their like pick the value by the time of the table', async () => {
    for (const column of ['v', 'n', 'name']) {
      for (const [name, direction, filter] of [
        ['first', 'ASC', `WHERE ${column} IS NOT NULL`],
        ['last', 'DESC', `WHERE ${column} IS NOT NULL`],
        ['first_row', 'ASC', ''],
        ['last_row', 'DESC', ''],
      ] as const) {
        await same(
          `select site, ${name}(${column}) from meters group by site order by site`,
          `SELECT DISTINCT ON (s.site) s.site, m.v FROM (SELECT DISTINCT site FROM plain) s LEFT JOIN LATERAL
            (SELECT ${column} AS v FROM plain p ${filter === '' ? 'WHERE' : `${filter} AND`} p.site = s.site ORDER BY ts ${direction} LIMIT 1) m ON true ORDER BY s.site`,
        );
      }
    }
    await same(
      'select last(v) from meters where site = "oslo"',
      `SELECT v FROM plain WHERE site = 'oslo' AND v IS NOT NULL ORDER BY ts DESC LIMIT 1`,
    );
    await same(
      'select lastts(v), firstts(m.v), last_row_ts(v) from meters m',
      'SELECT max(ts) FILTER (WHERE v IS NOT NULL), min(ts) FILTER (WHERE v IS NOT NULL), max(ts) FROM plain',
    );
    await same(
      'select site from meters group by site having last(n) > 10 or last(n * 2) <= 20 order by last(v) desc',
      `SELECT site FROM plain p GROUP BY site ORDER BY (SELECT v FROM plain q WHERE q.site = p.site AND v IS NOT NULL ORDER BY ts DESC LIMIT 1) DESC`,
    );
    await same(
      'with recent as (select ts, v, site from meters where ts > 1711700000000) select r.site, coalesce(last(r.v), 0) from recent r join meters m on m.ts = r.ts and m.site = r.site group by 1 order by 1',
      `SELECT s.site, (SELECT v FROM plain p WHERE p.site = s.site AND v IS NOT NULL ORDER BY ts DESC LIMIT 1) FROM (SELECT DISTINCT site FROM plain) s ORDER BY 1`,
    );
    assert.deepEqual((await api.query('select last(v), first(n) as f, max(n) from meters')).body['column_meta'], [
      ['last', 'FLOAT8', 8],
      ['f', 'INT4', 4],
      ['max', 'INT4', 4],
    ]);
  });

  it('time_bucket begins a bucket below a day in UTC, and days, weeks, months and years in the zone of the request', async () => {
    const zones = ['Asia/Kolkata', 'America/New_York'];
    for (const [width, seconds] of [
      ['7s', 7],
      ['250ms', 0.25],
      ['36h', 129_600],
    ] as const) {
      for (const column of ['ts', 'local']) {
        const epoch = `to_timestamp(floor(extract(epoch from ${column}) / ${String(seconds)}) * ${String(seconds)})`;
        const bucket = column === 'ts' ? epoch : `(${epoch} AT TIME ZONE 'UTC')`;
        await same(
          `select time_bucket(${column}, '${width}') as b, count(*), avg(n)::float4 from plain group by b order by b limit 500`,
          `SELECT ${bucket} AS b, count(*), avg(n)::float4 FROM plain GROUP BY b ORDER BY b LIMIT 500`,
          zones,
        );
      }
    }
    for (const [width, bucket] of [
      ['1d', `date_trunc('day', T)`],
      ['3 days', `('1970-01-01'::date + 3 * ((T::date - '1970-01-01'::date) / 3))::TYPE`],
      ['1w', `date_trunc('week', T)`],
      ['2w', `(date '1970-01-05' + 14 * ((T::date - date '1970-01-05') / 14))::TYPE`],
      ['1mon', `date_trunc('month', T)`],
      ['3mon', `date_trunc('quarter', T)`],
      ['1y', `date_trunc('year', T)`],
      ['10y', `date_trunc('decade', T)`],
    ] as const) {
      for (const [column, type] of [
        ['ts', 'timestamptz'],
        ['local', 'timestamp'],
      ] as const) {
        await same(
          `select time_bucket(${column}, '${width}'), count(*) from plain group by time_bucket(${column}, '${width}') order by 1`,
          `SELECT ${bucket.replaceAll('TYPE', type).replaceAll(/\bT\b/g, column)} AS b, count(*) FROM plain GROUP BY b ORDER BY b`,
          zones,
        );
      }
    }
    assert.match(
      JSON.stringify((await api.query("select time_bucket(ts, '10x') from meters")).body),
      /the width of a time bucket must be a duration/,
    );
  });

  it('time_bucket_gapfill has a row for each bucket between the first and the last of a group, and interpolate fills it', async () => {
    const where = 'ts < 1711800000000';
    const bucket = `date_bin('1 hour', ts, 'epoch')`;
    const rows = `SELECT site, ${bucket} AS b, avg(v) FILTER (WHERE n > 40) AS a, max(n) AS m FROM plain WHERE ${where} GROUP BY 1, 2`;
    const all = `r AS (${rows}), s AS (SELECT site, generate_series(min(b), max(b), '1 hour') AS b FROM r GROUP BY site),
      j AS (SELECT s.site, s.b, r.a, r.m FROM s LEFT JOIN r ON r.site = s.site AND r.b = s.b)`;
    const beside = (order: string, sign: string, column: string) =>
      `(SELECT ${column} FROM j k WHERE k.site = j.site AND k.a IS NOT NULL AND k.b ${sign} j.b ORDER BY k.b ${order} LIMIT 1)`;
    const [p, n, tp, tn] = [
      beside('DESC', '<=', 'a'),
      beside('ASC', '>=', 'a'),
      beside('DESC', '<=', 'b'),
      beside('ASC', '>=', 'b'),
    ];
    const linear = `CASE WHEN a IS NOT NULL THEN a ELSE ${p} + (${n} - ${p}) * ((extract(epoch from b) - extract(epoch from ${tp})) / (extract(epoch from ${tn}) - extract(epoch from ${tp}))) END`;
    for (const [how, expected] of [
      ['PREV', p],
      ['next', n],
      ["'linear'", linear],
      ['null', 'a'],
      ['-1.5', 'coalesce(a, -1.5)'],
    ] as const) {
      await same(
        `select time_bucket_gapfill(ts, '1h') as b, site, interpolate(avg(v) filter (where n > 40), ${how}), max(n) m from meters where ${where} group by b, site order by site, b desc`,
        `WITH ${all} SELECT b, site, ${expected}, m FROM j ORDER BY site, b DESC`,
        ['UTC', 'Asia/Kolkata'],
      );
    }
    // Grouped by what the list does not have; by numbers; without any other group; with days over a change of clocks.
    await same(
      `select time_bucket_gapfill(ts, 3600), interpolate(max(n), prev) from meters where ${where} group by time_bucket_gapfill(ts, 3600), site order by 1, 2 limit 50`,
      `WITH ${all} SELECT b, (SELECT m FROM j k WHERE k.site = j.site AND k.m IS NOT NULL AND k.b <= j.b ORDER BY k.b DESC LIMIT 1) AS i FROM j ORDER BY 1, 2 LIMIT 50`,
    );
    await same(
      `select time_bucket_gapfill(ts, '1d') d, count(*) from meters group by 1 having count(*) > 1 order by d`,
      `WITH r AS (SELECT date_trunc('day', ts) AS b, count(*) AS c FROM plain GROUP BY 1 HAVING count(*) > 1)
        SELECT s.b, r.c FROM (SELECT generate_series(min(b), max(b), '1 day') AS b FROM r) s LEFT JOIN r USING (b) ORDER BY 1`,
      ['UTC', 'Europe/Oslo'],
    );
    const meta = await api.query(
      `select time_bucket_gapfill(ts, '1h'), interpolate(avg(n), linear) from meters group by 1`,
    );
    assert.deepEqual(
      (meta.body['column_meta'] as string[][]).map(([name]) => name),
      ['time_bucket_gapfill', 'interpolate'],
    );
    const nested = await api.query(
      `select * from (select time_bucket_gapfill(ts, '1h') b, max(n) from meters group by 1) x`,
    );
    assert.deepEqual(
      [nested.status, String(nested.body['desc']).slice(0, 40)],
      [400, 'pq: time_bucket_gapfill is supported in '],
    );
  });

  it('durations are intervals, and SHOW SEQUENCES and database() answer', async () => {
    await same(
      'select count(*) from meters where ts > now() - 1h or ts < now() + 2d - 30m',
      `SELECT count(*) FROM plain WHERE ts < now() + interval '2 days' - interval '30 minutes'`,
    );
    await same(
      'select time_bucket(ts, 10s) b, last(v) from meters where ts < now() - 1mon and ts > 1711700000000 group by b order by b limit 30',
      `SELECT date_bin('10 seconds', ts, 'epoch') AS b, (array_agg(v ORDER BY ts DESC) FILTER (WHERE v IS NOT NULL))[1] FROM plain GROUP BY b ORDER BY b LIMIT 30`,
    );
    await api.sql.run('CREATE SEQUENCE beta', 'CREATE SEQUENCE alpha');
    assert.deepEqual((await api.query('show sequences')).body['data'], [['alpha'], ['beta']]);
    assert.deepEqual((await api.query(`show sequences from ${api.access.database}.public`)).body['data'], [
      ['alpha'],
      ['beta'],
    ]);
    const { data, column_meta } = (await api.query('select database()')).body;
    assert.deepEqual([data, (column_meta as string[][])[0]?.[0]], [[[api.access.database]], 'database']);
  });

  it('CREATE TABLE makes an index of INDEX, and leaves FAMILY out', async () => {
    const create = (clause: string) =>
      `create table ${clause} shelf (id int primary key, index string, s varchar(10), t text, INDEX (s), unique index by_t (t desc, id) storing (index), family f (id, s), family "F 2" (t))`;
    for (const clause of ['', 'if not exists', 'if not exists']) {
      assert.deepEqual((await api.post('/restapi/ddl', create(clause))).body['desc'], ['success'], clause);
    }
    assert.match(String((await api.post('/restapi/ddl', create(''))).body['desc']), /already exists/);
    assert.deepEqual(
      await api.sql.rows(`SELECT indexdef FROM pg_indexes WHERE tablename = 'shelf' ORDER BY 1`),
      [
        'CREATE INDEX shelf_s_idx ON public.shelf USING btree (s)',
        'CREATE UNIQUE INDEX by_t ON public.shelf USING btree (t DESC, id) INCLUDE (index)',
        'CREATE UNIQUE INDEX shelf_pkey ON public.shelf USING btree (id)',
      ].map((indexdef) => [indexdef]),
    );
    // A column named index of a type with a length stays one.
    assert.deepEqual(
      (await api.post('/restapi/ddl', 'create table odd (index varchar(10), family string)')).body['desc'],
      ['success'],
    );
  });

  it('what PostgreSQL cannot do says what to write instead', async () => {
    const past = await api.query("select * from meters as of system time '-1h'");
    assert.deepEqual([past.status, past.body['code']], [400, -1]);
    assert.match(
      String(past.body['desc']),
      /^pq: AS OF SYSTEM TIME is not available on PostgreSQL, which keeps no earlier versions of rows: omit it/,
    );
    const role = await api.role();
    const granted = await api.post('/restapi/ddl', `grant admin to ${role.name}`);
    // Roles are the server's: another test may have created this one, and then it is granted.
    if (granted.status !== 200) {
      assert.equal(granted.status, 400);
      assert.match(String(granted.body['desc']), /^pq: this database has no role admin: write CREATE ROLE admin/);
    }
    const none = await api.query('select last(a) from (values (1)) t(a)');
    assert.deepEqual(
      [none.status, String(none.body['desc']).slice(0, 66)],
      [400, 'pq: last() requires a column of a table with a time column: write '],
    );
  });

  it('functions of the user with these names keep their meaning, and no object of the search path takes part', async () => {
    await api.sql.run(
      'CREATE SCHEMA mine',
      `CREATE FUNCTION mine.last(float8) RETURNS float8 LANGUAGE sql AS 'SELECT -1.0::float8'`,
      `CREATE FUNCTION public.date_bin(interval, timestamptz, timestamptz) RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz'`,
      `CREATE FUNCTION public.array_agg(float8) RETURNS float8[] LANGUAGE sql AS 'SELECT NULL::float8[]'`,
      `CREATE FUNCTION public.minus(date, date) RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      `CREATE OPERATOR public.- (LEFTARG = date, RIGHTARG = date, FUNCTION = public.minus)`,
      `ALTER DATABASE ${api.access.database} SET search_path = public, mine, pg_catalog`,
    );
    // A user without connections yet.
    const { authorization } = await api.role('SUPERUSER');
    const rows = (sql: string) => rowsOf(sql, 'UTC', authorization);
    try {
      assert.deepEqual(await rows('select distinct last(v) from meters where ts > 1711700000000 and v is not null'), [
        [-1],
      ]);
      assert.deepEqual(
        await rows("select time_bucket(ts, '1h') b, first(n) from meters group by 1 order by 1 limit 3"),
        await rows(
          "SELECT pg_catalog.date_bin('1 hour', ts, 'epoch') b, (pg_catalog.array_agg(n ORDER BY ts) FILTER (WHERE n IS NOT NULL))[1] FROM plain GROUP BY 1 ORDER BY 1 LIMIT 3",
        ),
      );
      assert.deepEqual(
        await rows("select time_bucket(ts, '3d') b from meters group by 1 order by 1 limit 3"),
        await rows(
          "SELECT ('1970-01-01'::date + 3 * ((ts::date OPERATOR(pg_catalog.-) '1970-01-01'::date) / 3))::timestamptz AS b FROM plain GROUP BY 1 ORDER BY 1 LIMIT 3",
        ),
      );
    } finally {
      await api.sql.run(`ALTER DATABASE ${api.access.database} RESET search_path`);
    }
  });
});
