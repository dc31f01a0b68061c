import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonCursor } from '../../../src/json/json-cursor.ts';

function scan(text: string): boolean {
  const cursor = new JsonCursor();
  cursor.open(text);
  cursor.skipSpace();
  return cursor.value() && cursor.atEnd();
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON with a character changed here and there. */
const nearlyJson = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', ',', '"', '}', ']', '0', '-', '.', 'e', '\\', '\n', ' ', 'tru', '\u0001'),
  )
  .map(([json, at, piece]) => json.slice(0, at % (json.length + 1)) + piece + json.slice((at + 1) % (json.length + 1)));

describe('the JSON cursor', () => {
  it('accepts what JSON.parse accepts, and nothing else', () => {
    const odd = fc.constantFrom(
      '',
      '01',
      '-',
      '-0',
      '1.',
      '.5',
      '1e',
      '1e+5',
      '[1,]',
      '{"a":1,}',
      '{a:1}',
      'nul',
      '"\\x"',
    );
    fc.assert(
      fc.property(fc.oneof(fc.json(), nearlyJson, odd), (text) => {
        assert.equal(scan(text), parses(text), text);
      }),
      { numRuns: 200 },
    );
  });

  it('returns strings as JSON.parse does, and advances past them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const cursor = new JsonCursor();
        cursor.open(`${JSON.stringify(value)},`);
        assert.equal(cursor.string(), value);
        assert.equal(cursor.takeComma(), true);
        assert.equal(cursor.atEnd(), true);
      }),
    );
  });

  it('does not let nesting decide the depth of the stack', () => {
    assert.equal(scan('['.repeat(400) + ']'.repeat(400)), true);
    assert.equal(scan('['.repeat(100_000) + ']'.repeat(100_000)), false);
  });
});
