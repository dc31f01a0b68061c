import type { ConnectionOptions } from 'node:tls';
import type { MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { SaslOptions } from '../library/kafkajs-internals.ts';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ConnectionConfig {
  readonly bootstrapServers: readonly BrokerAddress[];
  readonly clientId: string;
  /** Client id of group connections, if it differs from `clientId`. */
  readonly memberName?: string;
  /** `null` selects plaintext. */
  readonly tls: ConnectionOptions | null;
  /** Creates new options for each connection, because kafkajs modifies them. `null` disables authentication. */
  readonly sasl: (() => SaslOptions) | null;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly reconnectBackoffMs: number;
  readonly reconnectBackoffMaxMs: number;
  readonly retryBackoffMs: number;
  readonly retryBackoffMaxMs: number;
  readonly metadataMaxAgeMs: number;
  /** Time limit of one client call, including retries (`default.api.timeout.ms`). */
  readonly apiTimeoutMs: number;
  readonly metricWindow: MetricWindow;
}

export function addressText({ host, port }: BrokerAddress): string {
  return host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
}
