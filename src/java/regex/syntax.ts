/** Nodes of a parsed java.util.regex pattern. */

export type CharTest = (codePoint: number) => boolean;

/** Tests a position without consuming text. */
export type PlaceTest = (text: string, at: number) => boolean;

export type RegexNode =
  | { readonly kind: 'sequence'; readonly nodes: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly nodes: readonly RegexNode[] }
  | { readonly kind: 'char'; readonly test: CharTest }
  | { readonly kind: 'place'; readonly test: PlaceTest }
  | { readonly kind: 'lineEnding' | 'grapheme' }
  | { readonly kind: 'group'; readonly index: number; readonly node: RegexNode }
  | { readonly kind: 'atomic'; readonly node: RegexNode }
  | { readonly kind: 'look'; readonly ahead: boolean; readonly negative: boolean; readonly node: RegexNode }
  | { readonly kind: 'backReference'; readonly group: number; readonly folding: Folding }
  | {
      readonly kind: 'repeat';
      readonly node: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly mode: 'greedy' | 'lazy' | 'possessive';
    };

/** Case folding: none, ASCII only, or Unicode. */
export type Folding = 'none' | 'ascii' | 'unicode';

/** Flags with the values of java.util.regex.Pattern. */
export const Flag = {
  unixLines: 0x01,
  caseInsensitive: 0x02,
  comments: 0x04,
  multiline: 0x08,
  dotAll: 0x20,
  unicodeCase: 0x40,
  unicodeClasses: 0x100,
} as const;

/** A malformed pattern, with Java's message, or a pattern that is too long or needs too many steps for a text. */
export class JavaRegexError extends Error {}

/** `Character.toUpperCase`: a letter whose upper-case form has several letters stays unchanged. */
export function upperCase(codePoint: number): number {
  return oneCodePoint(String.fromCodePoint(codePoint).toUpperCase(), codePoint);
}

/** `Character.toLowerCase`. */
export function lowerCase(codePoint: number): number {
  return codePoint === 0x130 ? 0x69 : oneCodePoint(String.fromCodePoint(codePoint).toLowerCase(), codePoint);
}

function oneCodePoint(text: string, fallback: number): number {
  const codePoint = text.codePointAt(0) ?? fallback;
  return text.length === String.fromCodePoint(codePoint).length ? codePoint : fallback;
}

function asciiUpper(codePoint: number): number {
  return codePoint >= 0x61 && codePoint <= 0x7a ? codePoint - 32 : codePoint;
}

export function asciiLower(codePoint: number): number {
  return codePoint >= 0x41 && codePoint <= 0x5a ? codePoint + 32 : codePoint;
}

/** Matches a character and its case variants. */
export function charTest(codePoint: number, folding: Folding): CharTest {
  if (folding === 'unicode') {
    const upper = upperCase(codePoint);
    const lower = lowerCase(upper);
    if (upper !== lower) return (other) => other === lower || lowerCase(upperCase(other)) === lower;
  }
  if (folding === 'ascii') {
    const upper = asciiUpper(codePoint);
    const lower = asciiLower(codePoint);
    if (upper !== lower) return (other) => other === lower || other === upper;
  }
  return (other) => other === codePoint;
}

/** Matches a range of characters and their case variants. */
export function rangeTest(from: number, to: number, folding: Folding): CharTest {
  const within = (codePoint: number) => from <= codePoint && codePoint <= to;
  switch (folding) {
    case 'none':
      return within;
    case 'ascii':
      return (codePoint) => within(codePoint) || within(asciiUpper(codePoint)) || within(asciiLower(codePoint));
    case 'unicode':
      return (codePoint) => {
        const upper = upperCase(codePoint);
        return within(codePoint) || within(upper) || within(lowerCase(upper));
      };
  }
}
