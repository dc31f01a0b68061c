/** What PostgreSQL calls UTC+15 and beyond exists nowhere on earth; it would take 99. */
const MAX_HOURS = 15;

/**
 * The zone of a `tz` parameter in the spelling that PostgreSQL reads the same way: bare, in single or in double quotes;
 * an IANA name; hours east (`8`, `+8`, which arrives as ` 8` when the plus was not escaped); or POSIX (`UTC+5`, `+08:00`),
 * where plus is west. `undefined` when it cannot be one (original-system.md 4).
 */
export function readTimeZone(parameter: string): string | undefined {
  const text = unquote(parameter.replace(/^ (?=\d)/, '+')).trim();
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) return Math.abs(Number(text)) <= MAX_HOURS ? text : undefined;
  return text.length <= 63 && /^[\w+\-/:.<>,]+$/.test(text) ? text : undefined;
}

/** The text of the original for a zone that is none. */
export function badTimeZone(parameter: string): string {
  return `pq: invalid value for parameter "timezone": "${unquote(parameter)}"`;
}

function unquote(text: string): string {
  const quote = text[0];
  const quoted = text.length >= 2 && (quote === '"' || quote === "'") && text.endsWith(quote);
  return quoted ? text.slice(1, -1).replace(/^ (?=\d)/, '+') : text;
}
