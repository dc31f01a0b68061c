import type { ConnectorConfig } from '../../connect/api.ts';
import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { ConnectorTopics } from '../../herder/connector-topics.ts';
import { deadLetterTopic } from '../dead-letters/letter-reader.ts';
import type { Replays } from '../dead-letters/replays.ts';
import type { StoredReplay } from '../dead-letters/stored-replay.ts';
import type { MessagePlace, PeekQuery } from '../messages/topic-peek.ts';
import type { PreviewRequest } from '../preview/preview-request.ts';
import type { Read } from './reading.ts';

/** A thread that takes longer is ended. The readings themselves end earlier. */
const MESSAGES_MS = 40_000;
const LETTERS_MS = 60_000;
const PREVIEW_MS = 85_000;
const COUNT_MS = 90_000;

const NO_LETTERS = { topic: null, scanned: 0, hasMore: false, partitions: [], ungrouped: 0, groups: [] };

/**
 * Messages of topics, dead letters and previews, for people. Nothing is written and nothing is committed; the answers are JSON texts
 * without secrets. All take place in a thread of their own, as messages come from outside.
 *
 * Each rejects with a RequestError: 404 where there is no such connector, 503 where too much is read at a time or a reading took
 * too long.
 */
export class Readings {
  readonly #directory: Pick<ConnectorDirectory, 'config'>;
  readonly #topics: Pick<ConnectorTopics, 'list'>;
  readonly #replays: Pick<Replays, 'list'>;
  readonly #read: Read;

  constructor(
    directory: Pick<ConnectorDirectory, 'config'>,
    topics: Pick<ConnectorTopics, 'list'>,
    replays: Pick<Replays, 'list'>,
    read: Read,
  ) {
    this.#directory = directory;
    this.#topics = topics;
    this.#replays = replays;
    this.#read = read;
  }

  /** What a sink would do with messages; see `ConnectorPreview`. */
  preview(plugin: string, request: PreviewRequest, signal: AbortSignal): Promise<string> {
    return this.#read({ kind: 'preview', plugin, request }, { signal, timeoutMs: PREVIEW_MS });
  }

  /** A page of messages of a connector's topics; see `TopicPeek`. */
  async messages(connector: string, query: PeekQuery, signal: AbortSignal): Promise<string> {
    const options = { signal, timeoutMs: MESSAGES_MS };
    return this.#read({ kind: 'messages', ...this.#ofTopics(connector), query }, options);
  }

  /** What the connector would do with one message. */
  async messagePreview(connector: string, place: MessagePlace, signal: AbortSignal): Promise<string> {
    const options = { signal, timeoutMs: PREVIEW_MS };
    return this.#read({ kind: 'message preview', ...this.#ofTopics(connector), place }, options);
  }

  /** The groups of a connector's dead letters; see `ConnectorDeadLetters`. */
  async letterGroups(connector: string, limit: number, signal: AbortSignal): Promise<string> {
    if (deadLetterTopic(this.#directory.config(connector)) === undefined) return JSON.stringify(NO_LETTERS);
    const options = { signal, timeoutMs: LETTERS_MS };
    return this.#read({ kind: 'letter groups', ...(await this.#ofLetters(connector)), limit }, options);
  }

  async lettersPreview(
    connector: string,
    selection: LetterSelection,
    chain: ConnectorConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const reading = { kind: 'letters preview', ...(await this.#ofLetters(connector)), selection, chain } as const;
    return this.#read(reading, { signal, timeoutMs: PREVIEW_MS });
  }

  async letter(connector: string, partition: number, offset: number, signal: AbortSignal): Promise<string> {
    const reading = { kind: 'letter', ...(await this.#ofLetters(connector)), partition, offset } as const;
    return this.#read(reading, { signal, timeoutMs: LETTERS_MS });
  }

  /** Rejects with 404 if the whole topic has no letter of the selection. */
  async requireLetters(connector: string, config: ConnectorConfig, selection: LetterSelection): Promise<void> {
    const signal = new AbortController().signal;
    const reading = { kind: 'has letters', connector, config, selection } as const;
    await this.#read(reading, { signal, timeoutMs: LETTERS_MS });
  }

  /** The number of letters of a replay that have failed again. */
  async failedLetters(connector: string, replay: StoredReplay): Promise<number> {
    const config = this.#directory.config(connector);
    const signal = new AbortController().signal;
    const reading = { kind: 'failed letters', connector, config, replay } as const;
    return Number(await this.#read(reading, { signal, timeoutMs: COUNT_MS }));
  }

  #ofTopics(connector: string) {
    const config = this.#directory.config(connector);
    return { connector, config, topics: this.#topics.list(connector) };
  }

  async #ofLetters(connector: string) {
    const config = this.#directory.config(connector);
    return { connector, config, replays: await this.#replays.list(connector) };
  }
}
