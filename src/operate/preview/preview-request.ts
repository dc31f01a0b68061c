import type { ConnectorConfig } from '../../connect/api.ts';
import type { ConsumedRecord } from '../../kafka/api.ts';
import type { RawConnectorConfig } from '../../herder/validation.ts';
import type { SampleMessage } from './sample-messages.ts';

/** A connector whose stored secrets a preview may use. */
export interface StoredConnector {
  readonly config: ConnectorConfig;
  /** Keys whose values come from the stored configuration, not from the caller. */
  readonly kept: Iterable<string>;
}

export interface PreviewRequest {
  readonly config: RawConnectorConfig;
  /** The stored connector of the configuration, if there is one. */
  readonly stored?: StoredConnector | undefined;
  readonly messages?: readonly SampleMessage[] | undefined;
  /** Consumed records, in place of messages. */
  readonly records?: readonly ConsumedRecord[] | undefined;
  /**
   * Whether messages are only converted. Then only the options of converters must be valid, and neither transforms nor
   * the plugin are called.
   */
  readonly decodeOnly?: boolean | undefined;
  readonly topic?: string | undefined;
  /** Number of the topic's newest messages. */
  readonly count?: number | undefined;
}

const DECODING = /^(?:connector\.class$|(?:key|value|header)\.converter(?:\.|$)|consumer\.override\.)/;

/** Whether the option belongs to the converters or to the consumer of the messages. */
export function isForDecoding(key: string): boolean {
  return DECODING.test(key);
}

/** Removes the options of transforms and of the plugin, so that none of them is resolved or sent. */
export function forDecoding({ config, stored, ...request }: PreviewRequest): PreviewRequest {
  const part = <C extends RawConnectorConfig>(whole: C): C =>
    Object.fromEntries(Object.entries(whole).filter(([key]) => isForDecoding(key))) as C;
  return { ...request, config: part(config), stored: stored && { ...stored, config: part(stored.config) } };
}
