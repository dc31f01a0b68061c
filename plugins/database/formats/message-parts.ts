import type { Decoded, Decoder } from './format.ts';

/** So many characters of a message are read at a time; that is a few milliseconds of work. */
const CHARACTERS_PER_PART = 65_536;

/** A part without rows. */
const NOTHING: Decoded = { rows: [], faults: [] };

interface MessageReader {
  /** Reads on; false at the end of the message. */
  readonly next: () => boolean;
  /** How far it has read. */
  readonly position: () => number;
}

/**
 * The rows of a message in parts of about `maxRows`, except those that the decoder has at its end. Parts without rows come in
 * between, so that others can have their turn.
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
