import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';
import ts from 'typescript';
import type { WorstText } from './texts.ts';

/** A regular expression of the product's code. */
export interface CodePattern {
  readonly source: string;
  readonly flags: string;
  /** The first place where it stands. */
  readonly place: string;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** All literals of `src` and `plugins`, each once. */
export function codePatterns(): CodePattern[] {
  const patterns = new Map<string, CodePattern>();
  for (const folder of ['src', 'plugins']) {
    for (const file of readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).sort()) {
      if (!file.endsWith('.ts')) continue;
      const path = `${folder}/${file}`;
      const text = readFileSync(ROOT + path, 'utf8');
      const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      const visit = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node) && !patterns.has(node.text)) {
          const slash = node.text.lastIndexOf('/');
          const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
          const place = `${path}:${String(line)}`;
          patterns.set(node.text, { source: node.text.slice(1, slash), flags: node.text.slice(slash + 1), place });
        }
        ts.forEachChild(node, visit);
      };
      visit(source);
    }
  }
  return [...patterns.values()];
}

/**
 * Texts that a pattern nearly matches: all that comes before one of its open loops, then as many rounds of it as fit, then
 * what ends no match.
 */
export function almostMatches(pattern: CodePattern): WorstText[] {
  const literal = parseRegExpLiteral(`/${pattern.source}/${pattern.flags}`);
  return openLoops(literal.pattern).flatMap((loop, index) => {
    const before = new Sample(loop).before(literal.pattern);
    const round = new Sample(undefined).of(loop.element) || 'a';
    return ['\0', '', '\n!'].map((after) => ({
      name: `loop ${String(index + 1)} of /${pattern.source}/${pattern.flags} (${pattern.place}), then ${JSON.stringify(after)}`,
      of: (length: number) => before + round.repeat(Math.ceil(length / round.length)) + after,
    }));
  });
}

function openLoops(node: AST.Node): AST.Quantifier[] {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.flatMap(openLoops);
    case 'Assertion':
      return 'alternatives' in node ? node.alternatives.flatMap(openLoops) : [];
    case 'Alternative':
      return node.elements.flatMap(openLoops);
    case 'Quantifier':
      return [...(node.max > 1_000 ? [node] : []), ...openLoops(node.element)];
    default:
      return [];
  }
}

const CANDIDATES = [
  ...[
    'a',
    '0',
    ' ',
    'A',
    '_',
    '.',
    '-',
    ',',
    ':',
    ';',
    '=',
    '/',
    '\\',
    '"',
    "'",
    '$',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '+',
  ],
  ...[
    '*',
    '?',
    '|',
    '^',
    '#',
    '%',
    '&',
    '@',
    '!',
    '~',
    '<',
    '>',
    '`',
    '\n',
    '\r',
    '\t',
    '\0',
    'é',
    '٣',
    '😀',
    '\ud800',
  ],
];

/** Makes a text that a part of a pattern matches, up to a loop where one is named. */
class Sample {
  readonly #until: AST.Quantifier | undefined;
  #reached = false;

  constructor(until: AST.Quantifier | undefined) {
    this.#until = until;
  }

  before(node: AST.Node): string {
    return this.of(node);
  }

  of(node: AST.Node): string {
    if (this.#reached) return '';
    switch (node.type) {
      case 'Pattern':
      case 'Group':
      case 'CapturingGroup': {
        const chosen = node.alternatives.find((each) => this.#holds(each)) ?? node.alternatives[0];
        return chosen === undefined ? '' : this.of(chosen);
      }
      case 'Alternative':
        return node.elements.map((each) => this.of(each)).join('');
      case 'Quantifier': {
        if (node === this.#until) {
          this.#reached = true;
          return '';
        }
        return this.of(node.element).repeat(this.#holds(node.element) ? 1 : Math.max(1, Math.min(node.min, 100)));
      }
      case 'Character':
        return String.fromCodePoint(node.value);
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass':
        return matching(node.raw);
      default:
        return '';
    }
  }

  #holds(node: AST.Node): boolean {
    return this.#until !== undefined && openLoops(node).includes(this.#until);
  }
}

function matching(raw: string): string {
  const flags = /\\p\{/i.test(raw) ? 'u' : '';
  const pattern = new RegExp(`^(?:${raw})$`, flags);
  return CANDIDATES.find((candidate) => pattern.test(candidate)) ?? 'a';
}
