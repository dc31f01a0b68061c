import { PatternMatcher, type Groups } from './regex/matcher.ts';
import { parsePattern, type ParsedPattern } from './regex/pattern-parser.ts';
import { expandReplacement } from './regex/replacement.ts';
import { JavaRegexError } from './regex/syntax.ts';

export { JavaRegexError } from './regex/syntax.ts';
export { ReplacementError } from './regex/replacement.ts';

/** Maximum length; parsing an expression of this length takes about 50 ms. */
const MAX_PATTERN_LENGTH = 100_000;

/**
 * java.util.regex.Pattern, except for canonical equivalence and rare names (uncommon Unicode blocks, character names outside
 * ASCII). The number of matching steps is limited: an explosive pattern fails with a JavaRegexError, where Java would continue.
 */
export class JavaPattern {
  readonly #parsed: ParsedPattern;
  readonly #matcher: PatternMatcher;

  private constructor(pattern: string) {
    this.#parsed = parsePattern(pattern);
    this.#matcher = new PatternMatcher(this.#parsed);
  }

  /** Throws a JavaRegexError if the pattern is malformed (with Java's message and position) or longer than 100,000 characters. */
  static compile(pattern: string): JavaPattern {
    if (pattern.length > MAX_PATTERN_LENGTH) {
      const most = String(MAX_PATTERN_LENGTH);
      throw new JavaRegexError(`The expression has ${String(pattern.length)} characters; the maximum is ${most}`);
    }
    return new JavaPattern(pattern);
  }

  /** `Matcher.matches`: the whole text must match. */
  matches(text: string): boolean {
    return this.match(text) !== undefined;
  }

  /** Start and end of every group if the whole text matches, otherwise `undefined`. */
  match(text: string): Groups | undefined {
    return this.#matcher.matchWhole(text);
  }

  /** `Matcher.replaceFirst`. Throws a ReplacementError if the replacement is malformed or refers to an unknown group. */
  replaceFirst(text: string, replacement: string): string {
    const groups = this.#matcher.find(text);
    if (groups === undefined) return text;
    const filled = expandReplacement(replacement, text, groups, this.#parsed);
    return text.slice(0, groups[0]) + filled + text.slice(groups[1]);
  }
}

/**
 * Compiles a pattern of java.util.regex.
 * @returns a function that tests whether a whole text matches; it throws a JavaRegexError after 100,000 steps
 * @throws JavaRegexError with Java's message if the pattern is malformed, or if it is longer than 100,000 characters
 */
export function javaRegexMatcher(pattern: string): (text: string) => boolean {
  const compiled = JavaPattern.compile(pattern);
  return (text) => compiled.matches(text);
}
