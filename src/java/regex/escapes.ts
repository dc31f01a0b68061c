import type { PatternReader } from './pattern-reader.ts';

/** Escapes for one character, parsed after their letter. */

const isHex = (char: number) => char < 0x80 && /[0-9a-fA-F]/.test(String.fromCharCode(char));
const isOctal = (char: number) => char >= 0x30 && char <= 0x37;
const hexValue = (char: number) => Number.parseInt(String.fromCharCode(char), 16);

/** `\0n`, `\0nn`, `\0mnn` with m up to 3. */
export function octalEscape(reader: PatternReader): number {
  const first = reader.read();
  if (!isOctal(first)) reader.fail('Illegal octal escape sequence');
  const second = reader.read();
  if (!isOctal(second)) {
    reader.unread();
    return first - 0x30;
  }
  const third = reader.read();
  if (isOctal(third) && first <= 0x33) return (first - 0x30) * 64 + (second - 0x30) * 8 + (third - 0x30);
  reader.unread();
  return (first - 0x30) * 8 + (second - 0x30);
}

/** `\xhh`, `\x{h…h}`. */
export function hexEscape(reader: PatternReader): number {
  const first = reader.read();
  if (isHex(first)) {
    const second = reader.read();
    if (isHex(second)) return hexValue(first) * 16 + hexValue(second);
  } else if (first === 0x7b && isHex(reader.peek())) {
    let codePoint = 0;
    let char = reader.read();
    for (; isHex(char); char = reader.read()) {
      codePoint = codePoint * 16 + hexValue(char);
      if (codePoint > 0x10ffff) reader.fail('Hexadecimal codepoint is too big');
    }
    if (char !== 0x7d) reader.fail('Unclosed hexadecimal escape sequence');
    return codePoint;
  }
  return reader.fail('Illegal hexadecimal escape sequence');
}

/** `\uhhhh`; two of them may form a surrogate pair. */
export function unicodeEscape(reader: PatternReader): number {
  const unit = fourDigits(reader);
  if ((unit & 0xfc00) !== 0xd800) return unit;
  const { cursor } = reader;
  if (reader.read() === 0x5c && reader.read() === 0x75) {
    const low = fourDigits(reader);
    if ((low & 0xfc00) === 0xdc00) return ((unit - 0xd800) << 10) + (low - 0xdc00) + 0x10000;
  }
  reader.cursor = cursor;
  return unit;
}

function fourDigits(reader: PatternReader): number {
  let unit = 0;
  for (let count = 0; count < 4; count++) {
    const char = reader.read();
    if (!isHex(char)) reader.fail('Illegal Unicode escape sequence');
    unit = unit * 16 + hexValue(char);
  }
  return unit;
}

/** `\N{name}`. */
export function nameEscape(reader: PatternReader): number {
  if (reader.read() !== 0x7b) reader.fail('Illegal character name escape sequence');
  const start = reader.cursor;
  while (reader.read() !== 0x7d) if (reader.ended) reader.fail('Unclosed character name escape sequence');
  let name = '';
  for (let index = start; index < reader.cursor - 1; index++) name += String.fromCodePoint(reader.at(index));
  return codePointNamed(name) ?? reader.fail(`Unknown character name [${name}]`);
}

/** `\cX`. */
export function controlEscape(reader: PatternReader): number {
  if (reader.ended) reader.fail('Illegal control escape sequence');
  return reader.read() ^ 64;
}

/** Unicode names (`\N{…}`) of the printable ASCII characters other than letters and digits, in order of their code points. */
const SIGN_NAMES =
  'SPACE|EXCLAMATION MARK|QUOTATION MARK|NUMBER SIGN|DOLLAR SIGN|PERCENT SIGN|AMPERSAND|APOSTROPHE|LEFT PARENTHESIS|RIGHT PARENTHESIS|ASTERISK|PLUS SIGN|COMMA|HYPHEN-MINUS|FULL STOP|SOLIDUS|COLON|SEMICOLON|LESS-THAN SIGN|EQUALS SIGN|GREATER-THAN SIGN|QUESTION MARK|COMMERCIAL AT|LEFT SQUARE BRACKET|REVERSE SOLIDUS|RIGHT SQUARE BRACKET|CIRCUMFLEX ACCENT|LOW LINE|GRAVE ACCENT|LEFT CURLY BRACKET|VERTICAL LINE|RIGHT CURLY BRACKET|TILDE'.split(
    '|',
  );
const SIGNS = ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const DIGITS = 'ZERO|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE'.split('|');

/** The code point of the ASCII character with this name; `undefined` if there is none. */
function codePointNamed(name: string): number | undefined {
  const upper = name.trim().toUpperCase();
  const letter = /^LATIN (SMALL|CAPITAL) LETTER ([A-Z])$/.exec(upper);
  if (letter !== null) return (letter[2] ?? 'A').charCodeAt(0) + (letter[1] === 'SMALL' ? 32 : 0);
  const digit = upper.startsWith('DIGIT ') ? DIGITS.indexOf(upper.slice(6)) : -1;
  if (digit >= 0) return 0x30 + digit;
  const sign = SIGN_NAMES.indexOf(upper);
  return sign < 0 ? undefined : SIGNS.charCodeAt(sign);
}
