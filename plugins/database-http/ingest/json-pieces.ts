import { isAscii, isUtf8 } from 'node:buffer';
import { ApiFailure } from '../route.ts';

/** Some elements of a body that is a JSON array, as an array of their own; or a body that is not cut. */
export interface JsonPiece {
  /** As text, so that the bytes need not stay; as bytes when they are no UTF-8, which the decoder tells. */
  readonly text: string | Buffer;
  /** Number of the first element in the body, from 1. */
  readonly firstElement: number;
  /** A character's place in the body is its place in the text and this. */
  readonly charactersBefore: number;
}

/** A body up to this size is read completely before anything of it is stored. */
const PIECE_BYTES = 1 << 20;
/** A larger element is rejected: it would be in memory as a whole, and reading it would block all other requests. */
const MAX_ELEMENT_BYTES = 4 << 20;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Cuts a JSON array that arrives in chunks after some of its elements. Only strings and brackets are examined; the
 * reader of a piece checks whether it is valid JSON. If all pieces are valid arrays with elements, the body is a valid
 * array.
 *
 * before -> array -> ended, by brackets; before -> value, by anything else, which is not cut.
 * Within array and value: outside -> string -> escape -> string -> outside.
 */
export class JsonPieces {
  readonly #pieceBytes: number;
  readonly #maxElementBytes: number;
  #chunks: Buffer[] = [];
  /** Size of the chunks that are held. */
  #length = 0;
  #body: 'before' | 'array' | 'ended' | 'value' = 'before';
  #state: 'outside' | 'string' | 'escape' = 'outside';
  #depth = 0;
  /** Where the last comma between elements is in what is held; 0 when there is none. */
  #comma = 0;
  #commas = 0;
  #firstElement = 1;
  #charactersBefore = 0;

  constructor(pieceBytes = PIECE_BYTES, maxElementBytes = MAX_ELEMENT_BYTES) {
    this.#pieceBytes = pieceBytes;
    this.#maxElementBytes = maxElementBytes;
  }

  /** Takes a chunk; a piece when enough has come. ApiFailure 400 for an element that is too large. */
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

  /** The rest at the end of the body; `undefined` if the body is empty. */
  last(): JsonPiece | undefined {
    const bytes = Buffer.concat(this.#chunks);
    if (bytes.length === 0 && this.#firstElement === 1) return undefined;
    return this.#piece(bytes, '');
  }

  #piece(bytes: Buffer, end: string): JsonPiece {
    const { text, isPart } = this.#text(bytes, end);
    // It would pass for an empty array.
    if (isPart && /^\s*\[\s*\]/.test(text.toString())) {
      throw new ApiFailure(400, `not JSON: where point ${String(this.#firstElement)} should be there is none`);
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

  /** Passes over spaces and a byte order mark; where the array's inside begins. */
  #begin(chunk: Buffer): number {
    const isSpace = (code: number): boolean => code <= 0x20 || code >= 0x80;
    const at = chunk.findIndex((code) => !isSpace(code));
    if (at < 0) return chunk.length;
    this.#body = chunk[at] === OPEN_ARRAY ? 'array' : 'value';
    this.#depth = 1;
    return at + 1;
  }
}
