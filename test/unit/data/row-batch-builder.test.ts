import assert from 'node:assert/strict';
import { RowBatchBuilder } from '../../../src/data/row-batch-builder.ts';

const RECORD = { kind: 'record', topic: 't', partition: 0, offset: 3 } as const;

describe('a row batch under construction', () => {
  it('gives null to columns that a row has no cell for, before and after the column came', () => {
    const rows = new RowBatchBuilder({ name: 't' });
    rows.addColumn('a', 'data', 'int').cells.push(1);
    rows.endRow(RECORD, 0);
    rows.addColumn('b', 'data', 'int').cells.push(2);
    rows.endRow(RECORD, 0);
    const batch = rows.build();
    assert.deepEqual(
      batch.columns.map(({ name, cells }) => [name, cells]),
      [
        ['a', [1, null]],
        ['b', [null, 2]],
      ],
    );
    assert.equal(batch.rowCount, 2);
  });

  it('forgets an abandoned row, and rows that are taken back', () => {
    const rows = new RowBatchBuilder({ name: 't' });
    const column = rows.addColumn('a', 'data', 'int');
    for (const cell of [1, 2, 3]) {
      column.cells.push(cell);
      rows.endRow({ kind: 'line', line: 10 }, cell);
    }
    column.cells.push(4);
    rows.abandonRow();
    assert.deepEqual(column.cells, [1, 2, 3]);
    rows.truncate(1);
    column.cells.push(5);
    rows.endRow({ kind: 'line', line: 20 }, 0);
    const batch = rows.build();
    assert.deepEqual(column.cells, [1, 5]);
    assert.deepEqual(
      [batch.origins.at(0), batch.origins.at(1)],
      [
        { kind: 'line', line: 11 },
        { kind: 'line', line: 20 },
      ],
    );
    assert.throws(() => batch.origins.at(2), RangeError);
  });

  it('has one column of each name', () => {
    const rows = new RowBatchBuilder({ name: 't' });
    const column = rows.addColumn('a', 'tag', 'text');
    assert.equal(rows.column('a'), column);
    assert.equal(rows.column('b'), undefined);
    assert.throws(() => rows.addColumn('a', 'data', 'int'), /one column of each name: a/);
  });
});
