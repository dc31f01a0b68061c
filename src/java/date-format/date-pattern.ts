/** Letters of java.text.SimpleDateFormat. */
export type PatternLetter =
  | 'G'
  | 'y'
  | 'M'
  | 'd'
  | 'k'
  | 'H'
  | 'm'
  | 's'
  | 'S'
  | 'E'
  | 'D'
  | 'F'
  | 'w'
  | 'W'
  | 'a'
  | 'h'
  | 'K'
  | 'z'
  | 'Z'
  | 'Y'
  | 'u'
  | 'X'
  | 'L';

export type PatternPart = { readonly text: string } | { readonly letter: PatternLetter; readonly count: number };

/** A pattern that SimpleDateFormat rejects, with its message. */
export class DatePatternError extends Error {}

const LETTERS = new Set<string>('GyMdkHmsSEDFwWahKzZYuXL');

/**
 * Parses a pattern into fields and literal text. Literal text may be in single quotes; two quotes represent one quote. Throws a
 * DatePatternError if the pattern is invalid.
 */
export function datePattern(pattern: string): readonly PatternPart[] {
  const parts: PatternPart[] = [];
  let text = '';
  let quoted = false;
  const endText = () => {
    if (text !== '') parts.push({ text });
    text = '';
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    if (char === "'") {
      if (pattern.charAt(at + 1) === "'") text += pattern.charAt(at++);
      else quoted = !quoted;
    } else if (quoted || !(isLetter(char) || isUnknownLetter(char))) {
      text += char;
    } else {
      if (!isLetter(char)) throw new DatePatternError(`Illegal pattern character '${char}'`);
      endText();
      let end = at + 1;
      while (pattern.charAt(end) === char) end++;
      if (char === 'X' && end - at > 3 && !isUnknownLetter(pattern.charAt(end))) {
        throw new DatePatternError(`invalid ISO 8601 format: length=${String(end - at)}`);
      }
      parts.push({ letter: char, count: end - at });
      at = end - 1;
    }
  }
  if (quoted) throw new DatePatternError('Unterminated quote');
  endText();
  return parts;
}

function isLetter(char: string): char is PatternLetter {
  return LETTERS.has(char);
}

function isUnknownLetter(char: string): boolean {
  return /^[a-zA-Z]$/.test(char) && !isLetter(char);
}
