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
  /** The existing connector that the preview is about; absent: there is none. */
  readonly stored?: StoredConnector | undefined;
  readonly messages?: readonly SampleMessage[] | undefined;
  /** Consumed records to preview in place of `messages`. */
  readonly records?: readonly ConsumedRecord[] | undefined;
  /**
   * Whether messages are only converted. Then only the options of converters must be valid, and neither transforms nor
   * the plugin are called.
   */
  readonly decodeOnly?: boolean | undefined;
  readonly topic?: string | undefined;
  /** Number of the topic's newest messages to preview. */
  readonly count?: number | undefined;
}

const DECODING = /^(?:connector\.class$|(?:key|value|header)\.converter(?:\.|$)|consumer\.override\.)/;

/**
 * Whether decoding messages needs the option: it names the connector class, or configures a converter or the consumer.
 */
export function isForDecoding(key: string): boolean {
  return DECODING.test(key);
}

/**
 * Removes the options that decoding does not need, such as those of transforms and of the plugin, both from the given
 * and from the stored configuration. The variables of config providers in these options are then not resolved, and
 * their values reach neither the plugin nor the systems that the options name.
 */
export function forDecoding({ config, stored, ...request }: PreviewRequest): PreviewRequest {
  const part = <C extends RawConnectorConfig>(whole: C): C =>
    Object.fromEntries(Object.entries(whole).filter(([key]) => isForDecoding(key))) as C;
  return { ...request, config: part(config), stored: stored && { ...stored, config: part(stored.config) } };
}
