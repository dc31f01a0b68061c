import type { ByteWriter } from '../../../../src/data/byte-writer.ts';
import { DataError } from '../../../../src/errors.ts';
import { cellText } from '../cell-bytes.ts';
import { shown } from '../message-text.ts';

const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;
const DELETE = 127;

/**
 * Escapes a measurement. Throws DataError if it cannot be represented: an empty name, control characters, a trailing
 * backslash, or a name that looks like a comment.
 */
export function lineName(name: string): string {
  if (name.startsWith('#')) throw new DataError(`line protocol would read the table ${shown(name)} as a comment`);
  return escaped(checked(name), /[, ]/g);
}

/** Escapes a tag key, field key or tag value. Throws DataError as `lineName` does, but allows a leading `#`. */
export function lineKey(key: string): string {
  return escaped(checked(key), /[,= ]/g);
}

function checked(text: string): string {
  if (text === '' || text.endsWith('\\') || hasControl(text)) {
    throw new DataError(
      `line protocol cannot represent the name or tag value ${shown(text)}: it must not be empty, contain control characters or end with a backslash`,
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

/** Quotes a string field. Line breaks are kept, as a string may span lines. */
export function fieldString(text: string): string {
  return `"${escaped(text, /["\\]/g)}"`;
}

/** Same as `lineKey`, for bytes. The writer must have space for twice the bytes. */
export function writeLineKey(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  const target = out.bytes;
  let at = out.at;
  for (let from = start; from < end; from++) {
    const byte = bytes[from]!;
    if (byte === COMMA || byte === EQUALS || byte === SPACE) target[at++] = BACKSLASH;
    else if (byte < SPACE || byte >= DELETE) {
      out.text(lineKey(cellText(bytes, start, end)));
      return;
    }
    target[at++] = byte;
  }
  // `lineKey` throws for a trailing backslash.
  if (bytes[end - 1] === BACKSLASH) lineKey(cellText(bytes, start, end));
  out.at = at;
}

/** Same as `fieldString`, for bytes. The writer must have space for twice the bytes plus two. */
export function writeFieldString(bytes: Buffer, start: number, end: number, out: ByteWriter): void {
  const target = out.bytes;
  let at = out.at;
  target[at++] = QUOTE;
  for (let from = start; from < end; from++) {
    const byte = bytes[from]!;
    if (byte > DELETE) {
      out.text(fieldString(cellText(bytes, start, end)));
      return;
    }
    if (byte === QUOTE || byte === BACKSLASH) target[at++] = BACKSLASH;
    target[at++] = byte;
  }
  target[at++] = QUOTE;
  out.at = at;
}

/** Length above which `replace` is too slow: it takes 0.2 µs per match. */
const LONG = 100_000;

/** Inserts a backslash before each of these ASCII characters. */
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
