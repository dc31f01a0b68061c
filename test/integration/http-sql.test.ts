import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { sharesBackends, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { HttpFixture } from './http-fixture.ts';

describe('the SQL endpoints', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start({ 'max.body.bytes': '100000' })));
  after(() => api.close());

  const failingWith = async (sqlstate: string) => {
    const body = `begin raise 'failing' using errcode = '${sqlstate}'; end`;
    await api.post(
      '/restapi/ddl',
      `create or replace function failing() returns int language plpgsql as $$ ${body} $$`,
    );
    return api.post('/restapi/insert', "insert into a values (failing(), 'x')");
  };

  it('run a script of statements, one desc for each', async () => {
    const reply = await api.post('/restapi/ddl', 'create table a (id int, t text);\r\ncreate table b\n(id int);');
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body['desc'], ['success', 'success']);
    assert.deepEqual(Object.keys(reply.body), ['code', 'desc', 'time']);
    assert.equal(typeof reply.body['time'], 'number');
  });

  it('keep semicolons, line breaks and commas inside literals', async () => {
    const inserted = await api.post('/restapi/insert', "insert into a values (1, 'x;y'),\n(2, 'a,b\nc')");
    assert.deepEqual({ ...inserted.body, time: 0 }, { code: 0, desc: ['success'], rows: 2, notice: null, time: 0 });
    assert.deepEqual(Object.keys(inserted.body), ['code', 'desc', 'rows', 'notice', 'time']);
    const rows = await api.query('select * from a order by id');
    assert.deepEqual(
      { ...rows.body, time: 0 },
      {
        code: 0,
        desc: null,
        time: 0,
        column_meta: [
          ['id', 'INT4', 4],
          ['t', 'TEXT', 9223372036854775807],
        ],
        data: [
          [1, 'x;y'],
          [2, 'a,b\nc'],
        ],
        rows: 2,
      },
    );
    assert.deepEqual(Object.keys(rows.body), ['code', 'desc', 'time', 'column_meta', 'data', 'rows']);
  });

  it('continue after a statement that failed', async () => {
    const sql =
      "insert into a values (3, 'c'); insert into missing values (1, 2, 'a,b'); insert into a values (4, 'd')";
    const reply = await api.post('/restapi/insert', sql);
    assert.equal(reply.status, 500);
    assert.deepEqual(reply.body, {
      code: -1,
      desc: ['success', 'pq: relation "missing" does not exist', 'success'],
      rows: null,
      notice: '1 of 3 statements failed, 2 rows were inserted: statement 2: pq: relation "missing" does not exist',
      time: null,
    });
    const stored = await api.query('select count(*) from a where id in (3, 4)');
    assert.deepEqual(stored.body['data'], [[2]]);
  });

  it('are no sign of an unreachable database when they have parameters, or a limit of it is too small for them', async () => {
    const parameter = 'pq: bind message supplies 0 parameters, but prepared statement "" requires 1';
    const asked = await api.query('select $1::int');
    assert.deepEqual([asked.status, asked.body['desc']], [500, parameter]);
    const changed = await api.post('/restapi/insert', "insert into a values ($1, 'x')");
    assert.equal(changed.status, 500);
    const limited = await failingWith('53400');
    assert.deepEqual([limited.status, limited.body['desc']], [500, ['pq: failing']]);
  });

  it('are to be sent again later, with the words of the database, when it cannot do the work now', async () => {
    for (const code of ['25006', '53100', '58030']) {
      const reply = await failingWith(code);
      assert.deepEqual([reply.status, reply.body['desc']], [503, ['pq: failing']], code);
    }
  });

  it('have one desc for each, whatever commas its error has, and switch databases for what follows', async () => {
    const reply = await api.post(
      '/restapi/insert',
      `insert into a values ('p,q', 'r'); use "${api.access.database}"; insert into a values (5, 'e')`,
    );
    assert.deepEqual(reply.body['desc'], ['pq: invalid input syntax for type integer: "p,q"', 'success', 'success']);
  });

  it('refuse statement kinds with the documented texts and 400', async () => {
    const ddl = await api.post('/restapi/ddl', "select 'update'; drop table b");
    assert.deepEqual(
      [ddl.status, ddl.body],
      [400, { code: -1, desc: ['wrong statement for ddl interface and please check', 'success'], time: null }],
    );
    const insert = await api.post('/restapi/insert', 'delete from a');
    assert.deepEqual([insert.status, insert.body['desc']], [400, ['can not find insert statement and please check']]);
    const two = await api.query('select 1; select 2');
    assert.deepEqual(
      [two.status, two.body['desc']],
      [400, 'only support single statement for each query interface, please check.'],
    );
    for (const keyword of [
      'create',
      'insert',
      'set',
      'drop',
      'alter',
      'delete',
      'update',
      'truncate',
      'copy',
      'begin',
    ]) {
      const reply = await api.query(`${keyword} x`);
      assert.deepEqual(
        [reply.status, reply.body['desc']],
        [400, `do not support ${keyword} statement for query interface, please check.`],
      );
    }
    const hidden = await api.query('with x as (delete from a returning *) select * from x');
    assert.equal(hidden.status, 400);
    for (const sql of [
      'select 1;',
      '  select 1 ; ',
      'values (1)',
      'table a',
      'explain select 1',
      '/* c */ with x as (select 1) select * from x',
      "select 'a;b'",
    ]) {
      assert.equal((await api.query(sql)).status, 200, sql);
    }
  });

  it('take any Content-Type, gzip bodies, and no empty body', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain; charset=utf-8']) {
      const reply = await api.call('POST', '/restapi/query', api.admin, {
        body: 'select 1',
        headers: { 'Content-Type': type },
      });
      assert.equal(reply.status, 200);
    }
    const packed = await api.call('POST', '/restapi/query', api.admin, {
      body: gzipSync('select 7'),
      headers: { 'Content-Encoding': 'gzip' },
    });
    assert.deepEqual(packed.body['data'], [[7]]);
    for (const path of ['ddl', 'insert', 'query']) {
      const reply = await api.post(`/restapi/${path}`, '');
      assert.equal(reply.status, 400);
      assert.match(reply.text, /invalid request body/);
    }
    const blank = await api.post('/restapi/ddl', '\n;\n');
    assert.deepEqual([blank.status, blank.body['code'], blank.body['desc']], [200, 0, []]);
  });

  it('refuse bodies beyond the limit, packed ones too, broken ones and such that are no text', async () => {
    const large = `select 1 -- ${'x'.repeat(100_000)}`;
    const attempts: [Buffer, Record<string, string>, RegExp][] = [
      [Buffer.from(large), {}, /larger than 100000 bytes/],
      [gzipSync(large), { 'Content-Encoding': 'gzip' }, /larger than 100000 bytes/],
      [Buffer.from('not gzip'), { 'Content-Encoding': 'gzip' }, /cannot be unpacked as gzip/],
      [gzipSync('select 1').subarray(0, 20), { 'Content-Encoding': 'gzip' }, /cannot be unpacked as gzip/],
      [Buffer.from('select 1'), { 'Content-Encoding': 'br' }, /"br" is not known/],
      [Buffer.from([0x73, 0xff, 0xfe]), {}, /not UTF-8/],
    ];
    for (const [body, headers, desc] of attempts) {
      const reply = await api.call('POST', '/restapi/query', api.admin, { body, headers });
      assert.equal(reply.status, 400, String(desc));
      assert.match(String(reply.body['desc']), desc);
    }
  });

  it('answer wrong methods and paths with 404 and the documented texts', async () => {
    const cases: [string, string, string][] = [
      ['POST', '/restapi/login', 'support only GET method.'],
      ['PUT', '/restapi/session', 'only support GET/DELETE method.'],
      ['GET', '/restapi/query', 'only support POST method'],
      ['GET', '/restapi/ddl', 'only support POST method'],
      ['POST', '/restapi/ddl/', 'URL does not exist'],
      ['GET', '/', 'URL does not exist'],
    ];
    for (const [method, path, text] of cases) {
      const reply = await api.call(method, path, api.admin);
      assert.equal(reply.status, 404, path);
      assert.ok(reply.text.includes(text), `${path}: ${reply.text}`);
      assert.equal(reply.body['code'], -1);
    }
  });

  it('work in the database of db and switch by USE', async () => {
    const name = uniqueName('Http Other');
    assert.equal((await api.post('/restapi/ddl', `create database "${name}"`)).status, 200);
    const parameters = `?db=${encodeURIComponent(name)}`;
    const here = await api.query('select current_database()', api.admin, parameters);
    assert.deepEqual(here.body['data'], [[name]]);
    const used = await api.post(
      '/restapi/ddl',
      `use "${name}"; create table inside (a int); drop table missing; create table also (a int)`,
    );
    assert.equal(used.status, 500);
    assert.deepEqual(used.body['desc'], ['success', 'success', 'pq: table "missing" does not exist', 'success']);
    const tables = await api.query(
      "select tablename from pg_tables where schemaname = 'public' order by 1",
      api.admin,
      parameters,
    );
    assert.deepEqual(tables.body['data'], [['also'], ['inside']]);
    const wrongCase = await api.query('select 1', api.admin, `?db=${encodeURIComponent(name.toLowerCase())}`);
    assert.deepEqual(
      [wrongCase.status, wrongCase.body['desc']],
      [400, `pq: database "${name.toLowerCase()}" does not exist`],
    );
    for (const hostile of ['x"; drop table a; --', "x' or 1=1", '\u0000']) {
      const reply = await api.post(`/restapi/ddl?db=${encodeURIComponent(hostile)}`, 'create table hostile (a int)');
      assert.equal(reply.status, 400, hostile);
    }
    await api.sql.run(`DROP DATABASE "${name}" WITH (FORCE)`);
  });

  it('are refused after a USE that failed, because they were meant for another database (M7)', async () => {
    const name = uniqueName('http_used');
    await api.sql.run(`CREATE DATABASE "${name}"`);
    try {
      await api.post('/restapi/ddl', 'create table unused (a int)');
      const statements = `use "${name}"; create table used (a int); use nowhere; drop table used; use "${name}"; create table b (a int)`;
      const ddl = await api.post('/restapi/ddl', statements);
      const notRun = `not run: USE failed before it, and it would have run in database "${name}"; send it again with a USE that succeeds, or with ?db=`;
      assert.equal(ddl.status, 500);
      assert.deepEqual(ddl.body['desc'], [
        'success',
        'success',
        'pq: database "nowhere" does not exist',
        notRun,
        notRun,
        notRun,
      ]);
      const tables = await api.query(
        'select tablename from pg_tables where schemaname = $$public$$',
        api.admin,
        `?db=${name}`,
      );
      assert.deepEqual(tables.body['data'], [['used']]);
      for (const use of ['use nowhere', 'use a b', 'use']) {
        const insert = await api.post('/restapi/insert', `${use}; insert into unused values (1)`);
        assert.match(
          String((insert.body['desc'] as string[])[1]),
          /^not run: USE failed before it, .* database "http-?/,
        );
        assert.equal(insert.body['rows'], null);
      }
      assert.equal(await api.sql.number('select count(*) from unused'), 0);
    } finally {
      await api.sql.run(`DROP DATABASE "${name}" WITH (FORCE)`);
    }
  });

  it('run in the zone of tz in every spelling', async () => {
    const sql = "select timestamptz '2024-05-06 00:00:00+00'";
    const cases: [string, string][] = [
      ['', '2024-05-06T00:00:00Z'],
      ['8', '2024-05-06T08:00:00+08:00'],
      ['%2B8', '2024-05-06T08:00:00+08:00'],
      ['+8', '2024-05-06T08:00:00+08:00'],
      ['-3', '2024-05-05T21:00:00-03:00'],
      ["'Asia/Shanghai'", '2024-05-06T08:00:00+08:00'],
      ['"asia/shanghai"', '2024-05-06T08:00:00+08:00'],
      ['Asia/Kolkata', '2024-05-06T05:30:00+05:30'],
      // M6: as ISO 8601 has it, not as POSIX.
      ['%2B08:00', '2024-05-06T08:00:00+08:00'],
      ['+08:00', '2024-05-06T08:00:00+08:00'],
      ['%2B0800', '2024-05-06T08:00:00+08:00'],
      ['-03:30', '2024-05-05T20:30:00-03:30'],
      ['UTC%2B5', '2024-05-06T05:00:00+05:00'],
      ['UTC+05:45', '2024-05-06T05:45:00+05:45'],
      ['GMT-3', '2024-05-05T21:00:00-03:00'],
      ['Z', '2024-05-06T00:00:00Z'],
      ['EST5EDT', '2024-05-05T20:00:00-04:00'],
      ['Etc/GMT-8', '2024-05-06T08:00:00+08:00'],
    ];
    for (const [zone, expected] of cases) {
      const reply = await api.query(sql, api.admin, `?tz=${zone}`);
      assert.deepEqual(reply.body['data'], [[expected]], zone);
    }
    for (const zone of ['Mars/Base', '99', '15', 'EST5:30EDT', 'UTC8', "x';drop"]) {
      const reply = await api.query(sql, api.admin, `?tz=${encodeURIComponent(zone)}`);
      assert.deepEqual(
        [reply.status, reply.body['desc']],
        [400, `pq: invalid value for parameter "timezone": "${zone}"`],
      );
    }
    await api.post('/restapi/ddl', "set cluster setting server.restful_service.default_request_timezone = '8'");
    assert.deepEqual((await api.query(sql)).body['data'], [['2024-05-06T08:00:00+08:00']]);
    await api.post('/restapi/ddl', 'set cluster setting server.restful_service.default_request_timezone = -3');
    const before = api.service;
    api.service = await api.another();
    await api.login();
    assert.deepEqual((await api.query(sql)).body['data'], [['2024-05-05T21:00:00-03:00']], 'after a restart');
    api.service = before;
    await api.post('/restapi/ddl', 'reset cluster setting server.restful_service.default_request_timezone');
    const setting = 'server.restful_service.default_request_timezone';
    for (const none of ['15', "'15'", "'-13'", "'UTC8'", "'Mars/Base'"]) {
      const reply = await api.post('/restapi/ddl', `set cluster setting ${setting} = ${none}`);
      assert.deepEqual([reply.status, reply.body['code']], [400, -1], none);
    }
    await api.post('/restapi/ddl', `set cluster setting ${setting} = '+05:30'`);
    assert.deepEqual((await api.query(`show cluster setting ${setting}`)).body['data'], [['+05:30']]);
    assert.deepEqual((await api.query(sql)).body['data'], [['2024-05-06T05:30:00+05:30']]);
    await api.post('/restapi/ddl', `reset cluster setting ${setting}`);
    await api.post('/restapi/ddl', 'create table zoned_writes (ts timestamptz)');
    for (const zone of ['8', '%2B08:00', '%2B0800', 'UTC%2B8']) {
      await api.post(`/restapi/insert?tz=${zone}`, "insert into zoned_writes values ('2024-05-06 08:00:00')");
    }
    const written = await api.query('select distinct ts from zoned_writes');
    assert.deepEqual(written.body['data'], [['2024-05-06T00:00:00Z']]);
    await api.post('/restapi/ddl?tz=8', 'create table zoned (ts timestamptz)');
    await api.post(
      '/restapi/insert?tz=8',
      "insert into zoned values ('2024-05-06 08:00:00'), ('2024-05-06 08:00:00+00')",
    );
    const stored = await api.query('select ts from zoned order by 1');
    assert.deepEqual(stored.body['data'], [['2024-05-06T00:00:00Z'], ['2024-05-06T08:00:00Z']]);
  });

  it('leave no transaction, setting or temporary table on a connection', async function () {
    if (sharesBackends('session state stays in a pooled backend')) this.skip();
    await api.query("select set_config('work_mem', '1MB', false), pg_advisory_lock(7)", api.admin, '?tz=8');
    await api.post('/restapi/ddl', 'create temp table left_over (a int)');
    await api.query('select 1/0');
    const reply = await api.query(
      `select current_setting('timezone'), current_setting('transaction_read_only'), current_setting('work_mem') <> '1MB',
        to_regclass('left_over')`,
    );
    assert.deepEqual(reply.body['data'], [['UTC', 'on', true, null]]);
    // A connection is cleaned while its response is sent. Other tests have locks in other databases of the server.
    const locks = `select count(*) from pg_locks join pg_database on oid = database
      where locktype = 'advisory' and datname = current_database()`;
    await until(async () => (await api.sql.number(locks)) === 0, 'no lock is left');
    const inTransaction =
      "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";
    await until(async () => (await api.sql.number(inTransaction)) === 0, 'no transaction is open');
  });

  it('never write in a query', async () => {
    await api.post(
      '/restapi/ddl',
      "create function sneak() returns int language sql as 'insert into a values (99) returning 1'",
    );
    const reply = await api.query('select sneak()');
    assert.equal(reply.status, 500);
    assert.match(String(reply.body['desc']), /^pq: cannot execute INSERT in a read-only transaction/);
    const escape = await api.query("select set_config('transaction_read_only', 'off', false), sneak()");
    assert.equal(escape.status, 500);
    assert.deepEqual((await api.query('select count(*) from a where id = 99')).body['data'], [[0]]);
  });
});
