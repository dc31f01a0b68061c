import assert from 'node:assert/strict';
import { tablesOf } from '../../src/data/sql-schema.ts';
import { statementsIn } from '../../src/data/statements.ts';

describe('the statements of a text', () => {
  const sqls = (text: string) => statementsIn(text).map(({ sql }) => sql);

  it('end at semicolons outside of texts, names and comments', () => {
    assert.deepEqual(sqls(`select ';' ; select ";" -- ;\n; select $a$;$$;$a$ /* ; */; `), [
      `select ';'`,
      `select ";" -- ;`,
      'select $a$;$$;$a$ /* ; */',
    ]);
    assert.deepEqual(sqls(`select 'it''s; one'`), [`select 'it''s; one'`]);
    assert.deepEqual(sqls('-- nothing\n;;  /* here */ '), []);
    assert.deepEqual(sqls('select /* a; /* b; */ c; */ 1; select 2 /* open'), [
      'select /* a; /* b; */ c; */ 1',
      'select 2 /* open',
    ]);
    assert.deepEqual(sqls(`select E'it\\';' ; select type'\\' ; select 3`), [
      `select E'it\\';'`,
      `select type'\\'`,
      'select 3',
    ]);
  });

  it('know their places', () => {
    const text = 'select 1;\n  select nope';
    assert.deepEqual(
      statementsIn(text).map(({ from, to }) => text.slice(from, to)),
      ['select 1', 'select nope'],
    );
  });
});

describe('the tables beside the statements', () => {
  it('are named as a statement names them, with their columns in order', () => {
    const rows = [
      ['public', 'orders', 'id', 'bigint'],
      ['public', 'orders', 'Amount', 'numeric'],
      ['plant', 'Meters', 'v', 'text'],
    ];
    assert.deepEqual(
      tablesOf(rows).map(({ name, columns }) => [name, columns.length]),
      [
        ['orders', 2],
        ['plant."Meters"', 1],
      ],
    );
  });
});
