import { ConnectorDeadLetters } from '../dead-letters/connector-dead-letters.ts';
import { countFailedLetters, requireLetters } from '../dead-letters/letter-counts.ts';
import { LetterReader } from '../dead-letters/letter-reader.ts';
import { TopicPeek } from '../messages/topic-peek.ts';
import { ConnectorPreview, type PreviewDependencies } from '../preview/connector-preview.ts';
import { StageTracker } from '../../observe/stage.ts';
import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { Reading } from './reading.ts';

export interface ReadingParts extends PreviewDependencies {
  readonly resolver: Pick<ConfigResolver, 'resolve'>;
}

/** Performs a reading in this thread, as `Read` says. */
export async function performReading(reading: Reading, parts: ReadingParts, signal: AbortSignal): Promise<string> {
  const preview = new ConnectorPreview(parts);
  switch (reading.kind) {
    case 'preview':
      return preview.preview(reading.plugin, reading.request, new StageTracker(), signal);
    case 'messages':
      return peekOf(reading, parts, preview).page(reading.connector, reading.query, signal);
    case 'message preview':
      return peekOf(reading, parts, preview).preview(reading.connector, reading.place, signal);
    case 'letter groups':
      return lettersOf(reading, parts, preview).groups(reading.connector, reading.limit, signal);
    case 'letters preview':
      return lettersOf(reading, parts, preview).preview(reading.connector, reading.selection, reading.chain, signal);
    case 'letter':
      return lettersOf(reading, parts, preview).letter(reading.connector, reading.partition, reading.offset, signal);
    case 'has letters':
      return requireLetters(new LetterReader(parts.clients), await resolved(reading, parts), signal);
    case 'failed letters':
      return countFailedLetters(new LetterReader(parts.clients), await resolved(reading, parts), signal);
  }
}

async function resolved<R extends Extract<Reading, { readonly config: unknown }>>(
  reading: R,
  { resolver }: ReadingParts,
): Promise<R> {
  const { config } = await resolver.resolve(reading.config);
  return { ...reading, config };
}

function peekOf(
  { config, topics }: Extract<Reading, { readonly topics: unknown }>,
  parts: ReadingParts,
  preview: ConnectorPreview,
): TopicPeek {
  return new TopicPeek({ ...parts, preview, directory: { config: () => config }, topics: { list: () => topics } });
}

function lettersOf(
  { config, replays }: Extract<Reading, { readonly replays: unknown }>,
  parts: ReadingParts,
  preview: ConnectorPreview,
): ConnectorDeadLetters {
  return new ConnectorDeadLetters({
    ...parts,
    preview,
    directory: { config: () => config },
    reader: new LetterReader(parts.clients),
    replays: { list: () => Promise.resolve(replays) },
  });
}
