import { isAscii, isUtf8 } from 'node:buffer';

/** What stands for bytes that are not UTF-8: a lone surrogate, which no valid text holds. */
export const NOT_UTF8 = '\udc80';

/** A message as text. `valid` is false when some bytes were not UTF-8; each such place then holds NOT_UTF8. */
export interface MessageText {
  readonly text: string;
  readonly valid: boolean;
}

export function messageText(message: string | Uint8Array): MessageText {
  if (typeof message === 'string') return { text: message, valid: true };
  const bytes = Buffer.isBuffer(message)
    ? message
    : Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  // latin1 gives a one-byte string, which is twice as fast to scan as what a decoder that must expect more gives.
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), valid: true };
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), valid: true };
  return { text: markInvalid(bytes), valid: false };
}

/** 0x0a never occurs inside a longer sequence, so lines can be judged one by one and good ones stay as they are. */
function markInvalid(bytes: Buffer): string {
  let text = '';
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const line = bytes.subarray(start, end);
    const decoded = line.toString('utf8');
    text += isUtf8(line) ? decoded : decoded.replaceAll('\ufffd', NOT_UTF8);
    start = end;
  }
  return text;
}

const MAX_SHOWN = 60;

/** A piece of a bad message as faults show it: quoted, and cut to what a log line can bear. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text);
}
