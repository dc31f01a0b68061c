import assert from 'node:assert/strict';
import { firstOf, NO_FIELDS, queryOf, readable } from '../../src/data/message.ts';

describe('a message in the console', () => {
  it('is indented without changing its numbers and texts', () => {
    const json = '{"id":9007199254740993,"a":[],"b":[1,{"c":"x, {y}"}],"d":{}}';
    assert.equal(
      readable({ kind: 'text', text: json }),
      [
        '{',
        '  "id": 9007199254740993,',
        '  "a": [],',
        '  "b": [',
        '    1,',
        '    {',
        '      "c": "x, {y}"',
        '    }',
        '  ],',
        '  "d": {}',
        '}',
      ].join('\n'),
    );
  });

  it('that is not JSON, or is cut off, is not changed', () => {
    const texts = ['{oops', '[1] and more', 'a, b'].map((text) => readable({ kind: 'text', text }));
    assert.deepEqual(texts, ['{oops', '[1] and more', 'a, b']);
    assert.equal(readable({ kind: 'json', text: '{"a":[1,', cut: 100 }), '{"a":[1,');
    assert.equal(readable({ kind: 'json', text: '{"a":1}' }), '{\n  "a": 1\n}');
  });

  it('has its beginning on one line', () => {
    assert.equal(firstOf({ kind: 'text', text: 'a\n  b' }), 'a b');
    assert.equal(firstOf({ kind: 'text', text: 'x'.repeat(300) }, 10), `${'x'.repeat(10)}…`);
    assert.equal(firstOf({ kind: 'hex', text: 'ff', bytes: 1 }), '0xff');
    assert.equal(firstOf({ kind: 'null' }), 'null');
    const envelope = `{"schema":{"type":"struct","fields":[{"type":"int64"}]},"data":{"v":1}}`;
    assert.equal(firstOf({ kind: 'json', text: envelope }), '… "data":{"v":1}}');
  });
});

describe('the search for messages', () => {
  it('sends the contents of the fields', () => {
    assert.deepEqual(queryOf(NO_FIELDS), {});
    const fields = { topic: 't', partition: '0', key: ' k ', offset: ' 12 ', time: '' };
    assert.deepEqual(queryOf(fields), { topic: 't', partition: 0, key: ' k ', offset: 12 });
    const before = [{ topic: 't', partition: 0, offset: 5 }];
    assert.deepEqual(queryOf(NO_FIELDS, before), { before });
  });

  it('rejects an invalid offset', () => {
    for (const offset of ['-1', '1.5', 'x', '9'.repeat(16)]) {
      assert.equal(queryOf({ ...NO_FIELDS, offset }), undefined);
    }
  });
});
