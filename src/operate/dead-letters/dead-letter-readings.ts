import type { ConfigResolver } from '../../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { DeadLetterSelection } from '../../connect/dead-letters/dead-letter-selection.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import { ConnectorPreview, type PreviewDependencies } from '../preview/connector-preview.ts';
import type { Read } from '../reading.ts';
import { ConnectorDeadLetters } from './connector-dead-letters.ts';
import { countFailedRecords, requireRecords } from './record-counts.ts';
import { DeadLetterReader, deadLetterTopic } from './dead-letter-reader.ts';
import type { Replays } from './replays.ts';
import type { StoredReplay } from './stored-replay.ts';

const READING_MS = 60_000;
const PREVIEW_MS = 85_000;
const COUNT_MS = 90_000;

const NO_RECORDS = { topic: null, scanned: 0, hasMore: false, partitions: [], ungrouped: 0, groups: [] };

interface TopicReading {
  readonly feature: 'dead letters';
  readonly connector: string;
  /** The stored configuration, with variables. */
  readonly config: ConnectorConfig;
}

interface ReplayedReading extends TopicReading {
  readonly replays: readonly StoredReplay[];
}

export type DeadLetterReading =
  | (ReplayedReading & { readonly kind: 'groups'; readonly limit: number })
  | (ReplayedReading & {
      readonly kind: 'preview';
      readonly selection: DeadLetterSelection;
      readonly chain: ConnectorConfig | undefined;
    })
  | (ReplayedReading & { readonly kind: 'record'; readonly partition: number; readonly offset: number })
  | (TopicReading & { readonly kind: 'has records'; readonly selection: DeadLetterSelection })
  | (TopicReading & { readonly kind: 'failed records'; readonly replay: StoredReplay });

/**
 * Requests the contents of a connector's dead-letter topic from a thread that reads topics. If the connector does not
 * exist, the methods without the parameter `config` reject with a RequestError 404.
 */
export class DeadLetterReadings {
  readonly #directory: Pick<ConnectorDirectory, 'config'>;
  readonly #replays: Pick<Replays, 'list'>;
  readonly #read: Read<DeadLetterReading>;

  constructor(
    directory: Pick<ConnectorDirectory, 'config'>,
    replays: Pick<Replays, 'list'>,
    read: Read<DeadLetterReading>,
  ) {
    this.#directory = directory;
    this.#replays = replays;
    this.#read = read;
  }

  /** The groups of a connector's dead letters; see `ConnectorDeadLetters`. */
  async groups(connector: string, limit: number, signal: AbortSignal): Promise<string> {
    if (deadLetterTopic(this.#directory.config(connector)) === undefined) return JSON.stringify(NO_RECORDS);
    const reading = { ...(await this.#replayed(connector)), kind: 'groups', limit } as const;
    return this.#read(reading, { signal, timeoutMs: READING_MS });
  }

  async preview(
    connector: string,
    selection: DeadLetterSelection,
    chain: ConnectorConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const reading = { ...(await this.#replayed(connector)), kind: 'preview', selection, chain } as const;
    return this.#read(reading, { signal, timeoutMs: PREVIEW_MS });
  }

  async record(connector: string, partition: number, offset: number, signal: AbortSignal): Promise<string> {
    const reading = { ...(await this.#replayed(connector)), kind: 'record', partition, offset } as const;
    return this.#read(reading, { signal, timeoutMs: READING_MS });
  }

  /** Rejects with 404 if the topic has no record of the selection. */
  async requireRecords(connector: string, config: ConnectorConfig, selection: DeadLetterSelection): Promise<void> {
    const signal = new AbortController().signal;
    const reading = { feature: 'dead letters', kind: 'has records', connector, config, selection } as const;
    await this.#read(reading, { signal, timeoutMs: READING_MS });
  }

  /** The number of records of a replay that failed again. */
  async failedRecords(connector: string, replay: StoredReplay): Promise<number> {
    const config = this.#directory.config(connector);
    const signal = new AbortController().signal;
    const reading = { feature: 'dead letters', kind: 'failed records', connector, config, replay } as const;
    return Number(await this.#read(reading, { signal, timeoutMs: COUNT_MS }));
  }

  async #replayed(connector: string): Promise<ReplayedReading> {
    const config = this.#directory.config(connector);
    return { feature: 'dead letters', connector, config, replays: await this.#replays.list(connector) };
  }
}

export type DeadLetterReadingParts = PreviewDependencies & { readonly resolver: Pick<ConfigResolver, 'resolve'> };

/** Performs the reading in this thread. */
export async function readDeadLetters(
  reading: DeadLetterReading,
  parts: DeadLetterReadingParts,
  signal: AbortSignal,
): Promise<string> {
  const { connector } = reading;
  switch (reading.kind) {
    case 'groups':
      return deadLettersOf(reading, parts).groups(connector, reading.limit, signal);
    case 'preview':
      return deadLettersOf(reading, parts).preview(connector, reading.selection, reading.chain, signal);
    case 'record':
      return deadLettersOf(reading, parts).record(connector, reading.partition, reading.offset, signal);
    case 'has records':
      return requireRecords(new DeadLetterReader(parts.clients), await resolved(reading, parts), signal);
    case 'failed records':
      return countFailedRecords(new DeadLetterReader(parts.clients), await resolved(reading, parts), signal);
  }
}

async function resolved<R extends TopicReading>(reading: R, { resolver }: DeadLetterReadingParts): Promise<R> {
  const { config } = await resolver.resolve(reading.config);
  return { ...reading, config };
}

function deadLettersOf({ config, replays }: ReplayedReading, parts: DeadLetterReadingParts): ConnectorDeadLetters {
  return new ConnectorDeadLetters({
    ...parts,
    preview: new ConnectorPreview(parts),
    directory: { config: () => config },
    reader: new DeadLetterReader(parts.clients),
    replays: { list: () => Promise.resolve(replays) },
  });
}
