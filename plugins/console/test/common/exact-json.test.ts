import assert from 'node:assert/strict';
import { exactText, parseExact } from '../../src/common/exact-json.ts';

describe('JSON with every digit, in the console', () => {
  it('is the same after it was parsed and written', () => {
    const text = '{"a":9007199254740993,"b":[-9223372036854775808,1.5,"9007199254740993"],"c\\"9":"\\\\","d":12}';
    assert.equal(exactText(parseExact(text)), text);
    assert.deepEqual(parseExact('[9007199254740993, 7]'), [9007199254740993n, 7]);
  });

  it('accepts texts with millions of escapes', () => {
    const value = { text: '"'.repeat(3_000_000), number: 9007199254740993n };
    assert.deepEqual(parseExact(exactText(value)), value);
  });
});
