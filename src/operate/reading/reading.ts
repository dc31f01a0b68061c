import type { LetterSelection } from '../../connect/dead-letters/letter-selection.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import type { StoredReplay } from '../dead-letters/stored-replay.ts';
import type { MessagePlace, PeekQuery } from '../messages/topic-peek.ts';
import type { PreviewRequest } from '../preview/preview-request.ts';

interface OfConnector {
  readonly connector: string;
  /** As it is stored, with variables. */
  readonly config: ConnectorConfig;
}

interface OfTopics extends OfConnector {
  /** The topics that the connector has used. */
  readonly topics: string[];
}

interface OfLetters extends OfConnector {
  readonly replays: readonly StoredReplay[];
}

/** One request to read topics or convert messages for people; plain data, so that another thread can take it. */
export type Reading =
  | { readonly kind: 'preview'; readonly plugin: string; readonly request: PreviewRequest }
  | (OfTopics & { readonly kind: 'messages'; readonly query: PeekQuery })
  | (OfTopics & { readonly kind: 'message preview'; readonly place: MessagePlace })
  | (OfLetters & { readonly kind: 'letter groups'; readonly limit: number })
  | (OfLetters & {
      readonly kind: 'letters preview';
      readonly selection: LetterSelection;
      readonly chain: ConnectorConfig | undefined;
    })
  | (OfLetters & { readonly kind: 'letter'; readonly partition: number; readonly offset: number })
  | (OfConnector & { readonly kind: 'has letters'; readonly selection: LetterSelection })
  | (OfConnector & { readonly kind: 'failed letters'; readonly replay: StoredReplay });

export interface ReadOptions {
  /** Aborted when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Performs a reading; resolves with a JSON text without secrets. */
export type Read = (reading: Reading, options: ReadOptions) => Promise<string>;
