import { characterClass, family } from './character-class.ts';
import { characterEscape } from './character-escape.ts';
import { hasLongestMatch } from './longest-match.ts';
import { PatternReader } from './pattern-reader.ts';
import { lineEnd, lineStart, textEnd, textStart, wordBoundary } from './places.ts';
import { charTest, Flag, type RegexNode } from './syntax.ts';
import { lookupTable } from '../../data/lookup-table.ts';

const EMPTY: RegexNode = { kind: 'sequence', nodes: [] };
const MAX_REPEATS = 0x7fffffff;

export interface ParsedPattern {
  readonly root: RegexNode;
  /** Excludes group 0. */
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
}

const isDigit = (char: number) => char >= 0x30 && char <= 0x39;
const isLetter = (char: number) => (char >= 0x41 && char <= 0x5a) || (char >= 0x61 && char <= 0x7a);
const code = (char: string) => char.charCodeAt(0);

/** Parses a pattern like java.util.regex.Pattern. Throws a JavaRegexError with Java's message. */
export function parsePattern(pattern: string): ParsedPattern {
  const reader = new PatternReader(pattern);
  try {
    return new PatternParser(reader).parse();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Groups or classes are nested too deeply; Java has the same message.
    return reader.fail('Stack overflow during pattern compilation');
  }
}

class PatternParser {
  readonly #reader: PatternReader;
  readonly #names = new Map<string, number>();
  #groups = 0;

  constructor(reader: PatternReader) {
    this.#reader = reader;
  }

  parse(): ParsedPattern {
    const reader = this.#reader;
    const root = this.#alternatives();
    if (reader.cursor !== reader.length) {
      if (reader.peek() === code(')')) reader.fail("Unmatched closing ')'");
      const trailing = reader.cursor === reader.length + 1 && reader.at(reader.length - 1) === code('\\');
      reader.fail(trailing ? 'Unescaped trailing backslash' : 'Unexpected internal error');
    }
    return { root, groupCount: this.#groups, groupNames: this.#names };
  }

  #alternatives(): RegexNode {
    const nodes = [this.#sequence()];
    while (this.#reader.peek() === code('|')) {
      this.#reader.next();
      nodes.push(this.#sequence());
    }
    return nodes.length === 1 ? (nodes[0] ?? EMPTY) : { kind: 'choice', nodes };
  }

  #sequence(): RegexNode {
    const nodes: RegexNode[] = [];
    for (;;) {
      const reader = this.#reader;
      const char = reader.peek();
      if (char === code('|') || char === code(')') || (char === 0 && reader.ended)) {
        return nodes.length === 1 ? (nodes[0] ?? EMPTY) : { kind: 'sequence', nodes };
      }
      const node = char === code('(') ? this.#group() : this.#repeated(this.#single(char));
      if (node !== undefined) nodes.push(node);
    }
  }

  #single(char: number): RegexNode {
    const reader = this.#reader;
    switch (String.fromCodePoint(char)) {
      case '[':
        return { kind: 'char', test: characterClass(reader, true) };
      case '\\':
        return this.#escape();
      case '^':
        reader.next();
        return { kind: 'place', test: reader.has('multiline') ? lineStart(reader.has('unixLines')) : textStart };
      case '$':
        reader.next();
        return { kind: 'place', test: lineEnd(reader.has('unixLines'), reader.has('multiline')) };
      case '.':
        reader.next();
        return { kind: 'char', test: this.#anyChar() };
      case '?':
      case '*':
      case '+':
        reader.next();
        return reader.fail(`Dangling meta character '${String.fromCodePoint(char)}'`);
    }
    if (char !== code('{')) reader.next();
    return char === code('{') ? EMPTY : { kind: 'char', test: charTest(char, reader.folding) };
  }

  #anyChar(): (codePoint: number) => boolean {
    const reader = this.#reader;
    if (reader.has('dotAll')) return () => true;
    if (reader.has('unixLines')) return (codePoint) => codePoint !== 0x0a;
    return (codePoint) => codePoint !== 0x0a && codePoint !== 0x0d && (codePoint | 1) !== 0x2029 && codePoint !== 0x85;
  }

  #escape(): RegexNode {
    const reader = this.#reader;
    const letter = String.fromCodePoint(reader.nextEscaped());
    if (letter === 'p' || letter === 'P') return { kind: 'char', test: family(reader, letter === 'P') };
    reader.unread();
    const start = reader.cursor;
    const found = characterEscape(reader, false);
    if (typeof found === 'number') return { kind: 'char', test: charTest(found, reader.folding) };
    if (found !== undefined) return { kind: 'char', test: found };
    reader.cursor = start + 2;
    return this.#otherEscape(letter);
  }

  #otherEscape(letter: string): RegexNode {
    const reader = this.#reader;
    switch (letter) {
      case 'A':
      case 'G':
        return { kind: 'place', test: textStart };
      case 'z':
        return { kind: 'place', test: textEnd };
      case 'Z':
        return { kind: 'place', test: lineEnd(reader.has('unixLines'), false) };
      case 'b':
      case 'B':
        return { kind: 'place', test: wordBoundary(letter === 'b', reader.has('unicodeClasses')) };
      case 'R':
        return { kind: 'lineEnding' };
      case 'X':
        return { kind: 'grapheme' };
      case 'k':
        return this.#namedReference();
    }
    if (!/^[1-9]$/.test(letter)) reader.fail('Illegal/unsupported escape sequence');
    let group = Number(letter);
    for (let char = reader.peek(); isDigit(char); char = reader.peek()) {
      const longer = group * 10 + (char - 0x30);
      if (longer > this.#groups) break;
      group = longer;
      reader.read();
    }
    return { kind: 'backReference', group, folding: reader.folding };
  }

  #namedReference(): RegexNode {
    const reader = this.#reader;
    if (reader.read() !== code('<')) reader.fail("\\k is not followed by '<' for named capturing group");
    const name = this.#groupName(reader.read());
    const group = this.#names.get(name) ?? reader.fail(`named capturing group <${name}> does not exist`);
    return { kind: 'backReference', group, folding: reader.folding };
  }

  #groupName(first: number): string {
    const reader = this.#reader;
    if (!isLetter(first)) reader.fail('capturing group name does not start with a Latin letter');
    let name = '';
    let char = first;
    for (; isLetter(char) || isDigit(char); char = reader.read()) name += String.fromCodePoint(char);
    if (char !== code('>')) reader.fail("named capturing group is missing trailing '>'");
    return name;
  }

  /** Parses a group. Returns `undefined` for `(?flags)`, which changes the flags up to the end of the enclosing group. */
  #group(): RegexNode | undefined {
    const reader = this.#reader;
    const { flags } = reader;
    let node: RegexNode;
    if (reader.next() === code('?')) {
      const special = this.#specialGroup();
      if (special === undefined) return undefined;
      node = special;
    } else {
      node = this.#capturing();
    }
    if (reader.read() !== code(')')) reader.fail('Unclosed group');
    reader.flags = flags;
    return this.#repeated(node);
  }

  #capturing(): RegexNode {
    const index = ++this.#groups;
    return { kind: 'group', index, node: this.#alternatives() };
  }

  #specialGroup(): RegexNode | undefined {
    const reader = this.#reader;
    const kind = String.fromCodePoint(reader.skip());
    switch (kind) {
      case ':':
        return this.#alternatives();
      case '=':
      case '!':
        return { kind: 'look', ahead: true, negative: kind === '!', node: this.#alternatives() };
      case '>':
        return { kind: 'atomic', node: this.#alternatives() };
      case '<':
        return this.#namedOrBehind(reader.read());
      case '$':
      case '@':
        return reader.fail('Unknown group type');
    }
    reader.unread();
    this.#readFlags();
    const end = reader.read();
    if (end === code(')')) return undefined;
    if (end !== code(':')) reader.fail('Unknown inline modifier');
    return this.#alternatives();
  }

  #namedOrBehind(char: number): RegexNode {
    const reader = this.#reader;
    if (char === code('=') || char === code('!')) {
      const node = this.#alternatives();
      if (!hasLongestMatch(node)) reader.fail('Look-behind group does not have an obvious maximum length');
      return { kind: 'look', ahead: false, negative: char === code('!'), node };
    }
    const name = this.#groupName(char);
    if (this.#names.has(name)) reader.fail(`Named capturing group <${name}> is already defined`);
    this.#names.set(name, this.#groups + 1);
    return this.#capturing();
  }

  #readFlags(): void {
    const reader = this.#reader;
    let on = true;
    for (let char = reader.peek(); ; char = reader.next()) {
      const letter = String.fromCodePoint(char);
      const flag = FLAGS[letter];
      if (letter === '-' && on) on = false;
      else if (flag === undefined) return;
      else reader.flags = on ? reader.flags | flag : reader.flags & ~flag;
    }
  }

  #repeated(node: RegexNode): RegexNode {
    const reader = this.#reader;
    switch (String.fromCodePoint(reader.peek())) {
      case '?':
        return this.#repeat(node, 0, 1);
      case '*':
        return this.#repeat(node, 0, MAX_REPEATS);
      case '+':
        return this.#repeat(node, 1, MAX_REPEATS);
      case '{':
        return this.#counted(node);
    }
    return node;
  }

  #counted(node: RegexNode): RegexNode {
    const reader = this.#reader;
    let char = reader.skip();
    if (!isDigit(char)) reader.fail('Illegal repetition');
    const number = () => {
      let value = 0;
      for (; isDigit(char); char = reader.read()) {
        value = value * 10 + (char - 0x30);
        if (value > MAX_REPEATS) reader.fail('Illegal repetition range');
      }
      return value;
    };
    const min = number();
    let max = min;
    if (char === code(',')) {
      char = reader.read();
      max = char === code('}') ? MAX_REPEATS : number();
    }
    if (char !== code('}')) reader.fail('Unclosed counted closure');
    if (max < min) reader.fail('Illegal repetition range');
    reader.unread();
    return this.#repeat(node, min, max);
  }

  /** Parses the mode of a quantifier. The cursor is at the last character of the quantifier. */
  #repeat(node: RegexNode, min: number, max: number): RegexNode {
    const reader = this.#reader;
    const after = reader.next();
    if (after !== code('?') && after !== code('+')) return { kind: 'repeat', node, min, max, mode: 'greedy' };
    reader.next();
    return { kind: 'repeat', node, min, max, mode: after === code('?') ? 'lazy' : 'possessive' };
  }
}

/** The flag `c` (canonical equivalence) is accepted without effect, which makes no difference for topic names. */
const FLAGS: Readonly<Record<string, number>> = lookupTable({
  c: 0,
  i: Flag.caseInsensitive,
  m: Flag.multiline,
  s: Flag.dotAll,
  d: Flag.unixLines,
  u: Flag.unicodeCase,
  x: Flag.comments,
  U: Flag.unicodeClasses | Flag.unicodeCase,
});
