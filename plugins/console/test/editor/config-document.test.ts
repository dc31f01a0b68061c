import assert from 'node:assert/strict';
import {
  documentText,
  lineOf,
  parseDocument,
  withoutKey,
  withValue,
  type Entry,
} from '../../src/editor/config-document.ts';

describe('the document of a configuration', () => {
  it('is the same after it was written and parsed: keys stay in order, also numbers and names with a meaning in JavaScript', () => {
    const entries: Entry[] = [
      ['zone', 'a'],
      ['10', 'ten'],
      ['2', 'two'],
      ['__proto__', '{}'],
      ['constructor', '"\\ \n\u2028é😀'],
      ['nothing', null],
      ['', ''],
    ];
    const { entries: found, problems } = parseDocument(documentText(entries));
    assert.deepEqual(found, entries);
    assert.deepEqual(problems, []);
    assert.deepEqual(parseDocument(documentText([])), { entries: [], places: new Map(), problems: [] });
  });

  it('keeps numbers and booleans as they are written', () => {
    const { entries } = parseDocument('{"a": 12345678901234567890.10, "b":true,"c" : -1e5}');
    assert.deepEqual(entries, [
      ['a', '12345678901234567890.10'],
      ['b', 'true'],
      ['c', '-1e5'],
    ]);
  });

  it('keeps the position of a changed key, and adds new keys at the end', () => {
    const entries: readonly Entry[] = [
      ['b', '1'],
      ['a', '2'],
    ];
    assert.deepEqual(withValue(entries, 'b', '3'), [
      ['b', '3'],
      ['a', '2'],
    ]);
    assert.deepEqual(withValue(entries, 'c', '3'), [...entries, ['c', '3']]);
    assert.deepEqual(withoutKey(entries, 'b'), [['a', '2']]);
    assert.deepEqual(withValue(withoutKey(entries, 'b'), 'b', '4', ['b', 'a']), [
      ['b', '4'],
      ['a', '2'],
    ]);
  });

  for (const [what, text, line, message] of [
    ['a missing comma', '{\n "a": "1"\n "b": "2"\n}', 3, ', belongs here, before "b".'],
    ['an open end', '{\n "a": "1"', 2, '} is missing at the end.'],
    ['an open text', '{\n "a": "1\n}', 2, 'This is not JSON: "1'],
    ['an object within', '{\n "a": {}\n}', 2, 'A value belongs here: text in double quotes, a number, true or false.'],
    ['an invalid key', '{\n a: 1\n}', 2, 'A key in double quotes belongs here.'],
    ['an invalid number', '{\n "a": 01\n}', 2, ', belongs here, before 1.'],
    ['a word', '{\n "a": yes\n}', 2, 'A value belongs here: text in double quotes, a number, true or false.'],
    ['a value alone', '"a"', 1, '{ belongs here, before "a".'],
    ['a list', '[{}]', 1, '{ belongs here, before [.'],
    ['a comma too many', '{\n "a": "1",\n}', 3, 'A key in double quotes belongs here.'],
    ['more than one document', '{}\n{}', 2, 'The document ends before this.'],
    ['a word after the end', '{}x', 1, 'The document ends before this.'],
    ['a wrong escape', '{"a": "\\x"}', 1, 'This is not JSON: "\\x"'],
    ['no text', '', 1, '{ is missing at the end.'],
    [
      'a key that is there twice',
      '{\n "a": "1",\n "a": "2"\n}',
      3,
      'The key a occurs twice. Only its last value would count.',
    ],
  ] as const) {
    it(`reports the line of ${what}`, () => {
      const [problem, ...others] = parseDocument(text).problems;
      assert.deepEqual(others, []);
      assert.equal(problem?.message, message);
      assert.equal(lineOf(text, problem.from), line);
    });
  }

  it('knows the line of each key', () => {
    const text = '{\n  "a": "1",\n\n  "b": "x\\ny"\n}';
    const { places } = parseDocument(text);
    assert.deepEqual(
      [...places].map(([key, { from, to }]) => [key, lineOf(text, from), text.slice(from, to)]),
      [
        ['a', 2, '"a"'],
        ['b', 4, '"b"'],
      ],
    );
  });

  it('is read in one pass, also if it is hostile', () => {
    const text = `{"a": "${'\\\\'.repeat(400_000)}`;
    assert.equal(parseDocument(text).problems.length, 1);
    assert.equal(parseDocument(`{${'"k":1,'.repeat(100_000)}`).places.size, 1);
    assert.equal(parseDocument(`{"a":${'['.repeat(1_000_000)}`).problems.length, 1);
  });
});
