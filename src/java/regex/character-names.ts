/** Unicode names of ASCII characters (`\N{…}`), but for letters and digits, in their order. */
const NAMES =
  'SPACE|EXCLAMATION MARK|QUOTATION MARK|NUMBER SIGN|DOLLAR SIGN|PERCENT SIGN|AMPERSAND|APOSTROPHE|LEFT PARENTHESIS|RIGHT PARENTHESIS|ASTERISK|PLUS SIGN|COMMA|HYPHEN-MINUS|FULL STOP|SOLIDUS|COLON|SEMICOLON|LESS-THAN SIGN|EQUALS SIGN|GREATER-THAN SIGN|QUESTION MARK|COMMERCIAL AT|LEFT SQUARE BRACKET|REVERSE SOLIDUS|RIGHT SQUARE BRACKET|CIRCUMFLEX ACCENT|LOW LINE|GRAVE ACCENT|LEFT CURLY BRACKET|VERTICAL LINE|RIGHT CURLY BRACKET|TILDE'.split(
    '|',
  );
const SIGNS = ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const DIGITS = 'ZERO|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE'.split('|');

/** The code point with this name, of ASCII ones. */
export function codePointNamed(name: string): number | undefined {
  const upper = name.trim().toUpperCase();
  const letter = /^LATIN (SMALL|CAPITAL) LETTER ([A-Z])$/.exec(upper);
  if (letter !== null) return (letter[2] ?? 'A').charCodeAt(0) + (letter[1] === 'SMALL' ? 32 : 0);
  const digit = upper.startsWith('DIGIT ') ? DIGITS.indexOf(upper.slice(6)) : -1;
  if (digit >= 0) return 0x30 + digit;
  const sign = NAMES.indexOf(upper);
  return sign < 0 ? undefined : SIGNS.charCodeAt(sign);
}
