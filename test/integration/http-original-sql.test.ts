import assert from 'node:assert/strict';
import { HttpFixture } from './http-fixture.ts';

describe("the original's SQL over HTTP", () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  async function ddl(sql: string): Promise<unknown> {
    return (await api.post('/restapi/ddl', sql)).body['desc'];
  }

  it('creates a table with tags once, and says success again with IF NOT EXISTS', async () => {
    const create = (clause: string) =>
      `create table ${clause} meters (ts timestamp not null, power float) tags (site varchar(32) not null) primary tags (site)`;
    assert.deepEqual(await ddl(create('')), ['success']);
    assert.deepEqual(await ddl(create('if not exists')), ['success']);
    assert.match(String(await ddl(create(''))), /^pq: .*already exists/);
  });

  it('takes integer times and double-quoted texts, and finds them again by the same', async () => {
    const inserted = await api.post('/restapi/insert', 'insert into meters values (1700000000123, 4.5, "oslo")');
    assert.deepEqual([inserted.body['code'], inserted.body['rows'], inserted.body['desc']], [0, 1, ['success']]);
    const found = await api.query('select ts, power, site from meters where ts >= 1700000000123 and site = "oslo"');
    assert.deepEqual(found.body['data'], [['2023-11-14T22:13:20.123Z', 4.5, 'oslo']]);
  });

  it('needs two rewrites at times: the database in front of the table, and an integer time', async () => {
    const sql = `select power from ${api.access.database}.meters where ts > 1000`;
    assert.deepEqual((await api.query(sql)).body['data'], [[4.5]]);
  });

  it('accepts a column that an ALTER has just added', async () => {
    assert.deepEqual(await ddl('alter table meters add tag floor varchar(8); alter table meters add column n int'), [
      'success',
      'success',
    ]);
    const sql = 'insert into meters (ts, power, n, site, floor) values (1700000000124, 1, 7, "rome", "2")';
    assert.equal((await api.post('/restapi/insert', sql)).body['rows'], 1);
    assert.deepEqual((await api.query('select n, floor from meters where site = "rome"')).body['data'], [[7, '2']]);
  });

  it('shows tables, columns, tags and how to create a table', async () => {
    assert.deepEqual((await api.query('show tables')).body['rows'], 1);
    const shown = JSON.stringify((await api.query('show create table meters')).body['data']);
    assert.match(shown, /TAGS/i);
    assert.match(shown, /PRIMARY TAGS/i);
    assert.equal((await api.query('show tags from meters')).body['rows'], 2);
  });

  it('refuses names that the database would cut, wherever they stand, and takes texts of any length', async () => {
    const kept = 'k'.repeat(63);
    const long = `${kept}y`;
    assert.deepEqual(await ddl(`create table ${kept} (a int)`), ['success']);
    for (const sql of [
      `create table ${long} (a int)`,
      `create table "${long}" (ts timestamp) tags (a int) primary tags (a)`,
      `create table t (${long} int)`,
      `create table t (ts timestamp) tags ("${long}" int) primary tags ("${long}")`,
      `alter table meters add tag ${long} int`,
      `alter table meters add column "${long}" int`,
      `drop table ${long}`,
      `delete from "${long}"`,
      `create role ${long}`,
      `create database "${long}"`,
      `use ${long}`,
    ]) {
      assert.match(String(await ddl(sql)), /^pq: the name "k+y" has 64 bytes; PostgreSQL allows at most 63$/, sql);
    }
    const inserted = await api.post('/restapi/insert', `insert into ${long} values (1)`);
    assert.match(String(inserted.body['desc']), /at most 63/);
    assert.match(String((await api.query(`select * from "${long}"`)).body['desc']), /at most 63/);
    const elsewhere = await api.post(`/restapi/query?db=${long}`, 'select 1');
    assert.deepEqual([elsewhere.status, elsewhere.body['code'] === 0], [400, false]);
    assert.deepEqual((await api.query(`select power from meters where site = "${long}"`)).body['data'], []);
  });

  it('suggests alternatives for statements that it cannot translate', async () => {
    const refused = await ddl('alter table meters set retentions = 10d');
    assert.match(String(refused), /^pq: /);
    assert.notEqual(String(refused), 'success');
  });
});
