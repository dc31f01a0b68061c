const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BEGIN = /["\d]|-\d/g;
const NUMBER = /-?\d[\d.eE+-]*/y;
const INTEGER = /^-?\d+$/;
/** Precedes the digits of a large integer while it is a JSON string; a character of the private use area. */
const MARK = '\ue000';

/** Parses JSON without losing digits of integers: an integer beyond the safe range of a number becomes a `bigint`. */
export function parseExact(text: string): unknown {
  const marked = withTokens(text, (token) => (isLarge(token) ? `"${MARK}${token}"` : token));
  return JSON.parse(marked, (_, value: unknown) => (isMarked(value) ? BigInt(value.slice(MARK.length)) : value));
}

/** Formats a value that may contain `bigint` as JSON. */
export function exactText(value: unknown, indent?: number): string {
  const marked = (_: string, each: unknown): unknown => (typeof each === 'bigint' ? `${MARK}${String(each)}` : each);
  return withTokens(JSON.stringify(value, marked, indent), (token) => {
    const text = token.slice(1, -1);
    return token.startsWith('"') && isMarked(text) ? text.slice(MARK.length) : token;
  });
}

/**
 * Replaces each string and number of a JSON text. It scans strings character by character, because a regular expression
 * would overflow its stack on a string with a million escapes.
 */
function withTokens(json: string, replace: (token: string) => string): string {
  const pieces: string[] = [];
  let end = 0;
  BEGIN.lastIndex = 0;
  for (let found = BEGIN.exec(json); found !== null; found = BEGIN.exec(json)) {
    const next = json.charCodeAt(found.index) === QUOTE ? endOfText(json, found.index) : endOfNumber(json, found.index);
    pieces.push(json.slice(end, found.index), replace(json.slice(found.index, next)));
    end = next;
    BEGIN.lastIndex = end;
  }
  pieces.push(json.slice(end));
  return pieces.join('');
}

function endOfText(json: string, begin: number): number {
  for (let at = begin + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return json.length;
}

function endOfNumber(json: string, begin: number): number {
  NUMBER.lastIndex = begin;
  return NUMBER.test(json) ? NUMBER.lastIndex : begin + 1;
}

function isLarge(token: string): boolean {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token));
}

function isMarked(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(MARK) && INTEGER.test(value.slice(MARK.length));
}
