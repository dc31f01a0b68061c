import assert from 'node:assert/strict';
import { payloadText, rowTables } from '../../src/common/previewed-rows.ts';

describe('a previewed record', () => {
  it('is shown without its schema and cut if it is long; a value that only looks like one with a schema is not changed', () => {
    assert.equal(payloadText({ schema: { type: 'string' }, payload: 'a line' }), 'a line');
    assert.equal(payloadText({ schema: null, payload: { id: 1, tags: ['a'] } }), '{"id":1,"tags":["a"]}');
    assert.equal(payloadText({ payload: 1 }), '{"payload":1}');
    assert.equal(payloadText(null), '');
    assert.equal(payloadText({ schema: null, payload: null }), 'null');
    assert.equal(payloadText({ schema: null, payload: 'x'.repeat(5000) }), `${'x'.repeat(4000)}…`);
  });

  it('has rows with the same columns in one table', () => {
    const row = (table: string, value: number) =>
      ({ table, operation: 'store', columns: ['n'], values: [value] }) as const;
    assert.deepEqual(
      rowTables([row('a', 1), row('a', 2), row('b', 3), row('a', 4)]).map(({ table, rows }) => [table, rows]),
      [
        ['a', [[1], [2]]],
        ['b', [[3]]],
        ['a', [[4]]],
      ],
    );
  });
});
