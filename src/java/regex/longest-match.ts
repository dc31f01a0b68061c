import type { RegexNode } from './syntax.ts';

interface Longest {
  /** Number of characters as a 32-bit integer; meaningless unless `isKnown`. */
  readonly length: number;
  readonly isKnown: boolean;
  /** True if, by Java's rules, the node can match in only one way. */
  readonly single: boolean;
}

const MAX_REPEATS = 0x7fffffff;

/**
 * Whether Java can determine the maximum length of a look-behind. Java computes the length with 32-bit integers. It
 * therefore finds a maximum for `a+` but not for `(?:ab)+`. It also rejects repeated groups that can match in more than one way.
 */
export function hasLongestMatch(node: RegexNode): boolean {
  return longest(node, 0).isKnown;
}

function longest(node: RegexNode, before: number): Longest {
  switch (node.kind) {
    case 'char':
      return { length: (before + 1) | 0, isKnown: true, single: true };
    case 'grapheme':
      return { length: before, isKnown: true, single: false };
    case 'lineEnding':
      return { length: (before + 2) | 0, isKnown: true, single: true };
    case 'place':
    case 'look':
      return { length: before, isKnown: true, single: true };
    case 'backReference':
      return { length: before, isKnown: false, single: true };
    case 'sequence': {
      let total: Longest = { length: before, isKnown: true, single: true };
      for (const each of node.nodes) {
        const part = longest(each, total.length);
        total = {
          length: part.length,
          isKnown: total.isKnown && part.isKnown,
          single: total.single && part.single,
        };
      }
      return total;
    }
    case 'choice': {
      const parts = node.nodes.map((each) => longest(each, 0));
      const length = (before + Math.max(...parts.map((part) => part.length))) | 0;
      return { length, isKnown: parts.every((part) => part.isKnown), single: false };
    }
    case 'group':
    case 'atomic':
      return longest(node.node, before);
    case 'repeat':
      return longestRepeat(node, before);
  }
}

const SIMPLE = new Set<RegexNode['kind']>(['char', 'place', 'grapheme', 'lineEnding', 'backReference']);

function longestRepeat({ node, min, max, mode }: RegexNode & { kind: 'repeat' }, before: number): Longest {
  if (node.kind === 'char' && mode === 'greedy' && max === MAX_REPEATS) {
    return { length: (before + MAX_REPEATS) | 0, isKnown: true, single: false };
  }
  if (min === 0 && max === 1) return { ...longest(node, before), single: false };
  const inner = longest(node, 0);
  const length = (Math.imul(inner.length, max) + before) | 0;
  const looped = !SIMPLE.has(node.kind) && mode !== 'possessive' && !inner.single;
  return {
    length,
    isKnown: inner.isKnown && length >= before && !looped,
    single: inner.single && min === max,
  };
}
