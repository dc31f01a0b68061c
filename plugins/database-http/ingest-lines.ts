import { Readable } from 'node:stream';
import { DecodeClock, decodeLines, type BodyPart } from './ingest-decode.ts';
import { ingest, type Store } from './ingest-flow.ts';
import type { Outcome } from './ingest-outcome.ts';
import { borrowDecoder, giveBackDecoder } from './ingest-line-decoders.ts';
import { adjustTimes, type LineTimes } from './ingest-precision.ts';
import { ApiFailure } from './route.ts';

/** Stores a body of line protocol. */
export async function ingestLines(body: AsyncIterable<Buffer>, times: LineTimes, store: Store): Promise<Outcome> {
  const clock = new DecodeClock();
  return ingest(lineParts(body, times, clock), store, clock);
}

/** A body that is to be stored whole or not at all has to stand in memory, as columns. */
const MAX_WHOLE_BYTES = 8 << 20;

/**
 * Stores a body of line protocol unless one of its lines cannot be read: nothing is stored then. What the database refuses
 * is told line by line all the same, and does not undo the other lines.
 */
export async function ingestReadableLines(
  body: AsyncIterable<Buffer>,
  times: LineTimes,
  store: Store,
): Promise<Outcome> {
  const clock = new DecodeClock();
  const read: BodyPart[] = [];
  for await (const part of lineParts(atMost(body, MAX_WHOLE_BYTES), times, clock)) read.push(part);
  const isReadable = read.every(({ decoded }) => decoded.faults.length === 0);
  const stored = isReadable ? read : read.map((part) => ({ ...part, decoded: { ...part.decoded, rows: [] } }));
  return ingest(Readable.from(stored), store, clock);
}

async function* atMost(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new ApiFailure(
        400,
        `a body that is to be stored whole or not at all has at most ${String(maxBytes)} bytes`,
      );
    }
    yield chunk;
  }
}

async function* lineParts(body: AsyncIterable<Buffer>, times: LineTimes, clock: DecodeClock): AsyncGenerator<BodyPart> {
  const borrowed = borrowDecoder(times.decoder, Date.now() * 1_000 * times.nowFactor);
  try {
    for await (const part of decodeLines(borrowed.decoder, body, clock)) {
      for (const { batch } of part.decoded.rows) adjustTimes(batch, times);
      yield part;
    }
  } finally {
    giveBackDecoder(borrowed);
  }
}
