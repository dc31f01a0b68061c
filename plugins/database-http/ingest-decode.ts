import { isAscii, isUtf8 } from 'node:buffer';
import type { Decoded, Origin } from '../../src/index.ts';
import { LinePieces, startOfLine, type Piece } from './ingest-pieces.ts';
import { ApiFailure } from './route.ts';
import { TEXTS } from './texts.ts';

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

/** Decodes a body that is one text, such as a JSON document: it is read to its end first. */
export async function* decodeWhole(
  decoder: PartsDecoder,
  body: AsyncIterable<Buffer>,
  clock: DecodeClock,
  textOf: (text: string) => BodyPart['textOf'] = () => () => undefined,
): AsyncGenerator<BodyPart> {
  const message = await wholeBody(body);
  const part = { textOf: typeof message === 'string' ? textOf(message) : () => undefined };
  const parts = decoder.addInParts(message, { kind: 'line', line: 1 }, BATCH_ROWS);
  for (;;) {
    const { value: decoded } = clock.measure(() => parts.next());
    if (decoded === undefined) return;
    yield { ...part, decoded };
  }
}

/** As text, so that the bytes need not stay; as bytes when they are no UTF-8, which the decoder tells. */
async function wholeBody(body: AsyncIterable<Buffer>): Promise<string | Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  chunks.length = 0;
  if (bytes.length === 0) throw new ApiFailure(400, TEXTS.emptyBody);
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8').replace(/^\ufeff/, '') : bytes;
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
