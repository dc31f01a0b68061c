import type { Decoded, Decoder } from './format.ts';

/** Number of characters that are read at a time, which takes a few milliseconds. */
const CHARACTERS_PER_PART = 65_536;

const NOTHING: Decoded = { rows: [], faults: [] };

interface MessageReader {
  /** Reads the next line or point; returns false at the end of the message. */
  readonly next: () => boolean;
  readonly position: () => number;
}

/**
 * Yields the rows of a message in parts of about `maxRows`; the decoder retains the last ones. Parts without rows are
 * yielded in between, so that other work can run.
 */
export function* messageParts(
  { next, position }: MessageReader,
  decoder: Pick<Decoder, 'rowCount' | 'take'>,
  maxRows: number,
): Generator<Decoded, void, undefined> {
  for (let pauseAt = CHARACTERS_PER_PART; next();) {
    const isDue = position() >= pauseAt;
    if (decoder.rowCount >= maxRows) yield decoder.take();
    else if (isDue) yield NOTHING;
    if (isDue) pauseAt = position() + CHARACTERS_PER_PART;
  }
}
