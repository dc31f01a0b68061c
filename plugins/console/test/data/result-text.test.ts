import assert from 'node:assert/strict';
import { chartColumns, chartPoints, placeOf } from '../../src/data/result-text.ts';
import { kindOf, type Cell } from '../../src/data/sql-api.ts';

function result(types: readonly string[], ...rows: readonly Cell[][]) {
  return { columns: types.map((type, index) => ({ name: `c${String(index)}`, type })), rows };
}

describe('the chart of a result', () => {
  it('exists for a time and a number', () => {
    const rows: Cell[][] = [
      ['2026-01-01T00:00:01Z', 'a', '2'],
      ['2026-01-01T00:00:00Z', 'b', null],
    ];
    const found = result(['TIMESTAMPTZ', 'TEXT', 'INT8'], ...rows);
    assert.deepEqual(chartColumns(found), { time: 0, values: [2] });
    assert.equal(chartColumns(result(['TEXT', 'INT8'], ...rows)), undefined);
    assert.deepEqual(chartPoints(found, 0, 2), [
      [Date.UTC(2026, 0, 1) / 1000, Date.UTC(2026, 0, 1) / 1000 + 1],
      [null, 2],
    ]);
  });
});

describe('a statement', () => {
  it('is sent to the path of its kind, whatever precedes its first word', () => {
    assert.equal(kindOf('select 1'), 'query');
    assert.equal(kindOf(' -- why\n/* so */ (SELECT 1)'), 'query');
    assert.equal(kindOf('Insert into t values (1)'), 'insert');
    assert.equal(kindOf('drop table t'), 'ddl');
    assert.equal(kindOf(''), 'query');
  });

  it('has the position of a fault as line and column, also after characters beyond 16 bits', () => {
    assert.deepEqual(placeOf('select\n  nope', 10), { line: 2, column: 3, index: 9 });
    assert.deepEqual(placeOf("select '😀', nope", 13), { line: 1, column: 13, index: 13 });
  });
});
