import { decodedFormats } from '../../src/index.ts';
import { DecodeClock, decodeLines, type BodyPart } from './ingest-decode.ts';
import { ingest, type Store } from './ingest-flow.ts';
import type { Outcome } from './ingest-outcome.ts';
import { adjustTimes, type LineTimes } from './ingest-precision.ts';
import { TIME_COLUMN } from './ingest-store.ts';

/** Stores a body of line protocol. */
export async function ingestLines(body: AsyncIterable<Buffer>, times: LineTimes, store: Store): Promise<Outcome> {
  const clock = new DecodeClock();
  const nowMicros = Date.now() * 1_000 * times.nowFactor;
  const decoder = decodedFormats.line_lp.create({
    precision: times.decoder,
    now: () => nowMicros,
    timeColumn: TIME_COLUMN,
    derivesPrimaryTag: () => true,
    describesTables: true,
  });
  return ingest(withTimes(decodeLines(decoder, body, clock), times), store, clock);
}

async function* withTimes(parts: AsyncIterable<BodyPart>, times: LineTimes): AsyncGenerator<BodyPart> {
  for await (const part of parts) {
    for (const { batch } of part.decoded.rows) adjustTimes(batch, times);
    yield part;
  }
}
