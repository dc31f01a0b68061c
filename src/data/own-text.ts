/**
 * An equal string that does not keep a larger one alive: V8's substrings of 13 characters and more point into the text
 * they were cut from, unless that text has to be made first.
 */
export function ownText(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}
