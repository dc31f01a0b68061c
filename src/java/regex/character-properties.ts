import type { CharTest } from './syntax.ts';
import { lookupTable } from '../../data/lookup-table.ts';

/**
 * Character classes of java.util.regex (`\p{…}`). Functions that find a class return `undefined` for unsupported names.
 */

const HORIZONTAL = /^[ \t\xA0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000]$/u;
const VERTICAL = /^[\n\x0B\f\r\x85\u2028\u2029]$/u;

function matching(regex: RegExp): CharTest {
  return (codePoint) => regex.test(String.fromCodePoint(codePoint));
}

export const horizontalBlank = matching(HORIZONTAL);
export const verticalBlank = matching(VERTICAL);
export const asciiDigit: CharTest = (codePoint) => codePoint >= 0x30 && codePoint <= 0x39;
export const asciiSpace: CharTest = (codePoint) => codePoint === 0x20 || (codePoint >= 9 && codePoint <= 13);
export const asciiWord = matching(/^[a-zA-Z0-9_]$/u);
export const unicodeDigit = matching(/^\p{Nd}$/u);
export const unicodeSpace = matching(/^[\p{Z}\t-\r\x85]$/u);
export const unicodeWord = matching(/^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]$/u);
export const nonSpacingMark = matching(/^\p{Mn}$/u);
export const letterOrDigit = matching(/^[\p{L}\p{Nd}]$/u);

const LETTER_CASE = /^[\p{Lu}\p{Ll}\p{Lt}]$/u;
const CASED = /^[\p{Lowercase}\p{Uppercase}\p{Lt}]$/u;

/** ASCII classes of POSIX. */
const ASCII_CLASSES: Readonly<Record<string, RegExp>> = lookupTable({
  ASCII: /^[\x00-\x7F]$/u,
  Alnum: /^[a-zA-Z0-9]$/u,
  Alpha: /^[a-zA-Z]$/u,
  Blank: /^[ \t]$/u,
  Cntrl: /^[\x00-\x1F\x7F]$/u,
  Digit: /^[0-9]$/u,
  Graph: /^[!-~]$/u,
  Lower: /^[a-z]$/u,
  Print: /^[ -~]$/u,
  Punct: /^[!-/:-@[-`{-~]$/u,
  Space: /^[ \t-\r]$/u,
  Upper: /^[A-Z]$/u,
  XDigit: /^[0-9a-fA-F]$/u,
});

/** POSIX classes for all of Unicode, by upper-case name. */
const UNICODE_CLASSES: Readonly<Record<string, RegExp>> = lookupTable({
  ALPHA: /^\p{Alphabetic}$/u,
  LOWER: /^\p{Lowercase}$/u,
  UPPER: /^\p{Uppercase}$/u,
  SPACE: /^[\p{Z}\t-\r\x85]$/u,
  PUNCT: /^\p{P}$/u,
  XDIGIT: /^[\p{Nd}\p{Hex_Digit}]$/u,
  ALNUM: /^[\p{Alphabetic}\p{Nd}]$/u,
  CNTRL: /^\p{Cc}$/u,
  DIGIT: /^\p{Nd}$/u,
  BLANK: /^[\p{Zs}\t]$/u,
  GRAPH: /^[^\p{Z}\p{Cc}\p{Cs}\p{Cn}]$/u,
  PRINT: /^[^\p{Zl}\p{Zp}\p{Cc}\p{Cs}\p{Cn}]$/u,
});

const BINARY_PROPERTIES: Readonly<Record<string, RegExp>> = lookupTable({
  ALPHABETIC: /^\p{Alphabetic}$/u,
  ASSIGNED: /^\P{Cn}$/u,
  CONTROL: /^\p{Cc}$/u,
  HEXDIGIT: /^[\p{Nd}\p{Hex_Digit}]$/u,
  HEX_DIGIT: /^[\p{Nd}\p{Hex_Digit}]$/u,
  IDEOGRAPHIC: /^\p{Ideographic}$/u,
  JOINCONTROL: /^[\u200c\u200d]$/u,
  JOIN_CONTROL: /^[\u200c\u200d]$/u,
  LETTER: /^\p{L}$/u,
  LOWERCASE: /^\p{Lowercase}$/u,
  NONCHARACTERCODEPOINT: /^\p{Noncharacter_Code_Point}$/u,
  NONCHARACTER_CODE_POINT: /^\p{Noncharacter_Code_Point}$/u,
  TITLECASE: /^\p{Lt}$/u,
  PUNCTUATION: /^\p{P}$/u,
  UPPERCASE: /^\p{Uppercase}$/u,
  WHITESPACE: /^[\p{Z}\t-\r\x85]$/u,
  WHITE_SPACE: /^[\p{Z}\t-\r\x85]$/u,
  WORD: /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]$/u,
});

/** `Character.isLowerCase` and similar methods. */
const JAVA_METHODS: Readonly<Record<string, RegExp>> = lookupTable({
  javaLowerCase: /^\p{Lowercase}$/u,
  javaUpperCase: /^\p{Uppercase}$/u,
  javaAlphabetic: /^\p{Alphabetic}$/u,
  javaIdeographic: /^\p{Ideographic}$/u,
  javaTitleCase: /^\p{Lt}$/u,
  javaDigit: /^\p{Nd}$/u,
  javaDefined: /^\P{Cn}$/u,
  javaLetter: /^\p{L}$/u,
  javaLetterOrDigit: /^[\p{L}\p{Nd}]$/u,
  javaJavaIdentifierStart: /^[\p{L}\p{Nl}\p{Sc}\p{Pc}]$/u,
  javaJavaIdentifierPart: /^[\p{L}\p{Nl}\p{Sc}\p{Pc}\p{Nd}\p{Mc}\p{Mn}\x00-\x08\x0E-\x1B\x7F-\x9F\p{Cf}]$/u,
  javaUnicodeIdentifierStart: /^\p{ID_Start}$/u,
  javaUnicodeIdentifierPart: /^[\p{ID_Continue}\x00-\x08\x0E-\x1B\x7F-\x9F\p{Cf}]$/u,
  javaIdentifierIgnorable: /^[\x00-\x08\x0E-\x1B\x7F-\x9F\p{Cf}]$/u,
  javaSpaceChar: /^\p{Z}$/u,
  javaWhitespace: /^(?![\xA0\u2007\u202F])[\p{Z}\t-\r\x1C-\x1F]$/u,
  javaISOControl: /^[\x00-\x1F\x7F-\x9F]$/u,
  javaMirrored: /^\p{Bidi_Mirrored}$/u,
});

const CATEGORY = /^(?:C[cfnos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;
/** With the flag `(?i)`, these classes match all letters that have a case. */
const CASES = new Set([
  'LOWER',
  'UPPER',
  'LOWERCASE',
  'UPPERCASE',
  'TITLECASE',
  'javaLowerCase',
  'javaUpperCase',
  'javaTitleCase',
]);

/** `\p{name}`: categories, POSIX classes in ASCII, methods of java.lang.Character. */
export function propertyTest(name: string, ignoreCase: boolean): CharTest | undefined {
  if (name === 'all') return () => true;
  if (name === 'L1') return (codePoint) => codePoint <= 0xff;
  if (name === 'LC') return matching(LETTER_CASE);
  if (name === 'LD') return letterOrDigit;
  if (CATEGORY.test(name)) {
    return matching(ignoreCase && /^L[ult]$/.test(name) ? LETTER_CASE : new RegExp(`^\\p{${name}}$`, 'u'));
  }
  if (ignoreCase && (name === 'Lower' || name === 'Upper')) return propertyTest('Alpha', false);
  return fromTable(ASCII_CLASSES, name, false) ?? fromTable(JAVA_METHODS, name, ignoreCase);
}

/** POSIX names with the flag `U`. */
export function posixTest(name: string, ignoreCase: boolean): CharTest | undefined {
  return fromTable(UNICODE_CLASSES, name.toUpperCase(), ignoreCase);
}

/** `\p{Isname}`: a Unicode property, a POSIX class for all of Unicode, any name of `\p{name}`, or a script. */
export function unicodePropertyTest(name: string, ignoreCase: boolean): CharTest | undefined {
  const upper = name.toUpperCase();
  return (
    fromTable(BINARY_PROPERTIES, upper, ignoreCase) ??
    fromTable(UNICODE_CLASSES, upper, ignoreCase) ??
    propertyTest(name, ignoreCase) ??
    scriptTest(name)
  );
}

function fromTable(table: Readonly<Record<string, RegExp>>, name: string, ignoreCase: boolean): CharTest | undefined {
  const regex = Object.hasOwn(table, name) ? table[name] : undefined;
  if (regex === undefined) return undefined;
  return matching(ignoreCase && CASES.has(name) ? CASED : regex);
}

/** A script by its name or four-letter code, in any case. */
export function scriptTest(name: string): CharTest | undefined {
  const words = name.toLowerCase().split('_');
  const written = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('_');
  try {
    return matching(new RegExp(`^\\p{Script=${written}}$`, 'u'));
  } catch {
    return undefined;
  }
}

/** The more common Unicode blocks and their ranges. */
const BLOCKS: Readonly<Record<string, readonly [number, number]>> = lookupTable({
  BASICLATIN: [0x0000, 0x007f],
  LATIN1SUPPLEMENT: [0x0080, 0x00ff],
  LATINEXTENDEDA: [0x0100, 0x017f],
  LATINEXTENDEDB: [0x0180, 0x024f],
  IPAEXTENSIONS: [0x0250, 0x02af],
  SPACINGMODIFIERLETTERS: [0x02b0, 0x02ff],
  COMBININGDIACRITICALMARKS: [0x0300, 0x036f],
  GREEK: [0x0370, 0x03ff],
  GREEKANDCOPTIC: [0x0370, 0x03ff],
  CYRILLIC: [0x0400, 0x04ff],
  CYRILLICSUPPLEMENT: [0x0500, 0x052f],
  ARMENIAN: [0x0530, 0x058f],
  HEBREW: [0x0590, 0x05ff],
  ARABIC: [0x0600, 0x06ff],
  SYRIAC: [0x0700, 0x074f],
  DEVANAGARI: [0x0900, 0x097f],
  BENGALI: [0x0980, 0x09ff],
  TAMIL: [0x0b80, 0x0bff],
  THAI: [0x0e00, 0x0e7f],
  TIBETAN: [0x0f00, 0x0fff],
  GEORGIAN: [0x10a0, 0x10ff],
  HANGULJAMO: [0x1100, 0x11ff],
  ETHIOPIC: [0x1200, 0x137f],
  LATINEXTENDEDADDITIONAL: [0x1e00, 0x1eff],
  GREEKEXTENDED: [0x1f00, 0x1fff],
  GENERALPUNCTUATION: [0x2000, 0x206f],
  SUPERSCRIPTSANDSUBSCRIPTS: [0x2070, 0x209f],
  CURRENCYSYMBOLS: [0x20a0, 0x20cf],
  LETTERLIKESYMBOLS: [0x2100, 0x214f],
  NUMBERFORMS: [0x2150, 0x218f],
  ARROWS: [0x2190, 0x21ff],
  MATHEMATICALOPERATORS: [0x2200, 0x22ff],
  BOXDRAWING: [0x2500, 0x257f],
  CJKSYMBOLSANDPUNCTUATION: [0x3000, 0x303f],
  HIRAGANA: [0x3040, 0x309f],
  KATAKANA: [0x30a0, 0x30ff],
  CJKUNIFIEDIDEOGRAPHS: [0x4e00, 0x9fff],
  HANGULSYLLABLES: [0xac00, 0xd7af],
  PRIVATEUSEAREA: [0xe000, 0xf8ff],
  EMOTICONS: [0x1f600, 0x1f64f],
});

/** `\p{Inblock}`: blanks, hyphens and underscores in the name are ignored. */
export function blockTest(name: string): CharTest | undefined {
  const key = name.toUpperCase().replace(/[ _-]/g, '');
  const range = Object.hasOwn(BLOCKS, key) ? BLOCKS[key] : undefined;
  if (range === undefined) return undefined;
  return (codePoint) => codePoint >= range[0] && codePoint <= range[1];
}
