import assert from 'node:assert/strict';
import { HttpFixture } from './http-fixture.ts';

/** The requests of the documents and of the original's manual, as their users send them. */
describe('the samples of the documents', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  const plain = { 'Content-Type': 'text/plain', Accept: 'application/json' };

  async function post(path: string, body: string): Promise<Record<string, unknown>> {
    const reply = await api.call('POST', path, await api.login(), { body, headers: plain });
    assert.equal(reply.headers['content-type'], 'application/json');
    return reply.body;
  }

  it('create time-series tables with tags, alter and drop them', async () => {
    const created = await post(
      '/restapi/ddl',
      `CREATE TABLE meters (ts TIMESTAMP NOT NULL, current FLOAT, voltage INT, note NVARCHAR(20)) TAGS (location VARCHAR(64) NOT NULL, groupid INT) PRIMARY TAGS (location);
      CREATE TABLE empty_one (k_timestamp timestamp NOT NULL, v int) TAGS (t varchar not null) PRIMARY TAGS(t);`,
    );
    assert.deepEqual([created['code'], created['desc']], [0, ['success', 'success']]);
    const altered = await post('/restapi/ddl', 'ALTER TABLE meters ADD TAG color varchar(20); DROP TABLE empty_one');
    assert.deepEqual([altered['code'], altered['desc']], [0, ['success', 'success']]);
  });

  it('insert with integer timestamps, text in double quotes and now()', async () => {
    const inserted = await post(
      '/restapi/insert',
      'insert into meters values (1700000000000, 10.3, 219, "ok", "California", 2, "red"); insert into meters (ts, voltage, location) values (now(), 220, \'Oslo\');',
    );
    assert.deepEqual(
      { ...inserted, time: 0 },
      { code: 0, desc: ['success', 'success'], rows: 2, notice: null, time: 0 },
    );
    const rows = await post(
      '/restapi/query',
      "select ts, current, voltage, note, location from meters where location = 'California';",
    );
    assert.deepEqual(rows['data'], [['2023-11-14T22:13:20Z', 10.3, 219, 'ok', 'California']]);
    assert.equal(rows['rows'], 1);
  });

  it('replace a row of the same key when it is inserted again', async () => {
    await post('/restapi/insert', "insert into meters (ts, voltage, location) values (1700000000000, 1, 'California')");
    const rows = await post('/restapi/query', "select voltage from meters where location = 'California'");
    assert.deepEqual(rows['data'], [[1]]);
  });

  it('show databases, tables, columns and how a table was made', async () => {
    for (const sql of [
      'SHOW DATABASES',
      'SHOW TABLES',
      'SHOW COLUMNS FROM meters',
      'SHOW TAGS FROM meters',
      'SHOW CREATE TABLE meters',
    ]) {
      const reply = await post('/restapi/query', sql);
      assert.deepEqual([reply['code'], reply['desc']], [0, null], `${sql}: ${JSON.stringify(reply)}`);
      assert.ok(Number(reply['rows']) > 0, sql);
    }
  });

  it('delete, update, grant and revoke', async () => {
    const { name } = await api.role();
    const reply = await post(
      '/restapi/ddl',
      `UPDATE meters SET voltage = 5 WHERE location = 'Oslo'; GRANT SELECT ON meters TO ${name}; REVOKE SELECT ON meters FROM ${name}; DELETE FROM meters WHERE location = 'Oslo'`,
    );
    assert.deepEqual([reply['code'], reply['desc']], [0, ['success', 'success', 'success', 'success']]);
  });

  it('take what a message-queue bridge sends', async () => {
    const reply = await api.call('POST', '/restapi/insert', api.admin, {
      body: "insert into meters (ts, voltage, location) values (now(), 7, 'bridge')",
      headers: { 'Content-Type': 'application/json' },
    });
    assert.deepEqual([reply.status, reply.body['rows']], [200, 1]);
    const unfilled = await api.post(
      '/restapi/insert',
      "insert into meters (ts, voltage, location) values (now(), undefined, 'bridge')",
    );
    assert.equal(unfilled.status, 500);
    assert.match(unfilled.text, /pq: column .+undefined.+ does not exist/);
  });
});
