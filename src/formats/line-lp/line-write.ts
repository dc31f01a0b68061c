import { DataError } from '../../errors.ts';
import { shown } from '../message-text.ts';

/**
 * A measurement as a line spells it. DataError where there is no spelling: an empty name, control characters, a backslash at
 * its end, a name that would be a comment.
 */
export function lineName(name: string): string {
  if (name.startsWith('#')) throw new DataError(`line protocol would read the table ${shown(name)} as a comment`);
  return checked(name).replace(/[, ]/g, '\\$&');
}

/** A tag or field key, or a tag value, as a line spells it; DataError as for `lineName`. */
export function lineKey(key: string): string {
  return checked(key).replace(/[,= ]/g, '\\$&');
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
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
