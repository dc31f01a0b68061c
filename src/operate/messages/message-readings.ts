import type { ConnectorConfig } from '../../connect/api.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { ConnectorTopics } from '../../herder/connector-topics.ts';
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
  /** The topics that the connector has used. */
  readonly topics: string[];
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
  readonly #topics: Pick<ConnectorTopics, 'list'>;
  readonly #read: Read<MessageReading>;

  constructor(
    directory: Pick<ConnectorDirectory, 'config'>,
    topics: Pick<ConnectorTopics, 'list'>,
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
    return { feature: 'messages', connector, config, topics: this.#topics.list(connector) };
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
    topics: { list: () => reading.topics },
  });
  return reading.kind === 'page'
    ? peek.page(reading.connector, reading.query, signal)
    : peek.preview(reading.connector, reading.place, signal);
}
