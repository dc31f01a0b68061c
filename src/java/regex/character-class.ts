import { blockTest, posixTest, propertyTest, scriptTest, unicodePropertyTest } from './character-properties.ts';
import { characterEscape } from './character-escape.ts';
import type { PatternReader } from './pattern-reader.ts';
import { charTest, rangeTest, type CharTest } from './syntax.ts';

const [BRACKET, CLOSE, CARET, AND, MINUS, BACKSLASH, BRACE] = [0x5b, 0x5d, 0x5e, 0x26, 0x2d, 0x5c, 0x7b] as const;

const either = (a: CharTest | undefined, b: CharTest): CharTest =>
  a === undefined ? b : (codePoint) => a(codePoint) || b(codePoint);

/**
 * Parses a class in brackets; the cursor is at its `[`. `consume`: whether the closing bracket is also consumed. It is not
 * consumed on the right side of `&&`, because it belongs to the enclosing class. As in Java, single Latin-1 characters are
 * collected apart from the other members, which determines whether an `&&` without a right side is an error.
 */
export function characterClass(reader: PatternReader, consume: boolean): CharTest {
  let test: CharTest | undefined;
  let singles: CharTest | undefined;
  let last: CharTest | undefined;
  let char = reader.next();
  const negated = char === CARET && reader.at(reader.cursor - 1) === BRACKET;
  if (negated) char = reader.next();
  for (;;) {
    if (char === BRACKET) {
      last = characterClass(reader, true);
      test = either(test, last);
      char = reader.peek();
      continue;
    }
    if (char === AND) {
      if (reader.next() === AND) {
        const right = intersected(reader);
        if (singles !== undefined) {
          last = test === undefined ? singles : last;
          test = either(test, singles);
          singles = undefined;
        }
        last = right ?? last;
        test = bothOf(reader, test, right, last);
        char = reader.peek();
        continue;
      }
      reader.unread();
    } else if (char === 0 && reader.ended) {
      reader.fail('Unclosed character class');
    } else if (char === CLOSE && (test !== undefined || singles !== undefined)) {
      if (consume) reader.next();
      const found = singles === undefined ? test : either(test, singles);
      return negated ? (codePoint) => found?.(codePoint) !== true : (codePoint) => found?.(codePoint) === true;
    }
    const member = classMember(reader);
    if (member.isSingle) {
      singles = either(singles, member.test);
      last = undefined;
    } else {
      last = member.test;
      test = either(test, last);
    }
    char = reader.peek();
  }
}

/** Parses the right side of `&&`, up to the end of the class or the next `&&`. */
function intersected(reader: PatternReader): CharTest | undefined {
  let right: CharTest | undefined;
  for (let char = reader.next(); char !== CLOSE && char !== AND; char = reader.peek()) {
    if (char !== BRACKET) reader.unread();
    right = either(right, characterClass(reader, char === BRACKET));
  }
  return right;
}

function bothOf(
  reader: PatternReader,
  left: CharTest | undefined,
  right: CharTest | undefined,
  last: CharTest | undefined,
): CharTest {
  if (left === undefined) return right ?? reader.fail('Bad class syntax');
  if (last === undefined) return reader.fail('Bad intersection syntax');
  return (codePoint) => left(codePoint) && last(codePoint);
}

interface Member {
  readonly test: CharTest;
  readonly isSingle: boolean;
}

/** Parses a character, a range, or an escape for a set of characters. */
function classMember(reader: PatternReader): Member {
  let char = reader.peek();
  if (char === BACKSLASH) {
    char = reader.nextEscaped();
    if (char === 0x70 || char === 0x50) return { test: family(reader, char === 0x50), isSingle: false };
    const isRange = reader.at(reader.cursor + 1) === MINUS;
    reader.unread();
    const escape = characterEscape(reader, isRange) ?? reader.fail(UNKNOWN_ESCAPE);
    if (typeof escape !== 'number') return { test: escape, isSingle: false };
    char = escape;
  } else {
    reader.next();
  }
  if (reader.peek() !== MINUS) return single(reader, char);
  const end = reader.at(reader.cursor + 1);
  if (end === BRACKET || end === CLOSE) return single(reader, char);
  reader.next();
  let to = reader.peek();
  if (to === BACKSLASH) {
    const escape = characterEscape(reader, true) ?? reader.fail(UNKNOWN_ESCAPE);
    to = typeof escape === 'number' ? escape : -1;
  } else {
    reader.next();
  }
  if (to < char) reader.fail('Illegal character range');
  return { test: rangeTest(char, to, reader.folding), isSingle: false };
}

const UNKNOWN_ESCAPE = 'Illegal/unsupported escape sequence';
/** Latin-1 letters with a case variant outside Latin-1. */
const CROSSING = new Set([0xff, 0xb5, 0x49, 0x69, 0x53, 0x73, 0x4b, 0x6b, 0xc5, 0xe5]);

function single(reader: PatternReader, char: number): Member {
  const isSingle = char < 256 && !(reader.folding === 'unicode' && CROSSING.has(char));
  return { test: charTest(char, reader.folding), isSingle };
}

/** Parses `\p{…}` or `\pX`; the cursor is at the letter p. */
export function family(reader: PatternReader, negated: boolean): CharTest {
  const braced = reader.next() === BRACE;
  if (!braced) reader.unread();
  const test = namedTest(reader, familyName(reader, braced));
  return negated ? (codePoint) => !test(codePoint) : test;
}

function familyName(reader: PatternReader, braced: boolean): string {
  reader.next();
  if (!braced) {
    const name = String.fromCodePoint(reader.at(reader.cursor));
    reader.read();
    return name;
  }
  const start = reader.cursor;
  while (reader.cursor <= reader.length && reader.at(reader.cursor) !== 0x7d) reader.cursor++;
  reader.cursor++;
  const end = reader.cursor - 1;
  if (end >= reader.length) {
    reader.cursor = reader.length + 1;
    reader.fail('Unclosed character family');
  }
  if (end <= start) reader.fail('Empty character family');
  let name = '';
  for (let index = start; index < end; index++) name += String.fromCodePoint(reader.at(index));
  return name;
}

function namedTest(reader: PatternReader, name: string): CharTest {
  const ignoreCase = reader.has('caseInsensitive');
  const equals = name.indexOf('=');
  if (equals >= 0) {
    const key = name.slice(0, equals).toLowerCase();
    const value = name.slice(equals + 1);
    return (
      valueTest(key, value, ignoreCase) ?? reader.fail(`Unknown Unicode property {name=<${key}>, value=<${value}>}`)
    );
  }
  const test = name.startsWith('In')
    ? blockTest(name.slice(2))
    : name.startsWith('Is')
      ? unicodePropertyTest(name.slice(2), ignoreCase)
      : ((reader.has('unicodeClasses') ? posixTest(name, ignoreCase) : undefined) ?? propertyTest(name, ignoreCase));
  return test ?? reader.fail(`Unknown character property name {${name}}`);
}

function valueTest(key: string, value: string, ignoreCase: boolean): CharTest | undefined {
  switch (key) {
    case 'sc':
    case 'script':
      return scriptTest(value);
    case 'blk':
    case 'block':
      return blockTest(value);
    case 'gc':
    case 'general_category':
      return propertyTest(value, ignoreCase);
  }
  return undefined;
}
