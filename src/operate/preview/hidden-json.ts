const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BEGIN = /["\d]|-\d/g;
const NUMBER = /-?\d[\d.eE+-]*/y;
const NO_BLANK = /\S/g;

/** Applies `hide` to every text and number of a JSON text, except for member names. */
export function hiddenInJson(json: string, hide: (text: string) => string): string {
  const pieces: string[] = [];
  let end = 0;
  for (let begin = find(BEGIN, json, 0); begin >= 0; begin = find(BEGIN, json, end)) {
    const isText = json.charCodeAt(begin) === QUOTE;
    const next = isText ? endOfText(json, begin) : endOf(NUMBER, json, begin);
    pieces.push(json.slice(end, begin));
    const token = json.slice(begin, next);
    pieces.push(isText && json.charAt(find(NO_BLANK, json, next)) === ':' ? token : hiddenToken(token, isText, hide));
    end = next;
  }
  pieces.push(json.slice(end));
  return pieces.join('');
}

function hiddenToken(token: string, isText: boolean, hide: (text: string) => string): string {
  const text = isText ? (JSON.parse(token) as string) : token;
  const shown = hide(text);
  return shown === text ? token : JSON.stringify(shown);
}

/**
 * The end of a quoted text. This is a loop, because a regular expression runs out of memory on a text with a million
 * escapes.
 */
function endOfText(json: string, begin: number): number {
  for (let at = begin + 1; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  return json.length;
}

function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

/** -1: no match. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}
