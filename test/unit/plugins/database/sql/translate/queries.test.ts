import assert from 'node:assert/strict';
import { tablesNeeded } from '../../../../../../plugins/database/sql/translate/translate.ts';
import { afterRefusal } from './translation-context.ts';

/** Five milliseconds, as a timestamp(3) of `meters` and a timestamp of `log` has it; `seen` has no zone. */
const MS = `'1970-01-01 00:00:00.005000+00'`;
const US = `'1970-01-01 00:00:00.000005+00'`;
const SEEN = `'1970-01-01 00:00:00.000005'`;

/** Statements in which each constant is followed by what it becomes, in braces. */
function assertRewritten(...samples: readonly string[]): void {
  for (const sample of samples) {
    const written = sample.replaceAll(/\{[^}]*\}/g, '');
    const expected = sample.replaceAll(/(?:"[^"]*"|-?\d+)\{([^}]*)\}/g, '$1');
    assert.equal(afterRefusal(written, '42883'), expected, written);
  }
}

function assertLeft(...samples: readonly string[]): void {
  for (const sql of samples) assert.equal(afterRefusal(sql, '42883'), undefined, sql);
}

describe('integer times and double-quoted texts in queries of several levels', () => {
  it('are read in queries in FROM, and of what these give', () => {
    assertRewritten(
      `SELECT * FROM (SELECT ts, power FROM meters WHERE ts > 5{${MS}}) m WHERE m.ts < 5{${MS}} AND power > 5`,
      `SELECT * FROM (SELECT at AS began, "Note" FROM log) AS l WHERE began = 5{${US}} AND "Note" = "x"{'x'}`,
      `SELECT * FROM (SELECT * FROM meters) m(t, p) WHERE t = 5{${MS}} AND p = 5 AND location = "x"{'x'}`,
      `SELECT * FROM (SELECT m.*, 1 AS one FROM meters m) x WHERE ts = 5{${MS}} AND one = 5`,
      `SELECT * FROM log l, LATERAL (SELECT 1 FROM meters WHERE ts > 5{${MS}} AND l.at < 5{${US}}) x`,
      `SELECT * FROM (meters JOIN log ON at = 5{${US}}) WHERE ts = 5{${MS}}`,
    );
  });

  it('are read where a sample of the table is queried', () => {
    assertRewritten(
      `SELECT * FROM meters TABLESAMPLE BERNOULLI (10) WHERE meters.ts = 5{${MS}}`,
      `SELECT * FROM meters m TABLESAMPLE SYSTEM (10) REPEATABLE (1) WHERE m.ts = 5{${MS}}`,
    );
  });

  it('are read in queries in conditions and lists, which see the tables around them', () => {
    assertRewritten(
      `SELECT 1 FROM log WHERE EXISTS (SELECT 1 FROM meters WHERE ts > 5{${MS}} AND at = 5{${US}})`,
      `SELECT 1 FROM log WHERE id IN (SELECT power FROM meters m WHERE m.ts > 5{${MS}}) AND log.at > 5{${US}}`,
      `SELECT (SELECT max(power) FROM meters WHERE ts < 5{${MS}}), at > 5{${US}} FROM log`,
      `SELECT 1 FROM keyless WHERE a = ANY (SELECT id FROM log WHERE "Note" = "x"{'x'} OR b = "y"{'y'})`,
      `SELECT CASE WHEN ts > 5{${MS}} THEN 1 ELSE 2 END FROM meters`,
    );
  });

  it('are read in common tables and of what these give', () => {
    assertRewritten(
      `WITH a AS (SELECT ts FROM meters WHERE ts > 5{${MS}}), b AS (SELECT * FROM a WHERE ts < 5{${MS}}) SELECT * FROM b WHERE ts = 5{${MS}}`,
      `WITH a (x, y) AS MATERIALIZED (SELECT at, seen FROM log) SELECT 1 FROM a q WHERE q.x = 5{${US}} AND y = 5{${SEEN}}`,
      `WITH RECURSIVE a AS (SELECT ts FROM meters UNION ALL SELECT ts FROM a WHERE ts < 5) SELECT 1 FROM a WHERE ts > 5{${MS}}`,
      `WITH gone AS (DELETE FROM meters WHERE ts < 5{${MS}} RETURNING *) SELECT count(*) FROM gone`,
    );
  });

  it('are read in every arm of UNION, INTERSECT and EXCEPT', () => {
    assertRewritten(
      `SELECT ts FROM meters WHERE ts > 5{${MS}} UNION ALL SELECT at FROM log WHERE at > 5{${US}} EXCEPT (SELECT seen FROM log WHERE seen = 5{${SEEN}})`,
      `(SELECT ts FROM meters WHERE ts > 5{${MS}}) UNION (SELECT at FROM log WHERE at > 5{${US}}) ORDER BY 1 LIMIT 5`,
      `SELECT * FROM (SELECT ts AS t FROM meters UNION SELECT at FROM log) x WHERE t = 5{${MS}}`,
    );
  });

  it('are read in joins, by alias and where USING makes one column of two', () => {
    assertRewritten(
      `SELECT 1 FROM meters AS a JOIN meters b ON a.ts = b.ts AND b.ts > 5{${MS}} LEFT JOIN log c ON c.at = 5{${US}} WHERE a.ts < 5{${MS}}`,
      `SELECT 1 FROM meters a JOIN meters b USING (ts) WHERE ts > 5{${MS}}`,
      `SELECT 1 FROM meters a NATURAL JOIN meters WHERE ts > 5{${MS}}`,
      `SELECT 1 FROM log, generate_series(1, 5) g(n) WHERE log.at > 5{${US}} AND n > 5`,
    );
  });

  it('are read in UPDATE, DELETE and INSERT with queries', () => {
    assertRewritten(
      `UPDATE log SET at = 5{${US}} FROM meters m WHERE m.ts = 5{${MS}} AND id IN (SELECT power FROM meters WHERE ts < 5{${MS}})`,
      `DELETE FROM meters USING log l WHERE l.at = 5{${US}} AND ts BETWEEN 5{${MS}} AND 5{${MS}}`,
      `DELETE FROM meters WHERE ts < (SELECT max(at) FROM log WHERE at < 5{${US}})`,
      `INSERT INTO keyless SELECT power, location FROM meters WHERE ts > 5{${MS}} ON CONFLICT (a) DO UPDATE SET b = 5`,
      `INSERT INTO keyless (a) SELECT id FROM log WHERE at > 5{${US}} UNION SELECT power FROM meters WHERE ts > 5{${MS}}`,
      `WITH a AS (SELECT * FROM meters) DELETE FROM log USING a WHERE at = 5{${US}} AND a.ts = 5{${MS}}`,
      `EXPLAIN ANALYZE SELECT 1 FROM meters WHERE ts > 5{${MS}}`,
      `CREATE TABLE late AS SELECT * FROM meters WHERE ts > 5{${MS}}`,
    );
  });

  it('are read beside min and max of a time', () => {
    assertRewritten(
      `SELECT location FROM meters GROUP BY location HAVING max(ts) > 5{${MS}} AND 5{${MS}} <= min(meters.ts)`,
      `SELECT 1 FROM (SELECT max(ts), location AS l FROM meters GROUP BY 2) s WHERE max = 5{${MS}} AND l = "x"{'x'}`,
      `SELECT 1 FROM (SELECT max(ts) AS last FROM meters) x WHERE last = 5{${MS}}`,
    );
  });

  it('are left alone where it is not certain what a name means', () => {
    assertLeft(
      'SELECT 1 FROM (SELECT power + 1 AS ts FROM meters) x WHERE ts > 5',
      'SELECT 1 FROM (SELECT count(*), ts + interval \'1 s\' FROM meters GROUP BY 2) x WHERE "?column?" > 5',
      'SELECT 1 FROM f() WHERE ts > 5',
      'SELECT 1 FROM meters WHERE power IN (SELECT f.x FROM f WHERE ts > 5)',
      'SELECT 1 FROM meters a, meters b WHERE ts > 5',
      'SELECT 1 FROM meters m WHERE meters.ts > 5',
      'WITH meters AS (SELECT 1 AS ts) SELECT 1 FROM meters WHERE ts > 5',
      'SELECT 1 FROM (SELECT ts FROM meters) a, (SELECT 1 FROM a WHERE ts > 5) b',
      'SELECT 1 FROM (VALUES (1)) v(ts) WHERE ts > 5',
      'SELECT 1 FROM meters WHERE power IS DISTINCT FROM 5',
      'VALUES (1)',
      'MERGE INTO meters USING log ON ts = 5 WHEN MATCHED THEN DELETE',
    );
    assert.equal(
      afterRefusal('SELECT "x" FROM f() WHERE EXISTS (SELECT 1 FROM keyless WHERE b = "x")', '42703'),
      undefined,
    );
  });

  it('do not overflow the stack because of deep nesting', () => {
    const deep = `SELECT 1 FROM meters WHERE power IN (${'SELECT (('.repeat(20_000)}`;
    assert.equal(afterRefusal(deep, '42883'), undefined);
    assert.equal(afterRefusal(`${'('.repeat(100_000)}SELECT 1`, '42883'), undefined);
  });

  it('need the definitions of all named tables except common table expressions', () => {
    const sql = 'WITH a AS (SELECT * FROM b) SELECT * FROM a, (SELECT * FROM plant.c) d WHERE EXISTS (SELECT FROM e)';
    assert.deepEqual(tablesNeeded(sql, 'plant', '42883'), [
      { name: 'b' },
      { schema: 'plant', name: 'c' },
      { name: 'c' },
      { name: 'e' },
    ]);
  });
});

describe('functions of the original', () => {
  it('are not translated if no name follows a dot', () => {
    for (const argument of ['m.*', 'm.', 'a.[]', 'm.(ts)', 'm.1', 'm.*, power']) {
      for (const name of ['first', 'last_row', 'lastts']) {
        const sql = `SELECT ${name}(${argument}) FROM meters m`;
        assert.doesNotMatch(String(outcome(sql)), /RangeError|TypeError/, sql);
      }
    }
    assert.match(String(outcome('SELECT last(m.*) FROM meters m')), /last\(\) requires a column of a table/);
    assert.match(String(outcome('SELECT last(m.*::text || m.power) FROM meters m')), /ORDER BY "m"."ts" DESC/);
  });
});

function outcome(sql: string): unknown {
  try {
    return afterRefusal(sql, '42883');
  } catch (error) {
    return error;
  }
}
