import assert from 'node:assert/strict';
import {
  changeProblem,
  isAlreadyApplied,
  type ChangeKind,
} from '../../../../../plugins/database/sql/change-statement.ts';

describe('a statement that came as data', () => {
  it('must be one statement of the kind that its message declares', () => {
    const fine: readonly (readonly [ChangeKind, string])[] = [
      ['update', `UPDATE t SET note = 'a;b' WHERE id = 1;`],
      ['delete', '/* all */ delete from t'],
      ['update', 'WITH x AS (SELECT 1 AS n) UPDATE t SET v = x.n FROM x'],
      ['create', 'CREATE TABLE t (ts timestamp not null, v int) TAGS (loc varchar not null) PRIMARY TAGS (loc)'],
      ['alter', 'ALTER TABLE t ADD COLUMN w int8'],
      ['drop', 'DROP TABLE IF EXISTS t'],
    ];
    for (const [kind, sql] of fine) assert.equal(changeProblem(sql, kind), undefined, sql);
    assert.equal(
      changeProblem('DELETE FROM t', 'drop'),
      'the message is of kind drop and carries a statement that begins with delete',
    );
    assert.match(changeProblem('TRUNCATE t', 'delete') ?? '', /begins with truncate/);
    assert.match(changeProblem('(SELECT 1)', 'update') ?? '', /another one/);
    assert.match(changeProblem(`DROP TABLE a; DROP TABLE b`, 'drop') ?? '', /several statements/);
    assert.equal(changeProblem(' -- nothing\n', 'drop'), 'the statement is empty');
  });

  it('counts as already applied when it is delivered again, and only then', () => {
    const done: readonly (readonly [ChangeKind, string, string])[] = [
      ['create', 'CREATE TABLE t (a int)', '42P07'],
      ['create', 'CREATE TYPE e AS ENUM ()', '42710'],
      ['drop', 'DROP TABLE t', '42P01'],
      ['drop', 'DROP TABLE s.t', '3F000'],
      ['alter', 'ALTER TABLE t ADD COLUMN a int', '42701'],
      ['alter', 'ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)', '42710'],
      ['alter', 'ALTER TABLE t ADD PRIMARY KEY (a)', '42P16'],
      ['alter', 'ALTER TABLE t ADD CONSTRAINT p PRIMARY KEY (a)', '42P16'],
      ['alter', 'ALTER TABLE t DROP COLUMN a', '42703'],
      ['alter', 'ALTER TABLE t RENAME TO u', '42P01'],
      ['alter', 'ALTER TABLE t RENAME COLUMN a TO b', '42703'],
    ];
    for (const [kind, sql, sqlstate] of done) assert.ok(isAlreadyApplied(sql, kind, sqlstate), sql);
    const failed: readonly (readonly [ChangeKind, string, string])[] = [
      ['create', 'CREATE TABLE t (a nosuchtype)', '42704'],
      ['create', 'CREATE TABLE t AS SELECT row(1, 2) AS a', '42P16'],
      ['create', 'CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)', '42P16'],
      ['create', 'CREATE TABLE t (a int) TAGS (b int) PRIMARY TAGS (b)', '42P16'],
      ['alter', 'ALTER TABLE t ADD COLUMN a record', '42P16'],
      ['alter', 'ALTER TABLE t ADD COLUMN a int', '42P01'],
      ['alter', 'ALTER TABLE t ALTER COLUMN a TYPE text', '42703'],
      ['alter', `ALTER TABLE t ADD COLUMN "rename" int DEFAULT 'drop'`, '42703'],
      ['update', 'UPDATE t SET a = 1', '42P01'],
      ['delete', 'DELETE FROM t', '42P01'],
    ];
    for (const [kind, sql, sqlstate] of failed) assert.ok(!isAlreadyApplied(sql, kind, sqlstate), sql);
  });
});
