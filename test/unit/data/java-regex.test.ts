import assert from 'node:assert/strict';
import { javaRegex, javaRegexMatcher } from '../../../src/data/java-regex.ts';

function matching(pattern: string, ...texts: string[]): string[] {
  return texts.filter(javaRegexMatcher(pattern));
}

describe('Java regular expressions', () => {
  it('match the whole text', () => {
    assert.deepEqual(matching('foo|bar', 'foo', 'bar', 'foobar', 'xfoo'), ['foo', 'bar']);
    assert.deepEqual(matching('a.b', 'a.b', 'axb', 'a\nb'), ['a.b', 'axb']);
  });

  it('take Java flags in front', () => {
    assert.deepEqual(matching('(?i)orders-.*', 'ORDERS-1', 'orders-', 'order'), ['ORDERS-1', 'orders-']);
    assert.deepEqual(matching('(?s)a.b', 'a\nb'), ['a\nb']);
    assert.throws(() => javaRegex('(?x)a'), /The flag x is not supported in \(\?x\)a/);
  });

  it('know what JavaScript writes in another way', () => {
    assert.deepEqual(matching('\\Qa.b\\E\\-\\_c', 'a.b-_c', 'axb-_c'), ['a.b-_c']);
    assert.deepEqual(matching('[a-z&&[^aeiou]]+', 'xyz', 'xaz'), ['xyz']);
    assert.deepEqual(matching('[a-c[x-z]]\\p{Digit}', 'a1', 'y2', 'd3'), ['a1', 'y2']);
    assert.deepEqual(matching('\\p{Alpha}\\h\\p{IsLatin}\\z', 'a é', 'é a'), ['a é']);
    assert.deepEqual(matching('[]a-]+', ']a-', '[]'), [']a-']);
    assert.deepEqual(matching('\\x41\\u0042\\x{43}\\0104', 'ABCD'), ['ABCD']);
    assert.deepEqual(matching('a}]', 'a}]'), ['a}]']);
  });

  it('keep groups for replacements', () => {
    assert.equal('db-orders'.replace(javaRegex('(?<from>[^-]+)-(.*)'), '$2.$1'), 'orders.db');
  });

  it('that mean nothing, or nothing here, are refused', () => {
    assert.throws(() => javaRegex('('), /Unterminated group in \(/);
    assert.throws(() => javaRegex('[a-'), /Unclosed character class near index 3/);
    assert.throws(() => javaRegex('a{'), /Illegal repetition/);
    assert.throws(() => javaRegex('a++'), /Possessive quantifiers are not supported near index 2 in a\+\+/);
    assert.throws(() => javaRegex('a(?i)b'), /Flags are supported at the beginning only/);
    assert.throws(() => javaRegex('\\y'), /Illegal\/unsupported escape sequence \\y/);
  });
});
