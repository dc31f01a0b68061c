import { Turn } from '../../../src/index.ts';
import type { Decoded, Origin } from '../../database/index.ts';
import { JsonPieces, type JsonPiece } from './json-pieces.ts';
import { LinePieces, startOfLine, type LinePiece } from './line-pieces.ts';
import { ApiFailure } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** The members of a decoder of lines or points in plugins/database/formats that are used here. */
export interface PartsDecoder {
  addInParts(
    message: string | Uint8Array,
    origin: Origin,
    maxRows: number,
    more?: boolean,
  ): Generator<Decoded, void, undefined>;
  /** If not all lines of the last message were read: the number of lines before the first unread one. */
  readonly unreadLine?: number | undefined;
}

/** Rows and faults of a part of the body. */
export interface BodyPart {
  readonly decoded: Decoded;
  /** Returns the text of a line of this part by its number in the body. */
  readonly textOf: (line: number) => string | undefined;
}

/** Number of rows in a write; the fastest size in measurements (test/bench). */
const BATCH_ROWS = 5_000;
/** Number of points in a write. Each metric is a table, so with many metrics a larger batch is needed for several rows per table. */
const BATCH_POINTS = 20_000;
/** Decoders stop reading a message after this number of faults, and the rest of the body is not read either. */
const MAX_FAULTS_PER_MESSAGE = 10_000;

/** Measures the total time of decoding. */
export class DecodeClock {
  parseMs = 0;

  measure<T>(work: () => T): T {
    const began = performance.now();
    const result = work();
    this.parseMs += performance.now() - began;
    return result;
  }
}

/**
 * Decodes lines while they arrive, so that a body is never in memory as a whole. Throws an ApiFailure with status 400 for an empty
 * body.
 */
export async function* decodeLines(
  decoder: PartsDecoder,
  body: AsyncIterable<Buffer>,
  clock: DecodeClock,
): AsyncGenerator<BodyPart> {
  const pieces = new LinePieces();
  const decode = ({ bytes, firstLine, more }: LinePiece): Decoding => ({
    parts: decoder.addInParts(bytes, { kind: 'line', line: firstLine }, BATCH_ROWS, more),
    textOf: (line) => lineText(bytes, line - firstLine),
  });
  for await (const chunk of body) {
    pieces.push(chunk);
    for (let piece = pieces.next(); piece !== undefined; piece = pieces.next()) {
      if ((yield* decodePiece(decode(piece), clock)) === 'aborted') return;
      pieces.done(piece, decoder.unreadLine);
    }
  }
  if (pieces.totalBytes === 0) throw new ApiFailure(400, TEXTS.emptyBody);
  yield* decodePiece(decode(pieces.last()), clock);
}

/** A piece of a body that is being decoded. */
interface Decoding {
  readonly parts: Generator<Decoded, void, undefined>;
  readonly textOf: BodyPart['textOf'];
}

/** Size that is passed to `Turn.isOver` for each part. It is large enough that each call looks at the clock. */
const PART_BYTES = 1 << 20;

/** Yields the parts that have rows or faults, over several turns of the event loop. */
async function* decodePiece(
  { parts, textOf }: Decoding,
  clock: DecodeClock,
): AsyncGenerator<BodyPart, 'read' | 'aborted'> {
  const turn = new Turn();
  let faults = 0;
  for (;;) {
    const { value: decoded } = clock.measure(() => parts.next());
    if (decoded === undefined) return faults > MAX_FAULTS_PER_MESSAGE ? 'aborted' : 'read';
    faults += decoded.faults.length;
    if (decoded.rows.length + decoded.faults.length > 0) yield { decoded, textOf };
    if (turn.isOver(PART_BYTES)) await turn.next();
  }
}

/** The members of a decoder of JSON elements that are used here. */
export interface ElementsDecoder {
  addInParts(
    message: string | Uint8Array,
    origin: Origin,
    maxRows: number,
    charactersBefore: number,
  ): Generator<Decoded, void, undefined>;
  /** Set if the last message was not JSON; it then yielded no row. */
  readonly problem: string | undefined;
}

/**
 * Returns a function that finds the text of an element of `message` by its number, from 1. That function is called only
 * for invalid elements.
 */
export type ElementText = (message: string) => (element: number) => string | undefined;

/**
 * Decodes a JSON array in pieces, see JsonPieces, or a single value. Reading ends at the first piece that is not valid
 * JSON. No row of that piece is stored, but the rows of earlier pieces are. Throws an ApiFailure with status 400 for an
 * empty body.
 */
export async function* decodeElements(
  decoder: ElementsDecoder,
  body: AsyncIterable<Buffer>,
  clock: DecodeClock,
  elementText: ElementText = () => () => undefined,
): AsyncGenerator<BodyPart> {
  const pieces = new JsonPieces();
  const decode = ({ text, firstElement, charactersBefore }: JsonPiece): Decoding => {
    const find = typeof text === 'string' ? elementText(text) : () => undefined;
    return {
      parts: decoder.addInParts(text, { kind: 'line', line: firstElement }, BATCH_POINTS, charactersBefore),
      textOf: (element) => find(element - firstElement + 1),
    };
  };
  for await (const chunk of body) {
    const piece = clock.measure(() => pieces.push(chunk));
    if (piece === undefined) continue;
    const end = yield* decodePiece(decode(piece), clock);
    if (end === 'aborted' || decoder.problem !== undefined) return;
  }
  const last = pieces.last();
  if (last === undefined) throw new ApiFailure(400, TEXTS.emptyBody);
  yield* decodePiece(decode(last), clock);
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
