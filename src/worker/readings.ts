import {
  readDeadLetters,
  type DeadLetterReading,
  type DeadLetterReadingParts,
} from '../operate/dead-letters/dead-letter-readings.ts';
import { readMessages, type MessageReading } from '../operate/messages/message-readings.ts';
import { readPreview, type PreviewReading } from '../operate/preview/preview-readings.ts';

/** A request to read topics or convert messages on behalf of a user; see `Read` in operate/reading.ts. */
export type Reading = DeadLetterReading | MessageReading | PreviewReading;

/** Performs a reading in the current thread. */
export async function performReading(
  reading: Reading,
  parts: DeadLetterReadingParts,
  signal: AbortSignal,
): Promise<string> {
  switch (reading.feature) {
    case 'dead letters':
      return readDeadLetters(reading, parts, signal);
    case 'messages':
      return readMessages(reading, parts, signal);
    case 'preview':
      return readPreview(reading, parts, signal);
  }
}
