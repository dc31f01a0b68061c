import { ApiFailure } from '../route.ts';

/** Whole lines of a body. */
export interface LinePiece {
  readonly bytes: Buffer;
  /** Number of the first line in the body, from 1. */
  readonly firstLine: number;
  /** Whether a string at the end of the piece may continue in the next one. */
  readonly more: boolean;
}

/** Size of a piece: large enough for several batches, small enough that a body of 64 MB is never in memory as a whole. */
const PIECE_BYTES = 1 << 20;
/**
 * A longer string is treated as unterminated, and a longer line is rejected, so that a missing quote does not cause a
 * whole body to be kept in memory.
 */
const LONGEST_STRING_BYTES = 16 << 20;
const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Splits a body that arrives in chunks into pieces of whole lines. If the last line of a piece is incomplete, because a string
 * contains line breaks, it is moved to the next piece. The size of the next piece then doubles, so that an unterminated string is
 * not read many times.
 */
export class LinePieces {
  readonly #pieceBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #minBytes: number;
  #firstLine = 1;
  #totalBytes = 0;

  constructor(pieceBytes = PIECE_BYTES) {
    this.#pieceBytes = pieceBytes;
    this.#minBytes = pieceBytes;
  }

  /** Size of the body so far. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#totalBytes += chunk.length;
  }

  /** Returns the next piece if enough bytes are buffered. The caller must decode it and then call `done`. */
  next(): LinePiece | undefined {
    if (this.#bytes < this.#minBytes) return undefined;
    const bytes = this.#joined();
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      if (bytes.length > LONGEST_STRING_BYTES) {
        const limit = `more than ${String(LONGEST_STRING_BYTES)} bytes`;
        throw new ApiFailure(400, `line ${String(this.#firstLine)} has ${limit}: send shorter lines`);
      }
      this.#minBytes = 2 * bytes.length;
      return undefined;
    }
    this.#keep(bytes.subarray(end));
    return {
      bytes: withoutByteOrderMark(bytes.subarray(0, end), this.#firstLine),
      firstLine: this.#firstLine,
      more: end <= LONGEST_STRING_BYTES,
    };
  }

  /** Returns the rest at the end of the body. */
  last(): LinePiece {
    return { bytes: withoutByteOrderMark(this.#joined(), this.#firstLine), firstLine: this.#firstLine, more: false };
  }

  /** Called after a piece was decoded. `unreadLine` is the number of lines before the first line that was not read. */
  done(piece: LinePiece, unreadLine: number | undefined): void {
    if (unreadLine === undefined) {
      this.#firstLine += countLines(piece.bytes);
      this.#minBytes = this.#pieceBytes;
      return;
    }
    this.#firstLine += unreadLine;
    this.#keep(Buffer.concat([piece.bytes.subarray(startOfLine(piece.bytes, unreadLine)), this.#joined()]));
    this.#minBytes = Math.max(this.#minBytes, 2 * this.#bytes);
  }

  #joined(): Buffer {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
  }

  #keep(bytes: Buffer): void {
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#bytes = bytes.length;
  }
}

function withoutByteOrderMark(bytes: Buffer, firstLine: number): Buffer {
  const isMarked = firstLine === 1 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Offset of the line after the first `linesBefore` lines; the end of the bytes if there is no such line. */
export function startOfLine(bytes: Buffer, linesBefore: number): number {
  let at = 0;
  for (let line = 0; line < linesBefore; line++) {
    const end = bytes.indexOf(NEWLINE, at);
    if (end < 0) return bytes.length;
    at = end + 1;
  }
  return at;
}
