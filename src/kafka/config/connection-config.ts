import type { ConnectionOptions } from 'node:tls';
import type { MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { SaslOptions } from '../library/kafkajs-internals.ts';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** How to reach and enter a cluster: what every client has in common. */
export interface ConnectionConfig {
  readonly bootstrapServers: readonly BrokerAddress[];
  readonly clientId: string;
  /** What the members of groups are called by, where that is not the client id. */
  readonly memberName?: string;
  /** `null`: plain text. */
  readonly tls: ConnectionOptions | null;
  /** A fresh object per connection, as the library writes into it; `null`: no authentication. */
  readonly sasl: (() => SaslOptions) | null;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly reconnectBackoffMs: number;
  readonly reconnectBackoffMaxMs: number;
  readonly retryBackoffMs: number;
  readonly retryBackoffMaxMs: number;
  readonly metadataMaxAgeMs: number;
  /** How long a call of a client may take altogether, retries included (`default.api.timeout.ms`). */
  readonly apiTimeoutMs: number;
  /** Over which time the client's metrics are computed. */
  readonly metricWindow: MetricWindow;
}

export function addressText({ host, port }: BrokerAddress): string {
  return host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
}
