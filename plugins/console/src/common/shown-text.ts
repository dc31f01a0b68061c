/** Longer texts are cut off, because browsers need seconds to lay them out. */
const MAX_SHOWN = 100_000;

/**
 * Characters that are invisible or that change the order of other characters: control characters, direction marks and overrides,
 * zero-width spaces, tag characters and lone surrogates.
 */
const UNSEEN =
  /[\p{Cc}\p{Bidi_Control}\u00ad\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb\p{Surrogate}\u{e0000}-\u{e007f}]/u;
/**
 * Zero-width joiners next to an ASCII character or at an end of the text. Elsewhere, joiners are kept, because many
 * scripts and emojis need them.
 */
const IDLE_JOINER = /(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])/u;
const ALL = new RegExp(`${UNSEEN.source}|${IDLE_JOINER.source}`, 'gu');
const MAY_BE = /[^ -~\n\t]/;

/**
 * Returns the text that a page shows: invisible characters other than tabs and line breaks are replaced by their codes,
 * and a long text is cut off. Copies and requests use the original text.
 */
export function shownText(text: string): string {
  const first = text.length > MAX_SHOWN ? text.slice(0, MAX_SHOWN) : text;
  const named = MAY_BE.test(first) ? first.replace(ALL, nameOf) : first;
  return text.length > MAX_SHOWN ? `${named}… (${text.length.toLocaleString('en-US')} characters)` : named;
}

function nameOf(character: string): string {
  if (character === '\n' || character === '\t' || character === '\r') return character;
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `‹U+${code}›`;
}
