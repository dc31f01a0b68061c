import { isAscii, isUtf8 } from 'node:buffer';

/** Replaces bytes that are not UTF-8: an unpaired surrogate, which does not occur in valid text. */
export const NOT_UTF8 = '\udc80';

/** A message as text. If some bytes are not UTF-8, `valid` is false and NOT_UTF8 is in their place. */
export interface MessageText {
  readonly text: string;
  readonly valid: boolean;
}

export function messageText(message: string | Uint8Array): MessageText {
  if (typeof message === 'string') return { text: message, valid: true };
  const bytes = Buffer.isBuffer(message)
    ? message
    : Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  // latin1 produces a one-byte string, which is twice as fast to scan.
  if (isAscii(bytes)) return { text: bytes.toString('latin1'), valid: true };
  if (isUtf8(bytes)) return { text: bytes.toString('utf8'), valid: true };
  return { text: markInvalid(bytes), valid: false };
}

/**
 * Replaces bytes that are not UTF-8. Each line is converted separately, so that valid lines remain unchanged. The byte
 * of a line break, 0x0a, never occurs within the bytes of another character.
 */
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

/** Formats part of an invalid message for a fault: quoted, and truncated to a length that suits a log line. */
export function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 3)}...` : text);
}
