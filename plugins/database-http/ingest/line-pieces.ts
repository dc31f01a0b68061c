import { ApiFailure } from '../route.ts';

/** Whole lines of a body. */
export interface LinePiece {
  readonly bytes: Buffer;
  /** Number of the first line in the body, from 1. */
  readonly firstLine: number;
  /** Whether a string at its end may continue in the next piece. */
  readonly more: boolean;
}

/** Large enough to hold several batches, small enough that a body of 64 MB is never in memory as a whole. */
const PIECE_BYTES = 1 << 20;
/** A longer string or line is considered unterminated, so that it never keeps a whole body in memory. */
const LONGEST_STRING_BYTES = 16 << 20;
const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Cuts a body that arrives in chunks into pieces of whole lines. An incomplete line at the end of a piece (a string may
 * contain line breaks) is moved to the next piece. Pieces then double in size, so that an unterminated string is read
 * at most twice.
 */
export class LinePieces {
  readonly #pieceBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #wanted: number;
  #firstLine = 1;
  #totalBytes = 0;

  constructor(pieceBytes = PIECE_BYTES) {
    this.#pieceBytes = pieceBytes;
    this.#wanted = pieceBytes;
  }

  /** Bytes of the body so far. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#totalBytes += chunk.length;
  }

  /** The next piece, when enough has come; to be followed by `done`. */
  next(): LinePiece | undefined {
    if (this.#bytes < this.#wanted) return undefined;
    const bytes = this.#joined();
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      if (bytes.length > LONGEST_STRING_BYTES) {
        const limit = `more than ${String(LONGEST_STRING_BYTES)} bytes`;
        throw new ApiFailure(400, `line ${String(this.#firstLine)} has ${limit}: send shorter lines`);
      }
      this.#wanted = 2 * bytes.length;
      return undefined;
    }
    this.#keep(bytes.subarray(end));
    return {
      bytes: withoutMark(bytes.subarray(0, end), this.#firstLine),
      firstLine: this.#firstLine,
      more: end <= LONGEST_STRING_BYTES,
    };
  }

  /** The rest at the end of the body. */
  last(): LinePiece {
    return { bytes: withoutMark(this.#joined(), this.#firstLine), firstLine: this.#firstLine, more: false };
  }

  /** `unreadLine`: how many lines of the piece come before the first one that was not read. */
  done(piece: LinePiece, unreadLine: number | undefined): void {
    if (unreadLine === undefined) {
      this.#firstLine += countLines(piece.bytes);
      this.#wanted = this.#pieceBytes;
      return;
    }
    this.#firstLine += unreadLine;
    this.#keep(Buffer.concat([piece.bytes.subarray(startOfLine(piece.bytes, unreadLine)), this.#joined()]));
    this.#wanted = Math.max(this.#wanted, 2 * this.#bytes);
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

function withoutMark(bytes: Buffer, firstLine: number): Buffer {
  const isMarked = firstLine === 1 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return isMarked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Offset of the line that has `linesBefore` lines before it; the end when there is none. */
export function startOfLine(bytes: Buffer, linesBefore: number): number {
  let at = 0;
  for (let line = 0; line < linesBefore; line++) {
    const end = bytes.indexOf(NEWLINE, at);
    if (end < 0) return bytes.length;
    at = end + 1;
  }
  return at;
}
