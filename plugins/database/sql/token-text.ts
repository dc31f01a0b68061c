import { undoubled } from './doubled.ts';
import type { Token } from './lexer.ts';

/**
 * Folds an unquoted name as PostgreSQL does: ASCII letters only, independent of the locale.
 * @internal
 */
export function foldName(word: string): string {
  return word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Returns the word in upper case if the token is an unquoted word. */
export function keywordOf(text: string, token: Token | undefined): string | undefined {
  return token?.kind === 'word' ? text.slice(token.start, token.end).toUpperCase() : undefined;
}

/** Maximum number of characters of a name that are read; names longer than 63 bytes are rejected anyway. */
const MAX_NAME = 100_000;

/**
 * Returns the name that a token denotes, truncated to 100,000 characters. Returns `undefined` for tokens that are not
 * names, and for `U&"…"`, because its UESCAPE clause may follow.
 */
export function nameOf(text: string, token: Token | undefined): string | undefined {
  if (token === undefined || token.unterminated) return undefined;
  const { kind, start, end } = token;
  if (kind === 'word') return foldName(text.slice(start, Math.min(end, start + MAX_NAME)));
  if (end - start <= MAX_NAME) return quotedText(text, token);
  return kind === 'quoted' ? text.slice(start + 1, start + MAX_NAME) : undefined;
}

/** Returns the text in double quotes, at any length; `undefined` for other tokens and for `U&"…"`. */
export function quotedText(text: string, { kind, start, end, unterminated }: Token): string | undefined {
  if (unterminated || kind !== 'quoted' || text.charAt(start) !== '"') return undefined;
  return undoubled(text.slice(start + 1, end - 1), '"');
}

/**
 * Returns the value of a string constant. Returns `undefined` for other tokens, for `U&'…'`, for strings continued on
 * another line, and for escapes of bytes beyond ASCII, which depend on the encoding.
 */
export function stringValue(text: string, token: Token | undefined): string | undefined {
  if (token?.kind !== 'string' || token.unterminated) return undefined;
  const source = text.slice(token.start, token.end);
  switch (source.charAt(0)) {
    case "'":
      return plainValue(source.slice(1, -1));
    case 'n':
    case 'N':
      return plainValue(source.slice(2, -1));
    case 'e':
    case 'E':
      return escapedValue(source.slice(2, -1));
    case '$': {
      const tagLength = source.indexOf('$', 1) + 1;
      return source.slice(tagLength, -tagLength);
    }
    default:
      return undefined;
  }
}

/**
 * Returns the value of a string without escapes. Quotes inside it are doubled; a single one means that the string
 * continues on another line.
 */
function plainValue(inside: string): string | undefined {
  const withoutPairs = inside.replaceAll("''", '');
  return withoutPairs.includes("'") ? undefined : inside.replaceAll("''", "'");
}

const LETTER_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const CODE_ESCAPE = /(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))/y;

function escapedValue(inside: string): string | undefined {
  let value = '';
  for (let position = 0; position < inside.length; position++) {
    const char = inside.charAt(position);
    if (char === "'") {
      position += 1;
      if (inside.charAt(position) !== "'") return undefined;
      value += char;
      continue;
    }
    if (char !== '\\') {
      value += char;
      continue;
    }
    position += 1;
    CODE_ESCAPE.lastIndex = position;
    const match = CODE_ESCAPE.exec(inside);
    if (match === null) {
      const letter = inside.charAt(position);
      value += LETTER_ESCAPES.get(letter) ?? letter;
      continue;
    }
    const [whole, short, long, hex, octal] = match;
    const code = octal === undefined ? Number.parseInt(short ?? long ?? hex ?? '', 16) : Number.parseInt(octal, 8);
    const isByte = short === undefined && long === undefined;
    if (code === 0 || code > (isByte ? 127 : 0x10ffff)) return undefined;
    value += String.fromCodePoint(code);
    position += whole.length - 1;
  }
  return value;
}

/** Returns the digits of an integer constant without underscores (PostgreSQL 16); `undefined` for other tokens. */
export function integerText(text: string, token: Token | undefined): string | undefined {
  if (token?.kind !== 'number') return undefined;
  const source = text.slice(token.start, token.end);
  return /^\d+(?:_\d+)*$/.test(source) ? source.replaceAll('_', '') : undefined;
}
