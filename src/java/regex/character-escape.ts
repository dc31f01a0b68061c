import {
  asciiDigit,
  asciiSpace,
  asciiWord,
  horizontalBlank,
  unicodeDigit,
  unicodeSpace,
  unicodeWord,
  verticalBlank,
} from './character-properties.ts';
import { controlEscape, hexEscape, nameEscape, octalEscape, unicodeEscape } from './escapes.ts';
import type { PatternReader } from './pattern-reader.ts';
import type { CharTest } from './syntax.ts';

const CONTROLS: Readonly<Record<string, number>> = { a: 0x07, e: 0x1b, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 };

/**
 * Parses an escape for a character or a set of characters, inside or outside a class; the cursor is at the backslash. Any other
 * letter or digit is consumed, and the result is `undefined`. `isRange`: the escape is an end of a range, where `\v` is a single
 * character.
 */
export function characterEscape(reader: PatternReader, isRange: boolean): number | CharTest | undefined {
  const code = reader.skip();
  const char = code < 0x80 ? String.fromCharCode(code) : '';
  switch (char) {
    case '0':
      return octalEscape(reader);
    case 'N':
      return nameEscape(reader);
    case 'c':
      return controlEscape(reader);
    case 'u':
      return unicodeEscape(reader);
    case 'x':
      return hexEscape(reader);
    case 'v':
      return isRange ? 0x0b : verticalBlank;
  }
  const control = CONTROLS[char];
  if (control !== undefined) return control;
  const set = setOf(char.toLowerCase(), reader.has('unicodeClasses'));
  if (set !== undefined) return char === char.toLowerCase() ? set : (codePoint) => !set(codePoint);
  return /[a-zA-Z0-9]/.test(char) ? undefined : code;
}

function setOf(letter: string, unicode: boolean): CharTest | undefined {
  switch (letter) {
    case 'd':
      return unicode ? unicodeDigit : asciiDigit;
    case 's':
      return unicode ? unicodeSpace : asciiSpace;
    case 'w':
      return unicode ? unicodeWord : asciiWord;
    case 'h':
      return horizontalBlank;
    case 'v':
      return verticalBlank;
  }
  return undefined;
}
