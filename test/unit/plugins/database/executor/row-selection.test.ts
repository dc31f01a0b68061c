import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell } from '../../../../../src/data/row-batch.ts';
import { type KeyPart, remainingRows, selectRows } from '../../../../../plugins/database/executor/row-selection.ts';

function key(...columns: Cell[][]): KeyPart[] {
  return columns.map((cells) => ({ cells, unit: 1 }));
}

function all(count: number): Int32Array {
  return remainingRows(count, new Set());
}

describe('row selection', () => {
  it('selects every row if there is no key or no key occurs twice', () => {
    const rows = all(3);
    assert.equal(selectRows(rows, [], 'last').rows, rows);
    assert.deepEqual(selectRows(rows, key([1, 2, 3]), 'last'), { rows, fallbackRows: undefined });
    assert.deepEqual(selectRows(rows, key([3, 1, 2]), 'last').rows, rows);
    assert.equal(selectRows(rows, key([3, 1, 2]), 'last').fallbackRows, undefined);
  });

  it('selects the last row of a key and keeps the previous one as a fallback', () => {
    const { rows, fallbackRows } = selectRows(all(5), key([1, 2, 1, 3, 1]), 'last');
    assert.deepEqual([...rows], [1, 3, 4]);
    assert.equal(fallbackRows?.[4], 2);
    assert.equal(fallbackRows[2], 0);
    assert.equal(fallbackRows[1], -1);
  });

  it('selects the first row of a key if stored rows are kept', () => {
    const { rows, fallbackRows } = selectRows(all(5), key([1, 2, 1, 3, 1]), 'first');
    assert.deepEqual([...rows], [0, 1, 3]);
    assert.equal(fallbackRows?.[0], 2);
    assert.equal(fallbackRows[2], 4);
  });

  it('compares all parts of a key, numbers and bigints by value, bytes by content', () => {
    const twoParts = key(['a', 'a', 'ab', 'a'], [1, 2n, 1, 1n]);
    assert.deepEqual([...selectRows(all(4), twoParts, 'last').rows], [1, 2, 3]);
    const bytes = key([Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(1)]);
    assert.deepEqual([...selectRows(all(3), bytes, 'last').rows], [1, 2]);
    const wide = key([2n ** 60n, 2n ** 60n + 1n, 2n ** 60n]);
    assert.deepEqual([...selectRows(all(3), wide, 'last').rows], [1, 2]);
  });

  it('treats times as equal if they are equal in the column’s precision, also after rounding up', () => {
    const cells = [1_000_100, 1_000_400, 1_000_900, 1_001_200n];
    const millis = [{ cells, unit: 1000 }];
    assert.deepEqual([...selectRows(all(4), millis, 'last').rows], [1, 3]);
    assert.deepEqual([...selectRows(all(4), [{ cells, unit: 1 }], 'last').rows], [0, 1, 2, 3]);
  });

  it('removes refused rows before keys are compared', () => {
    const candidates = remainingRows(3, new Set([2]));
    assert.deepEqual([...selectRows(candidates, key([1, 2, 1]), 'last').rows], [0, 1]);
  });

  it('keeps exactly one row per key, and the right one, whatever the keys are', () => {
    const cell = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom('x', 'y', '1'), fc.constant(3n));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell), { maxLength: 30 }),
        fc.constantFrom('last', 'first'),
        (rows, prefer) => {
          const text = rows.map(([left, right]) => `${typeof left === 'string' ? 's' : 'n'}${left}|${right}`);
          // Texts and numbers do not mix in one column: make them differ in text too.
          const columns = [
            rows.map(([left]) => (typeof left === 'string' ? `s${left}` : left)),
            rows.map((r) => String(r[1])),
          ];
          const expected = text
            .map((value, row) => ({ value, row }))
            .filter(({ value, row }) => row === (prefer === 'last' ? text.lastIndexOf(value) : text.indexOf(value)))
            .map(({ row }) => row);
          assert.deepEqual([...selectRows(all(rows.length), key(...columns), prefer).rows], expected);
        },
      ),
    );
  });
});
