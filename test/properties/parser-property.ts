import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cpuMsOf } from '../support/cpu-time.ts';

export interface CheckOptions {
  readonly inputs: number;
  /** The same inputs again; absent: others every time. */
  readonly seed?: number | undefined;
  /** Called for every input that was judged, with the time that it took. */
  readonly onInput?: ((tookMs: number) => void) | undefined;
}

/** Something that holds for every text a parser can be given: the tests try a few thousand, the soak run a million. */
export interface ParserProperty {
  readonly title: string;
  /** Throws fast-check's report, with the shrunk input and the seed, for an input that breaks the promise. */
  readonly check: (options: CheckOptions) => void;
}

/** No input here is longer than some 200 kB; one that takes longer than this twice is no accident of the machine. */
const MAX_INPUT_MS = 1_000;

/**
 * A promise of a parser about its inputs. `judge` is called once per run, so that what it keeps between inputs (a decoder
 * that has seen others) is the run's own; what it returns throws for a broken promise.
 */
export function parserProperty<T>(
  title: string,
  inputs: fc.Arbitrary<T>,
  judge: () => (input: T) => void,
): ParserProperty {
  return {
    title,
    check({ inputs: numRuns, seed, onInput }) {
      const holds = judge();
      const predicate = (input: T): void => {
        let tookMs = cpuMsOf(() => holds(input));
        for (let tries = 0; tries < 4 && tookMs > MAX_INPUT_MS; tries++) tookMs = cpuMsOf(() => holds(input));
        assert.ok(tookMs <= MAX_INPUT_MS, `one input took ${tookMs.toFixed(0)} ms of CPU`);
        onInput?.(tookMs);
      };
      fc.assert(fc.property(inputs, predicate), seed === undefined ? { numRuns } : { numRuns, seed });
    },
  };
}

/** Texts that people attack with, and any others; NUL and halves of surrogate pairs among them. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        ...["'", '"', "''", '""', '\\', "\\'", '\\"', '`', '$$', '$x$', ';', '--', '/*', '*/', '\n', '\r', '\t', '\0'],
        ...['%', '{', '}', '(', ')', ',', '=', ' ', 'NULL', "E'", "U&'", 'DROP TABLE x', '1=1', 'é', '😀', '\ud83d'],
        ...['a', 'select', 'public', '.', '::text', '\u202e', '\ufeff', '\u2028'],
      ),
      { maxLength: 12 },
    )
    .map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 70 }),
);

/** Inputs of an arbitrary, and now and then a long one, in which a piece stands again and again. */
export function withLongOnes(usual: fc.Arbitrary<string>, piece: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const long = fc
    .tuple(usual, piece, fc.integer({ min: 1, max: 40_000 }), usual)
    .map(
      ([head, part, count, tail]) =>
        head + part.repeat(Math.min(count, Math.floor(200_000 / (part.length + 1)))) + tail,
    );
  return fc.oneof({ weight: 500, arbitrary: usual }, { weight: 1, arbitrary: long });
}

/** A text with one small change: a character removed, replaced or added. */
export function nearly(text: fc.Arbitrary<string>, pieces: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(text, fc.nat(), fc.nat({ max: 1 }), fc.constantFrom(...pieces)).map(([whole, at, cut, piece]) => {
    const position = at % (whole.length + 1);
    return whole.slice(0, position) + piece + whole.slice(position + cut);
  });
}
