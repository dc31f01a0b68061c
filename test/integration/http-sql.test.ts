import assert from 'node:assert/strict';
import { HttpFixture } from './http-fixture.ts';

describe('the SQL endpoints', () => {
  let api: HttpFixture;
  before(async () => (api = await HttpFixture.start()));
  after(() => api.close());

  it('run a script of statements, one desc for each', async () => {
    const reply = await api.post('/restapi/ddl', 'create table a (id int, t text);\r\ncreate table b\n(id int);');
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body['desc'], ['success', 'success']);
    assert.deepEqual(Object.keys(reply.body), ['code', 'desc', 'time']);
    const inserted = await api.post('/restapi/insert', "insert into a values (1, 'x;y'),(2, 'a,b')");
    assert.deepEqual({ ...inserted.body, time: 0 }, { code: 0, desc: ['success'], rows: 2, notice: null, time: 0 });
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
          [2, 'a,b'],
        ],
        rows: 2,
      },
    );
  });
});
