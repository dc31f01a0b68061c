import assert from 'node:assert/strict';
import { payloadText, rowText } from '../../../../plugins/console/src/editor/previewed-record.ts';

describe('a previewed record', () => {
  it('is shown without its schema, cut where it is long, and as it is where it only looks like one with a schema', () => {
    assert.equal(payloadText({ schema: { type: 'string' }, payload: 'a line' }), 'a line');
    assert.equal(payloadText({ schema: null, payload: { id: 1, tags: ['a'] } }), '{"id":1,"tags":["a"]}');
    assert.equal(payloadText({ payload: 1 }), '{"payload":1}');
    assert.equal(payloadText(null), '');
    assert.equal(payloadText({ schema: null, payload: null }), 'null');
    assert.equal(payloadText({ schema: null, payload: 'x'.repeat(5000) }), `${'x'.repeat(4000)}…`);
  });

  it('has its rows column by column', () => {
    assert.equal(rowText(['ts', 'v', 'note'], ['2026-01-01', 1, null]), 'ts = 2026-01-01\nv = 1\nnote = null');
    assert.equal(rowText(['missing'], []), 'missing = null');
  });
});
