import { plainText } from '../open-api/shared-schemas.ts';
import { NanosecondSpread, type NanosecondRule, type StringEscapes } from '../../database/index.ts';
import { DecodeClock, decodeLines, type BodyPart } from './decode.ts';
import { ingest, type Store } from './ingest.ts';
import type { Outcome } from './outcome.ts';
import { borrowDecoder, giveBackDecoder } from './line-decoders.ts';
import { adjustTimes, type LineTimes } from './precision.ts';

/** A body of line protocol. */
export const LINES = plainText('weather,site=oslo temp=4 1700000000000000000');

/** Rules for reading the lines of a route. */
export interface LineReading {
  readonly times: LineTimes;
  /**
   * `documented` on the routes of the original database (docs/database-api.md); `standard` on those of InfluxDB and
   * QuestDB, where a backslash escapes only a quote and a backslash, and stays in the text otherwise.
   */
  readonly stringEscapes: StringEscapes;
  readonly nanoseconds: NanosecondRule;
}

/** Stores a body of line protocol. */
export async function ingestLines(body: AsyncIterable<Buffer>, reading: LineReading, store: Store): Promise<Outcome> {
  const clock = new DecodeClock();
  return ingest(lineParts(body, reading, clock), store, clock);
}

/** Decodes the lines of a body to rows with adjusted times. */
export async function* lineParts(
  body: AsyncIterable<Buffer>,
  { times, stringEscapes, nanoseconds }: LineReading,
  clock: DecodeClock,
): AsyncGenerator<BodyPart> {
  const spread = nanoseconds === 'spread' ? new NanosecondSpread() : undefined;
  const kind = { precision: times.decoder, stringEscapes, keepsNanoseconds: nanoseconds !== 'floor' };
  const borrowed = borrowDecoder(kind, Date.now() * 1_000 * times.nowFactor);
  try {
    for await (const part of decodeLines(borrowed.decoder, body, clock)) {
      for (const { batch } of part.decoded.rows) adjustTimes(batch, times);
      // As in InfluxDB, lines with the same series and time are one point, and each contains some of its fields.
      const rows = part.decoded.rows.map((decoded) => ({ ...(spread?.apply(decoded) ?? decoded), partial: true }));
      yield { ...part, decoded: { ...part.decoded, rows } };
    }
  } finally {
    giveBackDecoder(borrowed);
  }
}
