import assert from 'node:assert/strict';
import type { PreviewedRecord } from '../../src/common/answers.ts';
import { texts } from '../../src/texts/preview.ts';
import { withoutEffect, writtenTables } from '../../src/editor/previewed-tables.ts';

const record = (offset: number, more: Partial<PreviewedRecord>): PreviewedRecord => ({
  message: { topic: 't', partition: 0, offset, timestamp: 0 },
  record: null,
  dropped: false,
  faults: [],
  ...more,
});

const row = (table: string, columns: string[], values: unknown[], operation: 'store' | 'delete' = 'store') =>
  ({ table, operation, columns, values }) as const;

describe('the preview of several records', () => {
  it('has the rows of all records in one table for each table and operation, with the columns of all of them', () => {
    const tables = writtenTables([
      record(1, { rows: [row('a', ['n'], [1]), row('b', ['n'], [2])] }),
      record(2, { rows: [row('a', ['m', 'n'], ['x', null]), row('a', ['n'], [3], 'delete')] }),
    ]);
    assert.deepEqual(
      tables.map(({ table, operation, columns, rows }) => [
        ...[operation, table, columns],
        rows.map(({ message, cells }) => [message.offset, cells]),
      ]),
      [
        [
          'store',
          'a',
          ['n', 'm'],
          [
            [1, [1, undefined]],
            [2, [null, 'x']],
          ],
        ],
        ['store', 'b', ['n'], [[1, [2]]]],
        ['delete', 'a', ['n'], [[2, [3]]]],
      ],
    );
  });

  it('has the rows of records with faults apart, because they would perhaps not be stored', () => {
    const tables = writtenTables([
      record(1, { rows: [row('a', ['n'], [1])], faults: [{ stage: 'PUT' }] }),
      record(2, { rows: [row('a', ['n'], [2])] }),
    ]);
    assert.deepEqual(
      tables.map(({ table, operation, hasFaults, rows }) => [texts.rowsOf(operation, table, hasFaults), rows.length]),
      [
        ['Rows for a', 1],
        ['Rows that would be stored in a', 1],
      ],
    );
  });

  it('names the records that would write nothing, other than dropped and failed ones', () => {
    const found = withoutEffect([
      record(1, {}),
      record(2, { dropped: true }),
      record(3, { faults: [{ stage: 'PUT' }] }),
      record(4, { lines: ['x'] }),
    ]);
    assert.deepEqual(
      found.map(({ message }) => message.offset),
      [1],
    );
  });
});
