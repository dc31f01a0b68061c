import { isAscii, isUtf8 } from 'node:buffer';
import { ApiFailure } from '../route.ts';

/** A JSON array with some of the elements of a body, or a whole body that is not an array. */
export interface JsonPiece {
  /** The JSON as text, or as bytes if it is not UTF-8, which the decoder then reports. */
  readonly text: string | Buffer;
  /** Number of the first element in the body, from 1. */
  readonly firstElement: number;
  /** Offset that is added to a character's position in the text to get its position in the body. */
  readonly charactersBefore: number;
}

/** Size of a piece. A body up to this size is read completely before any of its rows are stored. */
const PIECE_BYTES = 1 << 20;
/** A larger element is rejected, because it would be in memory as a whole, and decoding it would block all other requests. */
const MAX_ELEMENT_BYTES = 4 << 20;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Splits a JSON array that arrives in chunks into arrays of some of its elements. Only strings and brackets are examined; the decoder
 * of a piece checks whether it is valid JSON. If all pieces are valid arrays with elements, the body is a valid array. A body that is
 * not an array is not split.
 *
 * Body: before -> array -> ended, by brackets; before -> value, by any other character.
 * Within an array: outside -> string -> escape -> string -> outside.
 */
export class JsonPieces {
  readonly #pieceBytes: number;
  readonly #maxElementBytes: number;
  #chunks: Buffer[] = [];
  /** Total size of the buffered chunks. */
  #length = 0;
  #body: 'before' | 'array' | 'ended' | 'value' = 'before';
  #state: 'outside' | 'string' | 'escape' = 'outside';
  #depth = 0;
  /** Position of the last comma between elements in the buffered chunks; 0 if there is none. */
  #comma = 0;
  #commas = 0;
  #firstElement = 1;
  #charactersBefore = 0;

  constructor(pieceBytes = PIECE_BYTES, maxElementBytes = MAX_ELEMENT_BYTES) {
    this.#pieceBytes = pieceBytes;
    this.#maxElementBytes = maxElementBytes;
  }

  /** Adds a chunk. Returns a piece if enough bytes are buffered. Throws an ApiFailure with status 400 if an element is too large. */
  push(chunk: Buffer): JsonPiece | undefined {
    this.#scan(chunk);
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length - this.#comma > this.#maxElementBytes) {
      const number = String(this.#firstElement + this.#commas);
      throw new ApiFailure(400, `point ${number} has more than ${String(this.#maxElementBytes)} bytes`);
    }
    if (this.#comma === 0 || this.#length < this.#pieceBytes) return undefined;
    const bytes = Buffer.concat(this.#chunks);
    const piece = this.#piece(bytes.subarray(0, this.#comma), ']');
    this.#chunks = [bytes.subarray(this.#comma + 1)];
    this.#length -= this.#comma + 1;
    this.#firstElement += this.#commas;
    this.#comma = 0;
    this.#commas = 0;
    return piece;
  }

  /** Returns the rest at the end of the body; `undefined` if the body is empty. */
  last(): JsonPiece | undefined {
    const bytes = Buffer.concat(this.#chunks);
    if (bytes.length === 0 && this.#firstElement === 1) return undefined;
    return this.#piece(bytes, '');
  }

  #piece(bytes: Buffer, end: string): JsonPiece {
    const { text, isPart } = this.#text(bytes, end);
    // An element is missing before or after a comma. The decoder would accept the piece as an empty array.
    if (isPart && /^\s*\[\s*\]/.test(text.toString())) {
      throw new ApiFailure(400, `not JSON: point ${String(this.#firstElement)} is missing`);
    }
    const piece = { text, firstElement: this.#firstElement, charactersBefore: this.#charactersBefore };
    this.#charactersBefore += text.length - 1;
    return piece;
  }

  #text(bytes: Buffer, end: string): { text: string | Buffer; isPart: boolean } {
    const isFirst = this.#firstElement === 1;
    const start = isFirst ? '' : '[';
    const isPart = !isFirst || end !== '';
    if (isAscii(bytes)) return { text: start + bytes.toString('latin1') + end, isPart };
    if (!isUtf8(bytes)) return { text: bytes, isPart: false };
    const text = bytes.toString('utf8');
    return { text: start + (isFirst ? text.replace(/^\ufeff/, '') : text) + end, isPart };
  }

  #scan(chunk: Buffer): void {
    let at = 0;
    if (this.#body === 'before') at = this.#begin(chunk);
    if (this.#body !== 'array') return;
    let state = this.#state;
    let depth = this.#depth;
    for (; at < chunk.length && depth > 0; at++) {
      const code = chunk[at];
      if (state === 'string') {
        if (code === QUOTE) state = 'outside';
        else if (code === BACKSLASH) state = 'escape';
      } else if (state === 'escape') {
        state = 'string';
      } else if (code === QUOTE) {
        state = 'string';
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        depth++;
      } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        depth--;
      } else if (code === COMMA && depth === 1) {
        this.#comma = this.#length + at;
        this.#commas++;
      }
    }
    this.#state = state;
    this.#depth = depth;
    if (depth === 0) this.#body = 'ended';
  }

  /** Skips blanks and a byte order mark. Returns the position after the first other character. */
  #begin(chunk: Buffer): number {
    const isSpace = (code: number): boolean => code <= 0x20 || code >= 0x80;
    const at = chunk.findIndex((code) => !isSpace(code));
    if (at < 0) return chunk.length;
    this.#body = chunk[at] === OPEN_ARRAY ? 'array' : 'value';
    this.#depth = 1;
    return at + 1;
  }
}
