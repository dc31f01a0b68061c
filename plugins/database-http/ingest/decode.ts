import type { Decoded, Origin } from '../../../src/index.ts';
import { JsonPieces, type JsonPiece } from './json-pieces.ts';
import { LinePieces, startOfLine, type Piece } from './pieces.ts';
import { ApiFailure } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** What a decoder of lines or points must be able to do; those of src/formats fit. */
export interface PartsDecoder {
  addInParts(
    message: string | Uint8Array,
    origin: Origin,
    maxRows: number,
    more?: boolean,
  ): Generator<Decoded, void, undefined>;
  /** How many lines of the last message come before the first one that was left unread. */
  readonly unreadLine?: number | undefined;
}

/** Rows and faults of a part of the body. */
export interface BodyPart {
  readonly decoded: Decoded;
  /** The text of a line of this part, by its number in the body. */
  readonly textOf: (line: number) => string | undefined;
}

/** The statement of the best size: see test/bench. */
export const BATCH_ROWS = 5_000;
/** Faults of one message beyond which decoders stop reading it, and so must whoever feeds them. */
const MAX_FAULTS_PER_MESSAGE = 10_000;

/** Adds up the time that decoding takes. */
export class DecodeClock {
  parseMs = 0;

  measure<T>(work: () => T): T {
    const began = performance.now();
    const result = work();
    this.parseMs += performance.now() - began;
    return result;
  }
}

/** Decodes lines as they come; a body never stands in memory whole. An empty body is an ApiFailure 400. */
export async function* decodeLines(
  decoder: PartsDecoder,
  body: AsyncIterable<Buffer>,
  clock: DecodeClock,
): AsyncGenerator<BodyPart> {
  const pieces = new LinePieces();
  for await (const chunk of body) {
    pieces.push(chunk);
    for (let piece = pieces.next(); piece !== undefined; piece = pieces.next()) {
      if ((yield* decodePiece(decoder, piece, clock)) === 'gave-up') return;
      pieces.done(piece, decoder.unreadLine);
    }
  }
  if (pieces.totalBytes === 0) throw new ApiFailure(400, TEXTS.emptyBody);
  yield* decodePiece(decoder, pieces.last(), clock);
}

function* decodePiece(
  decoder: PartsDecoder,
  piece: Piece,
  clock: DecodeClock,
): Generator<BodyPart, 'read' | 'gave-up'> {
  const { bytes, firstLine, more } = piece;
  const textOf = (line: number): string | undefined => lineText(bytes, line - firstLine);
  const parts = decoder.addInParts(bytes, { kind: 'line', line: firstLine }, BATCH_ROWS, more);
  let faults = 0;
  for (;;) {
    const { value: decoded } = clock.measure(() => parts.next());
    if (decoded === undefined) return faults > MAX_FAULTS_PER_MESSAGE ? 'gave-up' : 'read';
    faults += decoded.faults.length;
    yield { decoded, textOf };
  }
}

/** What a decoder of JSON elements must be able to do. */
export interface ElementsDecoder {
  addInParts(
    message: string | Uint8Array,
    origin: Origin,
    maxRows: number,
    charactersBefore: number,
  ): Generator<Decoded, void, undefined>;
  /** Set when the last message was not JSON; it left no row then. */
  readonly problem: string | undefined;
}

/** The text of an element of a message by its number in that, from 1; only asked for bad ones. */
export type ElementText = (message: string) => (element: number) => string | undefined;

/**
 * Decodes a JSON array as it comes, a piece of its elements at a time, or one value. What is not JSON ends the reading: a
 * small body leaves no row then, a larger one those of the pieces before. An empty body is an ApiFailure 400.
 */
export async function* decodeElements(
  decoder: ElementsDecoder,
  body: AsyncIterable<Buffer>,
  clock: DecodeClock,
  elementText: ElementText = () => () => undefined,
): AsyncGenerator<BodyPart> {
  const pieces = new JsonPieces();
  for await (const chunk of body) {
    const piece = clock.measure(() => pieces.push(chunk));
    if (piece === undefined) continue;
    if ((yield* decodeJsonPiece(decoder, piece, clock, elementText)) === 'gave-up') return;
  }
  const last = pieces.last();
  if (last === undefined) throw new ApiFailure(400, TEXTS.emptyBody);
  yield* decodeJsonPiece(decoder, last, clock, elementText);
}

function* decodeJsonPiece(
  decoder: ElementsDecoder,
  { text, firstElement, charactersBefore }: JsonPiece,
  clock: DecodeClock,
  elementText: ElementText,
): Generator<BodyPart, 'read' | 'gave-up'> {
  const find = typeof text === 'string' ? elementText(text) : () => undefined;
  const textOf = (element: number): string | undefined => find(element - firstElement + 1);
  const parts = decoder.addInParts(text, { kind: 'line', line: firstElement }, BATCH_ROWS, charactersBefore);
  let faults = 0;
  for (;;) {
    const { value: decoded } = clock.measure(() => parts.next());
    if (decoded === undefined) break;
    faults += decoded.faults.length;
    yield { decoded, textOf };
  }
  return decoder.problem !== undefined || faults > MAX_FAULTS_PER_MESSAGE ? 'gave-up' : 'read';
}

const MAX_TEXT_BYTES = 1_000;

function lineText(bytes: Buffer, linesBefore: number): string | undefined {
  if (linesBefore < 0) return undefined;
  const start = startOfLine(bytes, linesBefore);
  const newline = bytes.indexOf(10, start);
  const end = newline < 0 ? bytes.length : newline;
  return bytes
    .subarray(start, Math.min(end, start + MAX_TEXT_BYTES))
    .toString('utf8')
    .replace(/\r$/, '');
}
