import assert from 'node:assert/strict';
import { splitInSteps, splitStatements } from '../../../../../plugins/database/sql/split.ts';

function split(text: string): string[] {
  return [...splitStatements(text)].map((statement) => statement.text);
}

describe('splitting a text into statements', () => {
  it('ends them at semicolons and leaves out empty pieces', () => {
    assert.deepEqual(split(' ;; select 1;\r\n\n select\n2 ; -- nothing\n;'), ['select 1', 'select\n2']);
    assert.deepEqual(split('\n\r\n'), []);
    assert.deepEqual(split(''), []);
  });

  it('provides the offset of each', () => {
    const text = '/* a */ select 1; select 2';
    assert.deepEqual(
      [...splitStatements(text)].map(({ offset, text: statement }) => text.slice(offset, offset + statement.length)),
      ['/* a */ select 1', 'select 2'],
    );
  });

  it('keeps semicolons in quotes and comments', () => {
    for (const statement of [
      `insert into t values (';', E'\\';', ";", $$;$$, $a$;$$;$a$)`,
      'select 1 /* ; /* ; */ ; */ + 2',
      'select 1 -- ;\n + 2',
      'select a$b$c',
      `select 'a'\n';'`,
      `select U&";" , B'1'`,
    ]) {
      assert.deepEqual(split(`${statement};select 2`), [statement, 'select 2']);
    }
  });

  it('keeps the body of BEGIN ATOMIC whole, with CASE and nested parentheses', () => {
    for (const routine of [
      'CREATE FUNCTION f(a int) RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN a > (1) THEN 2 ELSE 3 END; END',
      'create or replace procedure p() begin atomic insert into t values (case 1 when 1 then (select case when true then 1 end) end); end',
      'CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT t.end FROM t; SELECT 1 AS end; END',
    ]) {
      assert.deepEqual(split(`${routine}; SELECT 2`), [routine, 'SELECT 2']);
    }
  });

  it('does not take BEGIN, a column or a body in quotes for BEGIN ATOMIC', () => {
    assert.deepEqual(split('BEGIN; SELECT 1; END'), ['BEGIN', 'SELECT 1', 'END']);
    assert.deepEqual(split('CREATE TABLE atomic (begin int); SELECT 1'), [
      'CREATE TABLE atomic (begin int)',
      'SELECT 1',
    ]);
    const routine = 'CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN ATOMIC; RETURN 1; END $$';
    assert.deepEqual(split(`${routine}; SELECT 1`), [routine, 'SELECT 1']);
    assert.deepEqual(split('CREATE FUNCTION f(begin atomic) RETURNS int RETURN 1; SELECT 1').length, 2);
  });

  it('keeps the actions of CREATE RULE whole', () => {
    const rule = 'CREATE OR REPLACE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM a; DELETE FROM b WHERE (c))';
    assert.deepEqual(split(`${rule}; SELECT 1`), [rule, 'SELECT 1']);
  });

  it('ends a statement with an open parenthesis at its semicolon, so that the next one still runs', () => {
    assert.deepEqual(split('CREATE TABLE t (a int; CREATE TABLE u (b int)'), [
      'CREATE TABLE t (a int',
      'CREATE TABLE u (b int)',
    ]);
  });

  it('marks a statement that was cut off', () => {
    assert.deepEqual(
      [...splitStatements(`select 1; select 'a; select 2`)].map(({ text, unterminated }) => [text, unterminated]),
      [
        ['select 1', false],
        [`select 'a; select 2`, true],
      ],
    );
  });

  it('treats the same characters as blanks as PostgreSQL, so that no name loses one', () => {
    assert.deepEqual(split('DROP TABLE x\u00a0;\t SELECT\n1 \f'), ['DROP TABLE x\u00a0', 'SELECT\n1']);
  });

  it('is done in steps of 100,000 characters, however few tokens they are (S12)', () => {
    const steps = (text: string) => [...splitInSteps(text)].filter((found) => found === undefined).length;
    assert.equal(steps(`select ${`'${'x'.repeat(99_997)}',`.repeat(20)}1`), 20);
    assert.equal(steps(`select ${'~+'.repeat(500_000)}`), 9);
    assert.ok(steps(`select ${'+'.repeat(100_000)}`) >= 19);
  });

  it('does not take CASE, END and BEGIN that are names in a body for its words', () => {
    for (const body of [
      'select 1 from t begin;',
      'select 1 end; select 2 as end;',
      'select 1 case; select 2;',
      'select case when true then 1 end end;',
      '',
    ]) {
      const create = `create function f() returns int begin atomic ${body} end`;
      assert.deepEqual(
        [...splitStatements(`${create}; select 1`)].map(({ text }) => text),
        [create, 'select 1'],
      );
    }
  });
});
