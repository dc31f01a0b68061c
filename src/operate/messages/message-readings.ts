import type { ConnectorConfig } from '../../connect/api.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import { notTracked, type ConnectorTopics } from '../../herder/connector-topics.ts';
import { ConnectorPreview, type PreviewDependencies } from '../preview/connector-preview.ts';
import type { Read } from '../reading.ts';
import { TopicPeek, type MessagePlace, type PeekQuery } from './topic-peek.ts';

const PAGE_MS = 40_000;
const PREVIEW_MS = 85_000;

interface ConnectorTopicsReading {
  readonly feature: 'messages';
  readonly connector: string;
  /** The stored configuration, with variables. */
  readonly config: ConnectorConfig;
  /** The topics that the connector has used; `undefined` if topics are not tracked. Only needed for a source. */
  readonly topics: string[] | undefined;
}

export type MessageReading =
  | (ConnectorTopicsReading & { readonly kind: 'page'; readonly query: PeekQuery })
  | (ConnectorTopicsReading & { readonly kind: 'preview'; readonly place: MessagePlace });

/**
 * Requests messages of a connector's topics. Each method rejects with a RequestError 404 if the connector does not
 * exist.
 */
export class MessageReadings {
  readonly #directory: Pick<ConnectorDirectory, 'config'>;
  readonly #topics: Pick<ConnectorTopics, 'tracked'>;
  readonly #read: Read<MessageReading>;

  constructor(
    directory: Pick<ConnectorDirectory, 'config'>,
    topics: Pick<ConnectorTopics, 'tracked'>,
    read: Read<MessageReading>,
  ) {
    this.#directory = directory;
    this.#topics = topics;
    this.#read = read;
  }

  /** A page of messages; see `TopicPeek`. */
  async page(connector: string, query: PeekQuery, signal: AbortSignal): Promise<string> {
    return this.#read({ ...this.#topicsOf(connector), kind: 'page', query }, { signal, timeoutMs: PAGE_MS });
  }

  /** A preview of what the connector would do with one message. */
  async preview(connector: string, place: MessagePlace, signal: AbortSignal): Promise<string> {
    return this.#read({ ...this.#topicsOf(connector), kind: 'preview', place }, { signal, timeoutMs: PREVIEW_MS });
  }

  #topicsOf(connector: string): ConnectorTopicsReading {
    const config = this.#directory.config(connector);
    return { feature: 'messages', connector, config, topics: this.#topics.tracked(connector) };
  }
}

/** Performs the reading in this thread. */
export async function readMessages(
  reading: MessageReading,
  parts: PreviewDependencies,
  signal: AbortSignal,
): Promise<string> {
  const peek = new TopicPeek({
    ...parts,
    preview: new ConnectorPreview(parts),
    directory: { config: () => reading.config },
    topics: { list: () => trackedTopics(reading) },
  });
  return reading.kind === 'page'
    ? peek.page(reading.connector, reading.query, signal)
    : peek.preview(reading.connector, reading.place, signal);
}

function trackedTopics({ topics }: ConnectorTopicsReading): string[] {
  if (topics === undefined) throw notTracked();
  return topics;
}
