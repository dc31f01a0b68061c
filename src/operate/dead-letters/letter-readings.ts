import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import { ConnectorPreview, type PreviewDependencies } from '../preview/connector-preview.ts';
import type { Read } from '../reading.ts';
import { ConnectorDeadLetters } from './connector-dead-letters.ts';
import { countFailedLetters, requireLetters } from './letter-counts.ts';
import { LetterReader, deadLetterTopic } from './letter-reader.ts';
import type { Replays } from './replays.ts';
import type { StoredReplay } from './stored-replay.ts';

const LETTERS_MS = 60_000;
const PREVIEW_MS = 85_000;
const COUNT_MS = 90_000;

const NO_LETTERS = { topic: null, scanned: 0, hasMore: false, partitions: [], ungrouped: 0, groups: [] };

interface DeadLetterTopicReading {
  readonly feature: 'dead letters';
  readonly connector: string;
  /** The stored configuration, with variables. */
  readonly config: ConnectorConfig;
}

interface ReplayedReading extends DeadLetterTopicReading {
  readonly replays: readonly StoredReplay[];
}

export type LetterReading =
  | (ReplayedReading & { readonly kind: 'groups'; readonly limit: number })
  | (ReplayedReading & {
      readonly kind: 'preview';
      readonly selection: LetterSelection;
      readonly chain: ConnectorConfig | undefined;
    })
  | (ReplayedReading & { readonly kind: 'letter'; readonly partition: number; readonly offset: number })
  | (DeadLetterTopicReading & { readonly kind: 'has letters'; readonly selection: LetterSelection })
  | (DeadLetterTopicReading & { readonly kind: 'failed letters'; readonly replay: StoredReplay });

/**
 * Requests the contents of a connector's dead-letter topic. Each method rejects with a RequestError 404 if there is no
 * such connector.
 */
export class LetterReadings {
  readonly #directory: Pick<ConnectorDirectory, 'config'>;
  readonly #replays: Pick<Replays, 'list'>;
  readonly #read: Read<LetterReading>;

  constructor(
    directory: Pick<ConnectorDirectory, 'config'>,
    replays: Pick<Replays, 'list'>,
    read: Read<LetterReading>,
  ) {
    this.#directory = directory;
    this.#replays = replays;
    this.#read = read;
  }

  /** The groups of a connector's dead letters; see `ConnectorDeadLetters`. */
  async groups(connector: string, limit: number, signal: AbortSignal): Promise<string> {
    if (deadLetterTopic(this.#directory.config(connector)) === undefined) return JSON.stringify(NO_LETTERS);
    const reading = { ...(await this.#replayed(connector)), kind: 'groups', limit } as const;
    return this.#read(reading, { signal, timeoutMs: LETTERS_MS });
  }

  async preview(
    connector: string,
    selection: LetterSelection,
    chain: ConnectorConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const reading = { ...(await this.#replayed(connector)), kind: 'preview', selection, chain } as const;
    return this.#read(reading, { signal, timeoutMs: PREVIEW_MS });
  }

  async letter(connector: string, partition: number, offset: number, signal: AbortSignal): Promise<string> {
    const reading = { ...(await this.#replayed(connector)), kind: 'letter', partition, offset } as const;
    return this.#read(reading, { signal, timeoutMs: LETTERS_MS });
  }

  /** Rejects with 404 if the topic has no record of the selection. */
  async requireLetters(connector: string, config: ConnectorConfig, selection: LetterSelection): Promise<void> {
    const signal = new AbortController().signal;
    const reading = { feature: 'dead letters', kind: 'has letters', connector, config, selection } as const;
    await this.#read(reading, { signal, timeoutMs: LETTERS_MS });
  }

  /** The number of records of a replay that failed again. */
  async failedLetters(connector: string, replay: StoredReplay): Promise<number> {
    const config = this.#directory.config(connector);
    const signal = new AbortController().signal;
    const reading = { feature: 'dead letters', kind: 'failed letters', connector, config, replay } as const;
    return Number(await this.#read(reading, { signal, timeoutMs: COUNT_MS }));
  }

  async #replayed(connector: string): Promise<ReplayedReading> {
    const config = this.#directory.config(connector);
    return { feature: 'dead letters', connector, config, replays: await this.#replays.list(connector) };
  }
}

export type LetterReadingParts = PreviewDependencies & { readonly resolver: Pick<ConfigResolver, 'resolve'> };

/** Performs the reading in this thread. */
export async function readLetters(
  reading: LetterReading,
  parts: LetterReadingParts,
  signal: AbortSignal,
): Promise<string> {
  const { connector } = reading;
  switch (reading.kind) {
    case 'groups':
      return lettersOf(reading, parts).groups(connector, reading.limit, signal);
    case 'preview':
      return lettersOf(reading, parts).preview(connector, reading.selection, reading.chain, signal);
    case 'letter':
      return lettersOf(reading, parts).letter(connector, reading.partition, reading.offset, signal);
    case 'has letters':
      return requireLetters(new LetterReader(parts.clients), await resolved(reading, parts), signal);
    case 'failed letters':
      return countFailedLetters(new LetterReader(parts.clients), await resolved(reading, parts), signal);
  }
}

async function resolved<R extends DeadLetterTopicReading>(reading: R, { resolver }: LetterReadingParts): Promise<R> {
  const { config } = await resolver.resolve(reading.config);
  return { ...reading, config };
}

function lettersOf({ config, replays }: ReplayedReading, parts: LetterReadingParts): ConnectorDeadLetters {
  return new ConnectorDeadLetters({
    ...parts,
    preview: new ConnectorPreview(parts),
    directory: { config: () => config },
    reader: new LetterReader(parts.clients),
    replays: { list: () => Promise.resolve(replays) },
  });
}
