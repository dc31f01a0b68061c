import type { ConnectorConfig } from '../../connect/api.ts';
import type { ConsumedRecord } from '../../kafka/api.ts';
import type { RawConnectorConfig } from '../../herder/validation.ts';
import type { SampleMessage } from './sample-messages.ts';

/** A connector whose stored secrets a preview may use. */
export interface StoredConnector {
  readonly config: ConnectorConfig;
  /** Keys whose stored values the request's configuration has, though the caller did not give them. */
  readonly kept: Iterable<string>;
}

export interface PreviewRequest {
  readonly config: RawConnectorConfig;
  /** The connector that the configuration is one of, if there is one. */
  readonly stored?: StoredConnector | undefined;
  readonly messages?: readonly SampleMessage[] | undefined;
  /** In place of messages: as they were consumed. */
  readonly records?: readonly ConsumedRecord[] | undefined;
  /** Only converters, whose options alone have to be valid; transforms and the plugin are not asked. */
  readonly decodeOnly?: boolean | undefined;
  readonly topic?: string | undefined;
  /** Of the topic's newest messages. */
  readonly count?: number | undefined;
}

const DECODING = /^(?:connector\.class$|(?:key|value|header)\.converter(?:\.|$)|consumer\.override\.)/;

/** Whether converters, or the consumer of the messages, take the option. */
export function isForDecoding(key: string): boolean {
  return DECODING.test(key);
}

/** Without what only transforms and the plugin take, so that none of it is resolved or sent. */
export function forDecoding({ config, stored, ...request }: PreviewRequest): PreviewRequest {
  const part = <C extends RawConnectorConfig>(whole: C): C =>
    Object.fromEntries(Object.entries(whole).filter(([key]) => isForDecoding(key))) as C;
  return { ...request, config: part(config), stored: stored && { ...stored, config: part(stored.config) } };
}
