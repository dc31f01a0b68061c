import assert from 'node:assert/strict';
import type { MessagePage, ShownMessage } from '../../src/common/answers.ts';
import { firstOf, NO_FIELDS, queryOf, readable, withNewer } from '../../src/data/message.ts';

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
    const fields = {
      ...NO_FIELDS,
      topic: 't',
      partition: '0',
      key: ' k ',
      text: 'a b',
      fromOffset: '3',
      offset: ' 12 ',
    };
    assert.deepEqual(queryOf(fields), {
      ...{ topic: 't', partition: 0, key: ' k ', text: 'a b' },
      ...{ fromOffset: 3, offset: 12 },
    });
    const time = queryOf({ ...NO_FIELDS, fromTime: '2026-01-02T03:04:05' });
    assert.deepEqual(time, { fromTime: new Date(2026, 0, 2, 3, 4, 5).getTime() });
    const before = [{ topic: 't', partition: 0, offset: 5 }];
    assert.deepEqual(queryOf(NO_FIELDS, { before }), { before });
    assert.deepEqual(queryOf(NO_FIELDS, { after: before }), { after: before });
  });

  it('rejects an invalid offset', () => {
    for (const offset of ['-1', '1.5', 'x', '9'.repeat(16)]) {
      assert.equal(queryOf({ ...NO_FIELDS, offset }), undefined);
      assert.equal(queryOf({ ...NO_FIELDS, fromOffset: offset }), undefined);
    }
  });

  it('continues with newer messages where the last page ended, also after a page without messages', () => {
    const page = (end: number, ...offsets: number[]): MessagePage => ({
      ...{ topics: [], searched: offsets.length, next: [] },
      ends: [{ topic: 't', partition: 0, offset: end }],
      messages: offsets.map((offset) => ({ offset }) as ShownMessage),
    });
    const first = withNewer([], page(3, 2, 1));
    assert.deepEqual(withNewer(first, page(4)), [page(4, 2, 1)]);
    assert.deepEqual(withNewer(first, page(5, 4, 3)), [page(5, 4, 3), page(3, 2, 1)]);
  });
});
