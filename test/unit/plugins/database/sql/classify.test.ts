import assert from 'node:assert/strict';
import fc from 'fast-check';
import { classify, type StatementKind } from '../../../../../plugins/database/sql/classify.ts';

describe('classifying a statement', () => {
  it('uses the first word after comments and parentheses', () => {
    const kinds: Record<string, StatementKind> = {
      "select 'update'": 'select',
      '-- drop\n/* create /* x */ */ Select 1': 'select',
      '((select 1) union (select 2))': 'select',
      'values (1)': 'values',
      'table t': 'table',
      'insert into t values (1)': 'insert',
      'UPSERT INTO t VALUES (1)': 'upsert',
      'update t set a = 1': 'update',
      'delete from t': 'delete',
      'merge into t using u on true when matched then delete': 'merge',
      'create ts database x': 'create',
      'alter table t add tag x int': 'alter',
      'drop table t': 'drop',
      'truncate t': 'truncate',
      'comment on table t is null': 'comment',
      'grant all on t to u': 'grant',
      'revoke all on t from u': 'revoke',
      'use x': 'use',
      'set timezone = 8': 'set',
      'set cluster setting a.b = 1': 'set-cluster-setting',
      'reset cluster setting a.b': 'set-cluster-setting',
      'reset all': 'reset',
      'show timezone': 'show',
      'show create table t': 'show-create',
      'SHOW CREATE t': 'show-create',
      'show cluster setting a.b': 'show-cluster-setting',
      'show all cluster settings': 'show-cluster-setting',
      'show all': 'show',
      begin: 'transaction',
      'start transaction': 'transaction',
      'prepare transaction $$x$$': 'transaction',
      'prepare p as select 1': 'prepare',
      'copy t from stdin': 'copy',
      'call p()': 'call',
      'do $$ begin end $$': 'do',
      vacuum: 'maintenance',
      'declare c cursor for select 1': 'cursor',
      frobnicate: 'no-statement',
      '"select" 1': 'no-statement',
      ' -- nothing': 'empty',
    };
    for (const [statement, kind] of Object.entries(kinds)) assert.equal(classify(statement).kind, kind, statement);
  });

  it('returns the first word in lower case, for messages', () => {
    assert.equal(classify('/* x */ DROP table t').keyword, 'drop');
    assert.equal(classify('with a as (select 1) select 1').keyword, 'with');
    assert.equal(classify('(select 1)').keyword, '');
  });

  it('classifies WITH by the statement after the common table expressions', () => {
    const kinds: Record<string, StatementKind> = {
      'with a as (select 1) select * from a': 'select',
      'WITH RECURSIVE a (n) AS NOT MATERIALIZED (SELECT 1), b AS (VALUES (1)) INSERT INTO t SELECT 1': 'insert',
      'with delete as (select 1), update as (select 2) select 1': 'select',
      'with a as (with b as ((select 1)) select 1) update t set x = 1': 'update',
      'with recursive a as (select 1) search depth first by x set y, b as (select 1) delete from t': 'delete',
      'with a as (select 1) upsert into t values (1)': 'upsert',
    };
    for (const [statement, kind] of Object.entries(kinds)) assert.equal(classify(statement).kind, kind, statement);
  });

  it('reports that data may change: DML, also in common table expressions and EXPLAIN ANALYZE', () => {
    for (const [statement, writes] of [
      ['select 1', false],
      ['explain delete from t', false],
      ['explain analyze verbose delete from t', true],
      ['explain (costs, analyze) delete from t', true],
      ['explain (analyze off, costs) delete from t', false],
      ["explain (analyze 'false') delete from t", false],
      ['explain analyze select 1', false],
      ['explain (select 1)', false],
      ['with a as (delete from t returning *) select * from a', true],
      ['explain analyze with a as (insert into t values (1)) select 1', true],
      ['show all', false],
      ['set timezone = 8', true],
    ] as const) {
      assert.equal(classify(statement).writes, writes, statement);
    }
    assert.equal(classify('explain (verbose) update t set a = 1').explained, 'update');
  });

  it('never throws, for any nesting or invalid text', () => {
    for (const piece of ['WITH a AS (', 'EXPLAIN ', '(', 'WITH ', 'EXPLAIN (a', ')']) {
      assert.ok(classify(piece.repeat(20_000)).kind);
    }
    const words = [
      'WITH',
      'AS',
      '(',
      ')',
      ',',
      'EXPLAIN',
      'ANALYZE',
      'SELECT',
      'DELETE',
      'a',
      'SEARCH',
      "'",
      '--',
      ';',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 30 }), (soup) => {
        assert.ok(classify(soup.join(' ')).kind);
      }),
      { numRuns: 300 },
    );
  });

  it('reads at most 300,000 tokens, and assumes that a longer statement writes (S12)', () => {
    const options = (count: number) => `explain (${'analyze,'.repeat(count)}analyze) delete from t`;
    assert.deepEqual(classify(options(1_000)), {
      keyword: 'explain',
      kind: 'explain',
      explained: 'delete',
      changing: undefined,
      writes: true,
    });
    assert.equal(classify(options(200_000)).writes, true);
    const tables = (count: number) => `with a as (values (1)${',(1)'.repeat(count)}) select 1`;
    assert.deepEqual(classify(tables(1_000)), {
      keyword: 'with',
      kind: 'select',
      explained: undefined,
      changing: undefined,
      writes: false,
    });
    assert.deepEqual(classify(tables(100_000)), {
      keyword: 'with',
      kind: 'unknown',
      explained: undefined,
      changing: undefined,
      writes: true,
    });
    assert.equal(classify(`${'('.repeat(1_000_000)}select 1`).kind, 'unknown');
  });
});
