import assert from 'node:assert/strict';
import type { Cell, RowBatch, RowGroup } from '../../../../../src/data/row-batch.ts';
import type { WritePolicy } from '../../../../../plugins/database/executor/api.ts';
import type { CatalogueTable } from '../../../../../plugins/database/executor/catalogue-query.ts';
import { completedFromBatch } from '../../../../../plugins/database/executor/unchanged-columns.ts';

const COLUMNS = ['id', 'n', 'a', 'b'] as const;
const POLICY: WritePolicy = { dedupRule: 'override', unknownColumns: 'fault', insertMode: 'upsert' };
const TABLE: CatalogueTable = { name: { schema: 'public', name: 't' }, columns: [], key: ['id'] };

type Row = readonly [id: string, n: number, a?: string | undefined, b?: string];

/** Rows that leave `a` or `b` unchanged if they have no value for it; a row without `n` is a deletion. */
function batchOf(rows: readonly (Row | readonly [id: string])[]): RowBatch {
  const list: RowGroup[] = [];
  const groups = rows.map((row) => {
    const isDeleted = row.length === 1;
    const unchanged = isDeleted ? [] : ['a', 'b'].filter((_, index) => row[index + 2] === undefined);
    const columns = isDeleted ? ['id'] : COLUMNS.filter((name) => !unchanged.includes(name));
    const group: RowGroup = {
      operation: isDeleted ? 'delete' : 'store',
      columns: new Set(columns),
      unchanged: unchanged.length === 0 ? undefined : new Set(unchanged),
    };
    const known = list.findIndex((each) => textOf(each) === textOf(group));
    return known >= 0 ? known : list.push(group) - 1;
  });
  return {
    table: TABLE.name,
    columns: COLUMNS.map((name, index) => ({
      name,
      role: 'data',
      kind: 'text',
      cells: rows.map((row): Cell => row[index] ?? null),
    })),
    rowCount: rows.length,
    origins: { at: (offset) => ({ kind: 'record', topic: 't', partition: 0, offset }) },
    key: ['id'],
    groups: { list, of: (row) => groups[row] ?? 0 },
  };
}

function textOf({ operation, columns, unchanged }: RowGroup): string {
  return `${operation} ${[...columns].join()} ${[...(unchanged ?? [])].join()}`;
}

/** The cells that each row has, as `column=cell`. */
function cellsOf({ columns, rowCount, groups }: RowBatch): string[] {
  return Array.from({ length: rowCount }, (_, row) => {
    const group = groups?.list[groups.of(row)];
    return columns
      .filter(({ name }) => group?.columns.has(name) === true)
      .map(({ name, cells }) => `${name}=${String(cells[row])}`)
      .join(' ');
  });
}

function completed(rows: Parameters<typeof batchOf>[0], policy: Partial<WritePolicy> = {}): string[] {
  return cellsOf(completedFromBatch(batchOf(rows), TABLE, { ...POLICY, ...policy }));
}

describe('rows with unchanged columns', () => {
  it('get the values of the previous row with the same key', () => {
    assert.deepEqual(
      completed([
        ['1', 1, 'x', 'y'],
        ['2', 2, 'p', 'q'],
        ['1', 3, undefined, 'z'],
        ['1', 4],
      ]),
      ['id=1 n=1 a=x b=y', 'id=2 n=2 a=p b=q', 'id=1 n=3 a=x b=z', 'id=1 n=4 a=x b=z'],
    );
  });

  it('keep those unchanged that no previous row has', () => {
    assert.deepEqual(
      completed([
        ['1', 1, 'x'],
        ['1', 2],
        ['1', 3, undefined, 'z'],
        ['3', 4],
      ]),
      ['id=1 n=1 a=x', 'id=1 n=2 a=x', 'id=1 n=3 a=x b=z', 'id=3 n=4'],
    );
  });

  it('get nothing from before a deletion', () => {
    assert.deepEqual(completed([['1', 1, 'x', 'y'], ['1'], ['1', 2], ['1', 3]]), [
      'id=1 n=1 a=x b=y',
      'id=1',
      'id=1 n=2',
      'id=1 n=3',
    ]);
  });

  it('join the group of rows with the same columns, so that they need no statement of their own', () => {
    const rows = Array.from({ length: 100 }, (_, n): Row => (n % 2 === 0 ? ['1', n, `a${String(n)}`, 'b'] : ['1', n]));
    const { groups } = completedFromBatch(batchOf(rows), TABLE, POLICY);
    assert.deepEqual(new Set(rows.map((_, row) => groups?.of(row))), new Set([0]));
  });

  it('are left alone without a repeated key, and under rules that do not replace rows', () => {
    const batch = batchOf([
      ['1', 1, 'x', 'y'],
      ['2', 2],
    ]);
    assert.equal(completedFromBatch(batch, TABLE, POLICY), batch);
    const repeated = batchOf([
      ['1', 1, 'x', 'y'],
      ['1', 2],
    ]);
    for (const policy of [{ insertMode: 'insert' }, { dedupRule: 'merge' }, { dedupRule: 'discard' }] as const) {
      assert.equal(completedFromBatch(repeated, TABLE, { ...POLICY, ...policy }), repeated);
    }
  });

  it('do not change the given batch', () => {
    const batch = batchOf([
      ['1', 1, 'x', 'y'],
      ['1', 2],
    ]);
    const before = cellsOf(batch);
    completedFromBatch(batch, TABLE, POLICY);
    assert.deepEqual(cellsOf(batch), before);
    assert.deepEqual(batch.columns[2]?.cells, ['x', null]);
  });
});
