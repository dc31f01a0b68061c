import assert from 'node:assert/strict';
import { storingRoutes } from '../../plugins/database-http/plugin.ts';
import { HttpFixture, type Reply } from './http-fixture.ts';

describe('a request that the database HTTP API refuses', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start({}, { routes: storingRoutes() })));
  after(() => api.close());

  const seen = ({ status, headers, body }: Reply) => [status, body['code'], body['desc'], headers['x-sql-state']];

  it('because it has no statement gets the syntax error of the database on every endpoint, with its position (U10)', async () => {
    const error = 'pq: syntax error at or near "selec"';
    const query = await api.query('/* a */ selec 1');
    assert.deepEqual(seen(query), [500, 500, error, '42601']);
    assert.equal(query.headers['x-sql-position'], '9');
    for (const endpoint of ['ddl', 'insert']) {
      const reply = await api.post(`/restapi/${endpoint}`, 'selec 1');
      assert.deepEqual(seen(reply), [500, -1, [error], '42601'], endpoint);
      assert.equal(reply.headers['x-sql-position'], '1');
    }
    assert.deepEqual(seen(await api.query('with a as (select 1) frobnicate')), [
      500,
      500,
      'pq: syntax error at or near "frobnicate"',
      '42601',
    ]);
    const others = await api.post('/restapi/ddl', 'selec 1; create table kept (a int)');
    assert.deepEqual(others.body['desc'], [error, 'success']);
    // Its kind is known, and it is not for this endpoint.
    assert.equal((await api.post('/restapi/ddl', 'truncate kept')).status, 400);
  });

  it('because a WITH of it changes rows is named with the reason, and with the endpoint that takes such statements (M9)', async () => {
    await api.sql.run('CREATE TABLE ledger (a int)', 'INSERT INTO ledger VALUES (1)');
    for (const [sql, word, endpoint] of [
      ['with gone as (delete from ledger returning a) select * from gone', 'DELETE', '/restapi/ddl'],
      ['with one as (select 1) delete from ledger', 'DELETE', '/restapi/ddl'],
      [
        'with one as (select 1), two as (update ledger set a = 2 returning a) select * from two',
        'UPDATE',
        '/restapi/ddl',
      ],
      ['with more as (insert into ledger values (2) returning a) select * from more', 'INSERT', '/restapi/insert'],
    ] as const) {
      assert.deepEqual(seen(await api.query(sql)), [
        400,
        -1,
        `this WITH has the statement ${word}, and /restapi/query runs only statements that read: send a statement that begins with ${word} to ${endpoint}`,
        undefined,
      ]);
    }
    assert.deepEqual((await api.query('select a from ledger')).body['data'], [[1]]);
    const merge = 'with one as (select 1 a) merge into ledger l using one on l.a = one.a when matched then do nothing';
    assert.match(String((await api.query(merge)).body['desc']), /has the statement MERGE, .*: no endpoint takes it$/);
  });

  it('because nobody knows its time zone gets 400 from every endpoint that takes one (M10)', async () => {
    const bodies = {
      linedb: 'zoned v=1',
      tsdbtelnet: 'zoned 1700000000 1 a=b',
      tsdbjson: '[{"metric":"zoned","timestamp":1700000000,"value":1,"tags":{"a":"b"}}]',
      query: 'select 1',
      ddl: 'create table unborn (a int)',
      insert: 'insert into unborn values (1)',
    };
    const refused = 'pq: invalid value for parameter "timezone": "Mars/Olympus"';
    for (const [method, path, body] of [
      ['GET', 'login', undefined],
      ['GET', 'session', undefined],
      ['DELETE', 'session', 'x'],
      ...Object.entries(bodies).map(([path, body]) => ['POST', path, body] as const),
    ] as const) {
      const call = body === undefined ? {} : { body };
      const reply = await api.call(method, `/restapi/${path}?tz=Mars/Olympus`, api.admin, call);
      const { desc } = reply.body;
      assert.deepEqual([reply.status, Array.isArray(desc) ? desc[0] : desc], [400, refused], `${method} ${path}`);
    }
    assert.deepEqual((await api.query(`select to_regclass('zoned'), to_regclass('unborn')`)).body['data'], [
      [null, null],
    ]);
    for (const zone of ['Europe/Oslo', 'europe/oslo', '8', '%2B08:00', "'Asia/Shanghai'"]) {
      for (const path of ['login', 'session']) {
        assert.equal((await api.call('GET', `/restapi/${path}?tz=${zone}`, api.admin)).status, 200, zone);
      }
    }
  });

  it('because a cluster setting does not take a value gets 400 (M12)', async () => {
    for (const [assignment, reason] of [
      ['server.rest.timeout = 0', 'server.rest.timeout takes whole minutes in [1, 9223372036854775807], not "0"'],
      ["server.rest.timeout = 'x'", 'server.rest.timeout takes whole minutes in [1, 9223372036854775807], not "x"'],
      [
        "server.restful_service.default_request_timezone = 'Mars/Olympus'",
        'invalid value for parameter "timezone": "Mars/Olympus"',
      ],
    ] as const) {
      const reply = await api.post('/restapi/ddl', `set cluster setting ${assignment}`);
      assert.deepEqual(seen(reply), [400, -1, [`pq: ${reason}`], undefined]);
    }
  });

  it('because its first row is larger than an answer says so instead of answering with no rows (M12)', async () => {
    const reason = /^the first row of the answer does not fit into 5242880 bytes \(query\.max\.bytes\): /;
    const one = await api.query("select repeat('x', 6000000)");
    assert.deepEqual([one.status, one.body['rows'], one.body['data']], [400, null, null]);
    assert.match(String(one.body['desc']), reason);
    const sql = "select repeat('x', n) from (values (1), (6000000), (3)) v(n)";
    const first = await api.query(sql);
    assert.deepEqual([first.status, first.body['rows'], first.body['truncated']], [200, 1, true]);
    const token = String(first.headers['x-continuation']);
    const next = await api.query(sql, api.admin, `?continuation=${token}`);
    assert.equal(next.status, 400);
    assert.match(String(next.body['desc']), reason);
    const csv = await api.call('POST', '/restapi/query', api.admin, { body: sql, headers: { Accept: 'text/csv' } });
    assert.deepEqual([csv.status, csv.text.length], [200, 'repeat\r\n'.length + 1 + 6_000_000 + 1 + 3 * 2 + 2]);
  });

  it('because its lines go to something else than such a table names what it is (M12)', async () => {
    await api.sql.run(
      'CREATE SEQUENCE counter',
      'CREATE MATERIALIZED VIEW summary AS SELECT 1 AS a',
      `CREATE TABLE numbered (k_timestamp timestamptz NOT NULL, v int8, primary_tag int NOT NULL, PRIMARY KEY (k_timestamp, primary_tag))`,
    );
    const reasons = [
      '"counter" is a sequence (schema "public"), so no table of that name can be created: use another name',
      '"summary" is a materialized view (schema "public"), so no table of that name can be created: use another name',
      '"numbered_pkey" is an index (schema "public"), so no table of that name can be created: use another name',
      '"pg_class" belongs to the system catalogue (schema "pg_catalog"), so no table of that name can be created: use another name',
    ];
    const lines = 'counter v=1\nsummary v=1\nnumbered_pkey v=1\npg_class v=1\nfine v=1';
    const linedb = await api.post('/restapi/linedb', lines);
    assert.deepEqual([linedb.status, linedb.body['rows']], [400, 1]);
    assert.equal(linedb.body['desc'], reasons.map((reason, at) => `line ${String(at + 1)}: pq: ${reason}`).join('; '));
    const collector = await api.post('/restapi/collector', 'numbered,primary_tag=5 v=1i');
    assert.deepEqual(seen(collector), [
      400,
      -1,
      'line 1: pq: table "numbered" cannot take lines here: its primary_tag is not VARCHAR',
      undefined,
    ]);
    const typo = await api.post('/restapi/linedb', 'fine x=tru');
    assert.equal(typo.body['desc'], 'line 1: line protocol: field "x": "tru" is not a number');
  });
});
