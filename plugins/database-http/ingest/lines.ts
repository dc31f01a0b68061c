import { DecodeClock, decodeLines, type BodyPart } from './decode.ts';
import { ingest, type Store } from './flow.ts';
import type { Outcome } from './outcome.ts';
import { borrowDecoder, giveBackDecoder } from './line-decoders.ts';
import { adjustTimes, type LineTimes } from './precision.ts';

/** Stores a body of line protocol. */
export async function ingestLines(body: AsyncIterable<Buffer>, times: LineTimes, store: Store): Promise<Outcome> {
  const clock = new DecodeClock();
  return ingest(lineParts(body, times, clock), store, clock);
}

/** The lines of a body as rows; their times are adjusted. */
export async function* lineParts(
  body: AsyncIterable<Buffer>,
  times: LineTimes,
  clock: DecodeClock,
): AsyncGenerator<BodyPart> {
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
