import { PatternMatcher, type Groups } from './regex/matcher.ts';
import { parsePattern, type ParsedPattern } from './regex/pattern-parser.ts';
import { expandReplacement } from './regex/replacement.ts';

export { JavaRegexError } from './regex/syntax.ts';
export { ReplacementError } from './regex/replacement.ts';

/**
 * java.util.regex.Pattern, but for canonical equivalence and rare names (blocks of Unicode past the common ones, character
 * names past ASCII). Matching is bounded: an explosive pattern ends with a JavaRegexError, where Java would run on.
 */
export class JavaPattern {
  readonly #parsed: ParsedPattern;
  readonly #matcher: PatternMatcher;

  private constructor(pattern: string) {
    this.#parsed = parsePattern(pattern);
    this.#matcher = new PatternMatcher(this.#parsed);
  }

  /** Throws a JavaRegexError with Java's message, which says what is wrong and where. */
  static compile(pattern: string): JavaPattern {
    return new JavaPattern(pattern);
  }

  /** `Matcher.matches`: whether the whole text matches. */
  matches(text: string): boolean {
    return this.match(text) !== undefined;
  }

  /** Start and end of every group of a match of the whole text; `undefined` when it does not match. */
  match(text: string): Groups | undefined {
    return this.#matcher.matchWhole(text);
  }

  /** `Matcher.replaceFirst`: throws a ReplacementError when the replacement asks for what the pattern has not. */
  replaceFirst(text: string, replacement: string): string {
    const groups = this.#matcher.find(text);
    if (groups === undefined) return text;
    const filled = expandReplacement(replacement, text, groups, this.#parsed);
    return text.slice(0, groups[0]) + filled + text.slice(groups[1]);
  }
}

/** Whether a whole text matches a pattern. Throws as `JavaPattern.compile` does. */
export function javaRegexMatcher(pattern: string): (text: string) => boolean {
  const compiled = JavaPattern.compile(pattern);
  return (text) => compiled.matches(text);
}
