import { DataError } from '../../errors.ts';
import { shown } from '../message-text.ts';

/**
 * A measurement as a line spells it. DataError where there is no spelling: an empty name, control characters, a backslash at
 * its end, a name that would be a comment.
 */
export function lineName(name: string): string {
  if (name.startsWith('#')) throw new DataError(`line protocol would read the table ${shown(name)} as a comment`);
  return escaped(checked(name), /[, ]/g);
}

/** A tag or field key, or a tag value, as a line spells it; DataError as for `lineName`. */
export function lineKey(key: string): string {
  return escaped(checked(key), /[,= ]/g);
}

function checked(text: string): string {
  if (text === '' || text.endsWith('\\') || hasControl(text)) {
    throw new DataError(
      `line protocol cannot spell the name or tag value ${shown(text)}: it must not be empty, hold control characters or end in a backslash`,
    );
  }
  return text;
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

/** A string field. Line breaks stay as they are: inside of quotes a line may run on. */
export function fieldString(text: string): string {
  return `"${escaped(text, /["\\]/g)}"`;
}

/** Beyond this `replace` takes too long where it finds much: 0.2 µs for each place. */
const LONG = 100_000;
const BACKSLASH = 92;

/** The text with a backslash before each of these ASCII characters. */
function escaped(text: string, special: RegExp): string {
  if (text.length <= LONG) return text.replace(special, '\\$&');
  if (text.search(special) < 0) return text;
  const isSpecial = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code).search(special) === 0);
  const units = new Uint16Array(2 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 128 && isSpecial[code] === true) units[length++] = BACKSLASH;
    units[length++] = code;
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le');
}
