import assert from 'node:assert/strict';
import { JavaPattern, JavaRegexError, javaRegexMatcher, ReplacementError } from '../../../src/java/java-regex.ts';

function matching(pattern: string, ...texts: string[]): string[] {
  return texts.filter(javaRegexMatcher(pattern));
}

function refusal(pattern: string): string {
  try {
    JavaPattern.compile(pattern);
  } catch (error) {
    assert.ok(error instanceof JavaRegexError);
    return error.message;
  }
  return assert.fail(`${pattern} is accepted`);
}

function replaced(pattern: string, text: string, replacement: string): string {
  return JavaPattern.compile(pattern).replaceFirst(text, replacement);
}

describe('Java regular expressions', () => {
  it('match the whole text', () => {
    assert.deepEqual(matching('foo|bar', 'foo', 'bar', 'foobar', 'xfoo'), ['foo', 'bar']);
    assert.deepEqual(matching('a.b', 'a.b', 'axb', 'a😀b', 'a\nb'), ['a.b', 'axb', 'a😀b']);
    assert.deepEqual(matching('abc$', 'abc', 'abc\n'), ['abc']);
  });

  it('accept flags at the start, inside, and for a group; without u only ASCII letters ignore case', () => {
    assert.deepEqual(matching('(?i)orders-.*', 'ORDERS-1', 'orders-', 'order'), ['ORDERS-1', 'orders-']);
    assert.deepEqual(matching('(?i:a)b(?i)c', 'AbC', 'ABC'), ['AbC']);
    assert.deepEqual(matching('(?i)A(?-i)b', 'ab', 'aB'), ['ab']);
    assert.deepEqual(matching('(?i)é', 'é', 'É'), ['é']);
    assert.deepEqual(matching('(?iu)é', 'é', 'É'), ['é', 'É']);
    assert.deepEqual(matching('(?s)a.b', 'a\nb'), ['a\nb']);
    assert.deepEqual(matching('(?x) a \\- b # the end', 'a-b'), ['a-b']);
  });

  it('support syntax that JavaScript writes differently or lacks', () => {
    assert.deepEqual(matching('\\Qa.b\\E\\-\\_c', 'a.b-_c', 'axb-_c'), ['a.b-_c']);
    assert.deepEqual(matching('[a-z&&[^aeiou]]+', 'xyz', 'xaz'), ['xyz']);
    assert.deepEqual(matching('[a-c[x-z]]\\p{Digit}', 'a1', 'y2', 'd3'), ['a1', 'y2']);
    assert.deepEqual(matching('\\p{Alpha}\\h\\p{IsLatin}\\z', 'a é', 'é a'), ['a é']);
    assert.deepEqual(matching('[]a-]+', ']a-', '[]'), [']a-']);
    assert.deepEqual(matching('\\x41\\u0042\\x{43}\\0104\\N{LATIN CAPITAL LETTER E}', 'ABCDE'), ['ABCDE']);
    assert.deepEqual(matching('a}]', 'a}]'), ['a}]']);
    assert.deepEqual(matching('a++b', 'aaab'), ['aaab']);
    assert.deepEqual(matching('a++ab', 'aaab'), []);
    assert.deepEqual(matching('(?>a|ab)c', 'ac', 'abc'), ['ac']);
    assert.deepEqual(matching('(a)?\\1b', 'aab', 'b'), ['aab']);
  });

  it('replace the first match, with groups by number and name', () => {
    assert.equal(replaced('(?<from>[^-]+)-(.*)', 'db-orders', '$2.${from}'), 'orders.db');
    assert.equal(replaced('(.*)', 'orders', '$11\\$'), 'orders1$');
    assert.equal(replaced('(a)?b', 'xbb', '[$1]'), 'x[]b');
    assert.equal(replaced('(?:(a)|b)*', 'ab', '$1'), 'a');
  });

  it('reject replacements that refer to unknown groups', () => {
    const failing = (replacement: string, message: string) => {
      assert.throws(() => replaced('(?<n>.*)', 'a', replacement), new ReplacementError(message));
    };
    failing('$x', 'Illegal group reference');
    failing('$', 'Illegal group reference: group index is missing');
    failing('a\\', 'character to be escaped is missing');
    failing('${m}', 'No group with name {m}');
    assert.throws(
      () => replaced('a', 'a', '$1'),
      new ReplacementError('No group 1', 'java.lang.IndexOutOfBoundsException'),
    );
  });

  it('that are malformed are rejected with Java’s message', () => {
    assert.equal(refusal('('), 'Unclosed group near index 1\n(');
    assert.equal(refusal('a)'), "Unmatched closing ')' near index 0\na)\n^");
    assert.equal(refusal('[a-'), 'Illegal character range near index 3\n[a-');
    assert.equal(refusal('[z-a]'), 'Illegal character range near index 3\n[z-a]\n   ^');
    assert.equal(refusal('a{'), 'Illegal repetition near index 2\na{');
    assert.equal(refusal('a{2,1}'), 'Illegal repetition range near index 5\na{2,1}\n     ^');
    assert.equal(refusal('**'), "Dangling meta character '*' near index 0\n**\n^");
    assert.equal(refusal('\\y'), 'Illegal/unsupported escape sequence near index 1\n\\y\n ^');
    assert.equal(
      refusal('(?<=(?:ab)+)b'),
      'Look-behind group does not have an obvious maximum length near index 10\n(?<=(?:ab)+)b\n          ^',
    );
  });

  it('that are explosive fail', () => {
    const pattern = JavaPattern.compile('(a|aa)+$x');
    assert.throws(() => pattern.matches('a'.repeat(60)), /needs too many steps for a text of 60 characters/);
    const manyGroups = JavaPattern.compile(`x${'()'.repeat(1_000)}`);
    assert.throws(() => manyGroups.replaceFirst('a'.repeat(10_000), ''), /needs too many steps/);
  });

  it('fail after 100,000 steps, two per character without a match (S12)', () => {
    const pattern = JavaPattern.compile('x');
    assert.equal(pattern.replaceFirst('a'.repeat(49_990), ''), 'a'.repeat(49_990));
    assert.throws(() => pattern.replaceFirst('a'.repeat(50_010), ''), /needs too many steps/);
  });

  it('that are nested too deeply are rejected with Java’s message', () => {
    for (const opener of ['[', '(', '(?:', '[^', '[a&&', '(?=']) {
      const pattern = opener.repeat(100_000 / opener.length);
      assert.match(refusal(pattern), /^(?:Stack overflow during pattern compilation|Unclosed|Bad) /, opener);
    }
  });

  it('that are longer than 100,000 characters are rejected', () => {
    assert.doesNotThrow(() => JavaPattern.compile('a'.repeat(100_000)));
    assert.throws(
      () => JavaPattern.compile('a'.repeat(100_001)),
      new JavaRegexError('The expression has 100001 characters; the maximum is 100000'),
    );
  });
});
