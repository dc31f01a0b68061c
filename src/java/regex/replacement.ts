import type { ParsedPattern } from './pattern-parser.ts';
import type { Groups } from './matcher.ts';

/** A replacement that Java rejects when it is applied, with the Java class and message. */
export class ReplacementError extends Error {
  readonly javaName: 'java.lang.IllegalArgumentException' | 'java.lang.IndexOutOfBoundsException';

  constructor(message: string, javaName: ReplacementError['javaName'] = 'java.lang.IllegalArgumentException') {
    super(message);
    this.javaName = javaName;
  }
}

/**
 * Expands a replacement with the groups of a match (Matcher.appendReplacement): `$1`, with further digits as long as a
 * group with that number exists; `${name}`; and a backslash before a literal character.
 */
export function expandReplacement(
  replacement: string,
  text: string,
  groups: Groups,
  { groupCount, groupNames }: ParsedPattern,
): string {
  let result = '';
  let at = 0;
  const group = (index: number) => {
    if (index > groupCount) {
      throw new ReplacementError(`No group ${String(index)}`, 'java.lang.IndexOutOfBoundsException');
    }
    const start = groups[2 * index] ?? -1;
    return start < 0 ? '' : text.slice(start, groups[2 * index + 1]);
  };
  while (at < replacement.length) {
    const char = replacement.charAt(at++);
    if (char === '\\') {
      if (at === replacement.length) throw new ReplacementError('character to be escaped is missing');
      result += replacement.charAt(at++);
    } else if (char !== '$') {
      result += char;
    } else if (at === replacement.length) {
      throw new ReplacementError('Illegal group reference: group index is missing');
    } else if (replacement.charAt(at) === '{') {
      const name = /^[a-zA-Z0-9]*/.exec(replacement.slice(at + 1))?.[0] ?? '';
      result += group(namedGroup(name, replacement.charAt(at + 1 + name.length), groupNames));
      at += name.length + 2;
    } else {
      const digits = /^[0-9]+/.exec(replacement.slice(at))?.[0];
      if (digits === undefined) throw new ReplacementError('Illegal group reference');
      const [index, taken] = longestGroup(digits, groupCount);
      result += group(index);
      at += taken;
    }
  }
  return result;
}

function namedGroup(name: string, after: string, names: ReadonlyMap<string, number>): number {
  if (name === '') throw new ReplacementError('named capturing group has 0 length name');
  if (after !== '}') throw new ReplacementError("named capturing group is missing trailing '}'");
  if (/^[0-9]/.test(name)) {
    throw new ReplacementError(`capturing group name {${name}} starts with digit character`);
  }
  const index = names.get(name);
  if (index === undefined) throw new ReplacementError(`No group with name {${name}}`);
  return index;
}

/** The first digit always belongs to the index; further digits belong to it as long as a group with that index exists. */
function longestGroup(digits: string, groupCount: number): [index: number, taken: number] {
  let group = Number(digits.charAt(0));
  let taken = 1;
  for (; taken < digits.length; taken++) {
    const longer = group * 10 + Number(digits.charAt(taken));
    if (longer > groupCount) break;
    group = longer;
  }
  return [group, taken];
}
