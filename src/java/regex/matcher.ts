import { JavaRegexError, lowerCase, upperCase, asciiLower, type Folding, type RegexNode } from './syntax.ts';
import type { ParsedPattern } from './pattern-parser.ts';

/** Continues matching at a position; true if everything that follows matches. */
type Step = (at: number) => boolean;

/** Maximum number of steps of a match. A reasonable pattern needs far fewer for a topic name. */
const MAX_STEPS = 100_000;
/** Finding the end of a grapheme cluster costs as much as this many steps. */
const STEPS_OF_GRAPHEME = 100;
/** Maximum number of characters in which the end of a grapheme cluster is searched. */
const MAX_GRAPHEME = 1_000;

/** Start and end of each group, -1 if it did not participate; group 0 is the whole match. */
export type Groups = readonly number[];

/**
 * A backtracking matcher with Java's order of alternatives and rules for groups: a group keeps what it matched in an earlier
 * iteration of a loop, and a reference to a group that did not participate never matches.
 */
export class PatternMatcher {
  readonly #groupCount: number;
  readonly #search: Step;
  #text = '';
  #groups: number[] = [];
  #end = 0;
  #wholeText = false;
  #steps = 0;

  constructor({ root, groupCount }: ParsedPattern) {
    this.#groupCount = groupCount;
    this.#search = this.#compile(root, (at) => {
      if (this.#wholeText && at !== this.#text.length) return false;
      this.#end = at;
      return true;
    });
  }

  matchWhole(text: string): Groups | undefined {
    this.#steps = 0;
    return this.#run(text, 0, true);
  }

  /** Finds the first match. */
  find(text: string): Groups | undefined {
    this.#steps = 0;
    for (let start = 0; start <= text.length; start++) {
      const found = this.#run(text, start, false);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #run(text: string, start: number, wholeText: boolean): Groups | undefined {
    this.#text = text;
    this.#wholeText = wholeText;
    // Each attempt allocates an array of groups, so every group counts as a step.
    this.#count(1 + this.#groupCount);
    this.#groups = new Array<number>(2 * (this.#groupCount + 1)).fill(-1);
    if (!this.#searched(start)) return undefined;
    this.#groups[0] = start;
    this.#groups[1] = this.#end;
    return this.#groups;
  }

  #searched(start: number): boolean {
    try {
      return this.#search(start);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new JavaRegexError(
        `The expression is nested too deeply for a text of ${String(this.#text.length)} characters`,
      );
    }
  }

  #count(steps = 1): void {
    this.#steps += steps;
    if (this.#steps <= MAX_STEPS) return;
    throw new JavaRegexError(
      `The expression needs too many steps for a text of ${String(this.#text.length)} characters`,
    );
  }

  #compile(node: RegexNode, next: Step): Step {
    switch (node.kind) {
      case 'sequence':
        return node.nodes.reduceRight<Step>((after, each) => this.#compile(each, after), next);
      case 'choice': {
        const branches = node.nodes.map((each) => this.#compile(each, next));
        return (at) => {
          this.#count(branches.length);
          return branches.some((branch) => branch(at));
        };
      }
      case 'char':
        return (at) => {
          this.#count();
          const codePoint = this.#text.codePointAt(at);
          return codePoint !== undefined && node.test(codePoint) && next(at + width(codePoint));
        };
      case 'place':
        return (at) => {
          this.#count();
          return node.test(this.#text, at) && next(at);
        };
      case 'lineEnding':
        return (at) => {
          this.#count();
          return this.#lineEnding(at, next);
        };
      case 'grapheme':
        return (at) => {
          this.#count(STEPS_OF_GRAPHEME);
          return at < this.#text.length && next(at + graphemeLength(this.#text, at));
        };
      case 'group':
        return this.#group(node.index, node.node, next);
      case 'atomic': {
        const alone = this.#alone(node.node);
        return (at) => {
          const end = alone(at);
          return end >= 0 && next(end);
        };
      }
      case 'look':
        return this.#look(node, next);
      case 'backReference':
        return (at) => this.#backReference(node.group, node.folding, at, next);
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  /** Compiles an atomic match, which is not backtracked into. The returned function returns the end of the match, or -1. */
  #alone(node: RegexNode): (at: number) => number {
    let end = -1;
    const match = this.#compile(node, (at) => {
      end = at;
      return true;
    });
    return (at) => (match(at) ? end : -1);
  }

  #lineEnding(at: number, next: Step): boolean {
    const unit = this.#text.charCodeAt(at);
    if (unit === 0x0d) return (this.#text.charCodeAt(at + 1) === 0x0a && next(at + 2)) || next(at + 1);
    const isEnd = (unit >= 0x0a && unit <= 0x0c) || unit === 0x85 || unit === 0x2028 || unit === 0x2029;
    return isEnd && next(at + 1);
  }

  #group(index: number, node: RegexNode, next: Step): Step {
    let start = -1;
    const inner = this.#compile(node, (at) => {
      const [from, to] = [this.#groups[2 * index] ?? -1, this.#groups[2 * index + 1] ?? -1];
      this.#groups[2 * index] = start;
      this.#groups[2 * index + 1] = at;
      if (next(at)) return true;
      this.#groups[2 * index] = from;
      this.#groups[2 * index + 1] = to;
      return false;
    });
    return (at) => {
      const outer = start;
      start = at;
      const matched = inner(at);
      start = outer;
      return matched;
    };
  }

  #look({ ahead, negative, node }: RegexNode & { kind: 'look' }, next: Step): Step {
    if (ahead) {
      const alone = this.#alone(node);
      return (at) => alone(at) >= 0 !== negative && next(at);
    }
    let until = 0;
    const ending = this.#compile(node, (at) => at === until);
    return (at) => {
      const outer = until;
      until = at;
      let found = false;
      for (let start = at; !found && start >= 0; start--) {
        this.#count();
        found = ending(start);
      }
      until = outer;
      return found !== negative && next(at);
    };
  }

  #backReference(group: number, folding: Folding, at: number, next: Step): boolean {
    const start = this.#groups[2 * group] ?? -1;
    const end = this.#groups[2 * group + 1] ?? -1;
    if (start < 0) return false;
    const length = end - start;
    this.#count(1 + length);
    const given = this.#text.slice(at, at + length);
    return given.length === length && sameText(given, this.#text.slice(start, end), folding) && next(at + length);
  }

  #repeat(node: RegexNode & { kind: 'repeat' }, next: Step): Step {
    if (node.mode === 'possessive') return this.#possessive(node, next);
    if (node.node.kind === 'char' && node.mode === 'greedy') return this.#greedyChars(node, node.node.test, next);
    return this.#loop(node, next);
  }

  #possessive({ node, min, max }: RegexNode & { kind: 'repeat' }, next: Step): Step {
    const alone = this.#alone(node);
    return (start) => {
      let at = start;
      for (let count = 0; count < max; count++) {
        const end = alone(at);
        if (end < 0 && count < min) return false;
        if (end < 0 || (end === at && count >= min)) break;
        at = end;
      }
      return next(at);
    };
  }

  #greedyChars({ min, max }: RegexNode & { kind: 'repeat' }, test: (codePoint: number) => boolean, next: Step): Step {
    return (start) => {
      const ends = [start];
      let at = start;
      while (ends.length <= max) {
        this.#count();
        const codePoint = this.#text.codePointAt(at);
        if (codePoint === undefined || !test(codePoint)) break;
        at += width(codePoint);
        ends.push(at);
      }
      for (let count = ends.length - 1; count >= min; count--) if (next(ends[count] ?? start)) return true;
      return false;
    };
  }

  /** Compiles a loop that counts its iterations and stops after an empty iteration. */
  #loop({ node, min, max, mode }: RegexNode & { kind: 'repeat' }, next: Step): Step {
    let count = 0;
    let began = -1;
    const again = (at: number): boolean => {
      const [outerCount, outerBegan] = [count, began];
      count++;
      began = at;
      const matched = round(at);
      count = outerCount;
      began = outerBegan;
      return matched;
    };
    const afterRound: Step = (at) => {
      this.#count();
      const [rounds, start] = [count, began];
      const leave = () => {
        const left = next(at);
        count = rounds;
        began = start;
        return left;
      };
      if (at === start) return leave();
      if (rounds < min) return again(at);
      if (mode === 'lazy') return leave() || (rounds < max && again(at));
      return (rounds < max && again(at)) || leave();
    };
    const round = this.#compile(node, afterRound);
    return (at) => {
      const [outerCount, outerBegan] = [count, began];
      count = 0;
      began = -1;
      let matched: boolean;
      if (min > 0) matched = again(at);
      else if (mode === 'lazy') matched = next(at) || (max > 0 && again(at));
      else matched = (max > 0 && again(at)) || next(at);
      count = outerCount;
      began = outerBegan;
      return matched;
    };
  }
}

function width(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemeLength(text: string, at: number): number {
  for (const { segment } of graphemes.segment(text.slice(at, at + MAX_GRAPHEME))) return segment.length;
  return 1;
}

function sameText(a: string, b: string, folding: Folding): boolean {
  if (a === b) return true;
  if (folding === 'none') return false;
  const fold = folding === 'ascii' ? asciiLower : (codePoint: number) => lowerCase(upperCase(codePoint));
  const folded = (text: string) => [...text].map((char) => fold(char.codePointAt(0) ?? 0)).join();
  return folded(a) === folded(b);
}
