import { JAVA_PATTERN_SCANNERS } from './configuration-scanners.ts';
import { KNOWN_FREEZES } from './findings.ts';
import { almostMatches, codePatterns } from './patterns.ts';
import type { Scanner } from './scanner.ts';
import { patternScanners, SCANNERS } from './scanners.ts';
import { FRAMED_RUNS, RUNS, SOME_FRAMED_RUNS, type WorstText } from './texts.ts';

/** A scanner, a text and its length. */
export interface FreezeCase {
  readonly scanner: Scanner;
  readonly text: WorstText;
  readonly length: number;
  /** Faster than this it is no matter how the time grows. */
  readonly floorMs: number;
}

/** Cases by number, made when they are asked for. */
export interface Cases {
  readonly length: number;
  readonly at: (index: number) => FreezeCase;
}

/** CPU time. For the lengths below, a quadratic scanner takes longer. */
const FLOOR_MS = 60;
/** CPU time of a text for a Java expression: half a million steps, twice. */
const JAVA_FLOOR_MS = 300;

function listed(cases: readonly Omit<FreezeCase, 'floorMs'>[], floorMs = FLOOR_MS): Cases {
  return { length: cases.length, at: (index) => ({ ...present(cases[index]), floorMs }) };
}

/** Each scanner with each text; every `step`th of these pairs. */
function product(scanners: readonly Scanner[], texts: readonly WorstText[], length: number, step = 1): Cases {
  return {
    length: Math.ceil((scanners.length * texts.length) / step),
    at(index) {
      const pair = index * step;
      const scanner = present(scanners[Math.floor(pair / texts.length)]);
      return { scanner, text: present(texts[pair % texts.length]), length, floorMs: FLOOR_MS };
    },
  };
}

function joined(...parts: readonly Cases[]): Cases {
  return {
    length: parts.reduce((sum, { length }) => sum + length, 0),
    at(index) {
      let before = 0;
      const part = parts.find(({ length }) => index < before + length || ((before += length), false));
      return present(part).at(index - before);
    },
  };
}

function knownFreezes(length: number): Cases {
  return listed(
    KNOWN_FREEZES.map(({ id, scanner: name, text }) => {
      const { read } = present(SCANNERS.find((each) => each.name === name));
      return { scanner: { name: `${id} ${name}`, read }, text, length };
    }),
  );
}

/** Each regular expression of the code with the texts that it nearly matches. */
function patternCases(length: number): Cases {
  const scanners = patternScanners();
  const pairs = codePatterns().flatMap((pattern, index) =>
    almostMatches(pattern).map((text) => ({ scanner: present(scanners[index]), text, length })),
  );
  return listed(pairs);
}

function javaPatternCases(length: number): Cases {
  const pairs = JAVA_PATTERN_SCANNERS.flatMap((scanner) => SOME_FRAMED_RUNS.map((text) => ({ scanner, text, length })));
  return listed(pairs, JAVA_FLOOR_MS);
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new RangeError('there is no such case');
  return value;
}

export const CASE_LISTS = {
  /** The cases that the tests try. The step is prime, so that each scanner gets other texts. */
  short: () =>
    joined(
      knownFreezes(60_000),
      product(SCANNERS, [...RUNS, ...SOME_FRAMED_RUNS], 10_000, 11),
      patternCases(20_000),
      javaPatternCases(500),
    ),
  runs: () => product(SCANNERS, [...RUNS, ...FRAMED_RUNS], 20_000, 11),
  /** As long as a message or a body. */
  longRuns: () => joined(knownFreezes(1_000_000), product(SCANNERS, RUNS, 300_000, 7)),
  patterns: () => joined(patternCases(300_000), javaPatternCases(10_000)),
  almostMatches: () => product(SCANNERS, codePatterns().flatMap(almostMatches), 20_000, 13),
} as const satisfies Readonly<Record<string, () => Cases>>;
