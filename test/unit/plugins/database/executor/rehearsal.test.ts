import assert from 'node:assert/strict';
import { isChange } from '../../../../../plugins/database/executor/rehearsal.ts';

describe('the statements of a preview', () => {
  it('include changes after common table expressions, and expressions that change data', () => {
    const changes = [
      'INSERT INTO t VALUES (1)',
      'WITH old AS (SELECT 1 AS id) DELETE FROM t USING old WHERE t.id = old.id',
      '-- text\nwith old as (select 1 as id) update t set a = 1 from old where t.id = old.id',
      'WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone',
      'COPY t FROM STDIN',
      'ALTER TABLE t ADD COLUMN a int',
      `SELECT "public"."create_hypertable"('t', 'ts')`,
    ];
    assert.deepEqual(changes.filter(isChange), changes);
  });

  it('exclude queries, settings and savepoints', () => {
    const others = [
      'SELECT 1',
      'WITH one AS (SELECT 1) SELECT * FROM one',
      'SHOW timezone',
      "SET LOCAL lock_timeout = '10s'",
      'RESET ROLE',
      'SAVEPOINT s',
      'RELEASE SAVEPOINT s',
      'ROLLBACK TO SAVEPOINT s',
    ];
    assert.deepEqual(others.filter(isChange), []);
  });
});
