/**
 * These functions trim without regular expressions, because `/0+$/` scans each run of zeros again from each of its
 * characters.
 */

/** Removes all occurrences of one character from the end of the text. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === character) end--;
  return text.slice(0, end);
}

const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

/**
 * Removes the characters that Java's `\s` matches from both ends: blanks, tabs, line ends, vertical tabs and form
 * feeds.
 */
export function withoutJavaBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isJavaBlank(text.charCodeAt(start))) start++;
  while (end > start && isJavaBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isJavaBlank(code: number): boolean {
  return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN);
}
