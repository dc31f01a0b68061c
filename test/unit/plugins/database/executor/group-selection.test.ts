import assert from 'node:assert/strict';
import type { RowGroups } from '../../../../../src/data/row-batch.ts';
import { type EqualKeys, selectByGroup } from '../../../../../plugins/database/executor/group-selection.ts';

/** Rows as `operation key`: `+` stores all columns, `~` stores others, `-` deletes. */
function select(text: string, equalKeys: EqualKeys = 'last'): string[] {
  const rows = text.split(' ');
  const all = new Set(['id', 'v']);
  const groups: RowGroups = {
    list: [
      { operation: 'store', columns: all },
      { operation: 'store', columns: new Set(['id', 'w']) },
      { operation: 'delete', columns: new Set(['id']) },
    ],
    of: (row) => '+~-'.indexOf(rows[row]?.[0] ?? ''),
  };
  const key = [{ cells: rows.map((row) => row.slice(1)), unit: 1 }];
  const candidates = Int32Array.from(rows.keys());
  return selectByGroup(candidates, key, groups, equalKeys).map(
    ({ group, rows: chosen }) => `${['all', 'others', 'delete'][group] ?? ''} ${[...chosen].join()}`,
  );
}

describe('rows of several groups', () => {
  const cases: [string, string[]][] = [
    ['+a +b +c', ['all 0,1,2']],
    ['+a +b +a', ['all 1,2']],
    ['+a -a', ['delete 1']],
    ['+a -a +a', ['delete 1', 'all 2']],
    ['-a +a -a', ['delete 2']],
    ['-a -a', ['delete 1']],
    ['+a -b +c -a +b', ['delete 1,3', 'all 2,4']],
    ['+a ~b', ['all 0', 'others 1']],
    ['+a ~a', ['all 0', 'others 1']],
    ['~a +a', ['others 0', 'all 1']],
    ['+a ~a +a +b', ['all 0,3', 'others 1', 'all 2']],
    ['+a ~a ~a', ['all 0', 'others 2']],
    ['+a ~a -a ~a', ['delete 2', 'others 3']],
  ];
  for (const [text, expected] of cases) {
    it(`${text} are done as: ${expected.join('; ')}`, () => {
      assert.deepEqual(select(text), expected);
    });
  }

  it('are all sent if equal keys are errors, except those before a deletion', () => {
    assert.deepEqual(select('+a +a ~a -b +b +b', 'all'), ['delete 3', 'all 0,1,4,5', 'others 2']);
    assert.deepEqual(select('+a -a +a +a', 'all'), ['delete 1', 'all 2,3']);
  });

  it('keep the first of each key if stored rows are kept', () => {
    assert.deepEqual(select('+a +a ~a -b +b +b', 'first'), ['delete 3', 'all 0,4']);
  });

  it('share a statement with other rows of the same key and group if they are merged', () => {
    assert.deepEqual(select('+a +a +b ~a', 'merge'), ['all 0,1,2', 'others 3']);
    assert.deepEqual(select('+a ~a +a +b', 'merge'), ['all 0,3', 'others 1', 'all 2']);
    assert.deepEqual(select('+a +a -a ~a ~a', 'merge'), ['delete 2', 'others 3,4']);
  });

  it('replace earlier ones of their group, except those before a deletion', () => {
    const groups: RowGroups = {
      list: [
        { operation: 'store', columns: new Set(['id']) },
        { operation: 'delete', columns: new Set(['id']) },
      ],
      of: (row) => (row === 2 ? 1 : 0),
    };
    const key = [{ cells: ['a', 'b', 'b', 'a', 'b', 'b'], unit: 1 }];
    const [deletion, stored] = selectByGroup(Int32Array.of(0, 1, 2, 3, 4, 5), key, groups, 'last');
    assert.deepEqual([...(deletion?.rows ?? [])], [2]);
    assert.deepEqual([...(stored?.rows ?? [])], [3, 5]);
    assert.deepEqual([...(stored?.fallbackRows ?? [])], [-1, -1, -1, 0, -1, 4]);
  });
});
