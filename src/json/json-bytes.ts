import { isAscii, isUtf8 } from 'node:buffer';
import { JsonTextError } from './json-tree.ts';

/** Returns the bytes as a Buffer over the same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Decodes JSON bytes: UTF-8, or UTF-16 and UTF-32, which are detected by a byte order mark or by the zeros of the first character, as in
 * Java's reader. Throws a JsonTextError for anything else.
 */
export function decodeJsonBytes(bytes: Buffer): string {
  if (isAscii(bytes) && !startsWithZeros(bytes)) return bytes.toString('latin1');
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return decodeWide(bytes, wide);
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (!isUtf8(bytes)) throw new JsonTextError('the bytes are not valid UTF-8');
  return bytes.toString('utf8', start);
}

interface WideEncoding {
  readonly width: 2 | 4;
  readonly bigEndian: boolean;
  /** Length of the byte order mark. */
  readonly skip: number;
}

function startsWithZeros(bytes: Buffer): boolean {
  return bytes[0] === 0 || bytes[1] === 0;
}

/** JSON begins with an ASCII character, so the positions of zeros determine width and byte order. */
function wideEncoding(bytes: Buffer): WideEncoding | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return { width: 4, bigEndian: true, skip: 4 };
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return { width: 4, bigEndian: false, skip: 4 };
  if (a === 0xfe && b === 0xff) return { width: 2, bigEndian: true, skip: 2 };
  if (a === 0xff && b === 0xfe) return { width: 2, bigEndian: false, skip: 2 };
  if (a === 0 && b === 0 && c === 0) return { width: 4, bigEndian: true, skip: 0 };
  if (b === 0 && c === 0 && d === 0) return { width: 4, bigEndian: false, skip: 0 };
  if (a === 0) return { width: 2, bigEndian: true, skip: 0 };
  if (b === 0) return { width: 2, bigEndian: false, skip: 0 };
  return undefined;
}

function decodeWide(bytes: Buffer, { width, bigEndian, skip }: WideEncoding): string {
  const content = Buffer.from(bytes.subarray(skip));
  if (content.length % width !== 0) throw new JsonTextError(`the bytes are not valid UTF-${String(8 * width)}`);
  if (width === 2) return (bigEndian ? content.swap16() : content).toString('utf16le');
  const points: number[] = [];
  for (let at = 0; at < content.length; at += 4)
    points.push(bigEndian ? content.readUInt32BE(at) : content.readUInt32LE(at));
  if (points.some((point) => point > 0x10ffff)) throw new JsonTextError('the bytes are not valid UTF-32');
  return points.map((point) => String.fromCodePoint(point)).join('');
}

const BASE64 = /^(?:[\0- ]*[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==))*[\0- ]*$/;

/**
 * Decodes Base64 with padding. Spaces and control characters are allowed between groups of four characters. Returns
 * `undefined` if the text is invalid.
 */
export function decodeBase64(text: string): Buffer | undefined {
  if (!BASE64.test(text)) return undefined;
  if (!/=[\0- ]*[^=\0- ]/.test(text)) return Buffer.from(text, 'base64');
  // Padding in the middle ends only its group of four characters, not the content.
  const groups = text.replace(/[\0- ]/g, '').match(/.{4}/g) ?? [];
  return Buffer.concat(groups.map((group) => Buffer.from(group, 'base64')));
}
