import assert from 'node:assert/strict';
import { chartColumns, chartData, placeOf } from '../../src/data/result-text.ts';
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
    assert.deepEqual(chartColumns(found), { time: 0, values: [2], labels: [1] });
    assert.equal(chartColumns(result(['TEXT', 'INT8'], ...rows)), undefined);
    const start = Date.UTC(2026, 0, 1) / 1000;
    assert.deepEqual(chartData(found, { time: 0, value: 2, label: undefined }), {
      times: [start, start + 1],
      series: [{ label: '', values: [null, 2] }],
      more: 0,
    });
  });

  it('has a point for each row, also of one time and within a millisecond, and a line for each text', () => {
    const rows: Cell[][] = [
      ['2026-01-01T00:00:00.000002Z', 'a', '1'],
      ['2026-01-01T00:00:00.000001Z', 'a', '2'],
      ['2026-01-01T00:00:00.000001Z', 'b', '3'],
      ['2026-01-01T00:00:00.000001Z', 'a', '4'],
    ];
    const { times, series } = chartData({ rows }, { time: 0, value: 2, label: 1 });
    const start = Date.UTC(2026, 0, 1) / 1000;
    assert.deepEqual(
      times.map((at) => Math.round((at - start) * 1e6)),
      [1, 1, 1, 2],
    );
    assert.deepEqual(series, [
      { label: 'a', values: [2, undefined, 4, 1] },
      { label: 'b', values: [undefined, 3, undefined, undefined] },
    ]);
  });

  it('draws the first twelve of many lines, and says how many are left out', () => {
    const rows: Cell[][] = Array.from({ length: 15 }, (_, n) => [
      '2026-01-01T00:00:00Z',
      `line-${String(n)}`,
      String(n),
    ]);
    const { series, more } = chartData({ rows }, { time: 0, value: 2, label: 1 });
    assert.deepEqual([series.length, more], [12, 3]);
  });
});

describe('a statement', () => {
  it('is sent to the path of its kind, whatever precedes its first word', () => {
    assert.equal(kindOf('select 1'), 'query');
    assert.equal(kindOf(' -- why\n/* so */ (SELECT 1)'), 'query');
    assert.equal(kindOf('Insert into t values (1)'), 'insert');
    assert.equal(kindOf('drop table t'), 'ddl');
    assert.equal(kindOf(''), 'query');
    assert.equal(kindOf('selec 1'), 'query');
  });

  it('has the position of a fault as line and column, also after characters beyond 16 bits', () => {
    assert.deepEqual(placeOf('select\n  nope', 10), { line: 2, column: 3, index: 9 });
    assert.deepEqual(placeOf("select '😀', nope", 13), { line: 1, column: 13, index: 13 });
  });
});
