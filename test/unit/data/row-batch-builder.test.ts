import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Origin } from '../../../src/data/fault.ts';
import { RowBatchBuilder } from '../../../src/data/row-batch-builder.ts';
import { blockOf } from '../plugins/database/formats/block-of.ts';

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

  it('knows of each row where it came from, whatever came and was taken back', () => {
    const block = blockOf(['a', 'b', 'c', 'd']);
    const { topic, partition } = block;
    const text = { kind: 'line', line: 1 } as const;
    const step = fc.oneof(
      fc.record({ line: fc.nat(3) }),
      fc.record({ index: fc.nat(3) }),
      fc.record({ offset: fc.nat(3) }),
      fc.record({ left: fc.nat(9) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const rows = new RowBatchBuilder({ name: 't' });
        const expected: Origin[] = [];
        for (const each of steps) {
          if ('line' in each) {
            rows.endRow(text, each.line);
            expected.push({ kind: 'line', line: 1 + each.line });
          } else if ('index' in each) {
            rows.endRowOf(block, each.index);
            expected.push({ kind: 'record', topic, partition, offset: block.offsets[each.index] ?? -1 });
          } else if ('offset' in each) {
            const origin = { ...RECORD, offset: each.offset };
            expected.push(origin);
            rows.endRow(origin, 0);
          } else {
            expected.length = Math.min(expected.length, each.left);
            rows.truncate(expected.length);
          }
        }
        const { origins, rowCount } = rows.build();
        assert.deepEqual(
          Array.from({ length: rowCount }, (_, row) => origins.at(row)),
          expected,
        );
        assert.throws(() => origins.at(rowCount), RangeError);
      }),
    );
  });

  it('has one column of each name', () => {
    const rows = new RowBatchBuilder({ name: 't' });
    const column = rows.addColumn('a', 'tag', 'text');
    assert.equal(rows.column('a'), column);
    assert.equal(rows.column('b'), undefined);
    assert.throws(() => rows.addColumn('a', 'data', 'int'), /the batch already has a column a/);
  });
});
