import { letterOrDigit, nonSpacingMark, unicodeWord } from './character-properties.ts';
import type { CharTest, PlaceTest } from './syntax.ts';

/** Tests for positions in a text: boundaries of the text, of lines and of words. */

const LF = 0x0a;
const CR = 0x0d;
const isLineEnd = (unit: number) => unit === LF || unit === CR || (unit | 1) === 0x2029 || unit === 0x85;

export const textStart: PlaceTest = (_text, at) => at === 0;
export const textEnd: PlaceTest = (text, at) => at === text.length;

/** `^` with the flag `m`; no line starts at the end of the text. */
export function lineStart(unixLines: boolean): PlaceTest {
  return (text, at) => {
    if (at === text.length) return false;
    if (at === 0) return true;
    const before = text.charCodeAt(at - 1);
    if (unixLines) return before === LF;
    return isLineEnd(before) && !(before === CR && text.charCodeAt(at) === LF);
  };
}

/** `$`: the end of the text or before a final line terminator; with the flag `m` before every line terminator. */
export function lineEnd(unixLines: boolean, multiline: boolean): PlaceTest {
  return (text, at) => {
    if (at === text.length) return true;
    const unit = text.charCodeAt(at);
    if (unixLines) return unit === LF && (multiline || at === text.length - 1);
    if (!isLineEnd(unit) || (unit === LF && text.charCodeAt(at - 1) === CR)) return false;
    if (multiline || at === text.length - 1) return true;
    return at === text.length - 2 && unit === CR && text.charCodeAt(at + 1) === LF;
  };
}

/**
 * `\b` and `\B`. As in Java up to version 18, letters and digits of all scripts are word characters here, unlike for `\w`. A
 * nonspacing mark counts as a word character after a letter or digit.
 */
export function wordBoundary(wanted: boolean, unicode: boolean): PlaceTest {
  const isWord: CharTest = unicode ? unicodeWord : (char) => char === 0x5f || letterOrDigit(char);
  return (text, at) => {
    const before = codePointBefore(text, at);
    const left = before !== undefined && countsAsWord(text, at - 1, before, isWord);
    const after = text.codePointAt(at);
    const right = after !== undefined && countsAsWord(text, at, after, isWord);
    return (left !== right) === wanted;
  };
}

function countsAsWord(text: string, at: number, codePoint: number, isWord: CharTest): boolean {
  if (isWord(codePoint)) return true;
  if (!nonSpacingMark(codePoint)) return false;
  for (let index = at; index >= 0; index--) {
    const char = text.codePointAt(index) ?? 0;
    if (letterOrDigit(char)) return true;
    if (!nonSpacingMark(char)) return false;
  }
  return false;
}

function codePointBefore(text: string, at: number): number | undefined {
  if (at === 0) return undefined;
  const wide = at >= 2 ? (text.codePointAt(at - 2) ?? 0) : 0;
  return wide > 0xffff ? wide : text.charCodeAt(at - 1);
}
