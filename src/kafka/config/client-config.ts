import { ConfigError } from '../../errors.ts';
import type { BrokerAddress, ConnectionConfig } from './connection-config.ts';
import type { PropertyReader } from '../../config/property-reader.ts';
import { saslOptions } from './sasl-config.ts';
import { DEFAULT_WINDOW } from '../../observe/metrics/sampled-stats.ts';
import { tlsOptions } from '../../tls/tls-config.ts';

const DNS_LOOKUPS = ['use_all_dns_ips', 'resolve_canonical_bootstrap_servers_only'] as const;
const PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const;

export function connectionConfig(properties: PropertyReader): ConnectionConfig {
  const protocol = properties.choice('security.protocol', PROTOCOLS, 'PLAINTEXT');
  const withTls = protocol.endsWith('SSL');
  const tls = tlsOptions(properties);
  const sasl = protocol.startsWith('SASL') ? saslOptions(properties) : null;
  properties.ignore(
    'socket.connection.setup.timeout.max.ms',
    'metadata.recovery.rebootstrap.trigger.ms',
    'metric.reporters',
    'client.rack',
  );
  // These properties have no effect, but invalid values are rejected, as the Java client does.
  properties.choice('client.dns.lookup', DNS_LOOKUPS, 'use_all_dns_ips');
  properties.choice('metadata.recovery.strategy', ['REBOOTSTRAP', 'NONE'], 'REBOOTSTRAP');
  properties.choice('metrics.recording.level', ['INFO', 'DEBUG', 'TRACE'], 'INFO');
  properties.boolean('enable.metrics.push', true);
  for (const bytes of ['send.buffer.bytes', 'receive.buffer.bytes']) properties.int(bytes, -1, -1);
  properties.int('connections.max.idle.ms', 540_000, -Infinity);
  return {
    bootstrapServers: parseBootstrapServers(properties.required('bootstrap.servers')),
    clientId: properties.text('client.id') ?? 'sluice',
    tls: withTls ? tls() : null,
    sasl,
    connectTimeoutMs: properties.durationMs('socket.connection.setup.timeout.ms', 10_000, 1),
    requestTimeoutMs: properties.durationMs('request.timeout.ms', 30_000, 1),
    reconnectBackoffMs: properties.durationMs('reconnect.backoff.ms', 50),
    reconnectBackoffMaxMs: properties.durationMs('reconnect.backoff.max.ms', 1000),
    retryBackoffMs: properties.durationMs('retry.backoff.ms', 100),
    retryBackoffMaxMs: properties.durationMs('retry.backoff.max.ms', 1000),
    metadataMaxAgeMs: properties.durationMs('metadata.max.age.ms', 300_000),
    apiTimeoutMs: properties.durationMs('default.api.timeout.ms', 60_000),
    metricWindow: {
      sampleMs: properties.durationMs('metrics.sample.window.ms', DEFAULT_WINDOW.sampleMs),
      samples: properties.int('metrics.num.samples', DEFAULT_WINDOW.samples, 1),
    },
  };
}

/** Parses `host:port,[::1]:port` with an optional `PROTOCOL://` before each host (org.apache.kafka.clients.ClientUtils). */
function parseBootstrapServers(text: string): readonly BrokerAddress[] {
  const servers = text.split(',').map((entry) => entry.trim());
  return servers
    .filter((entry) => entry !== '')
    .map((entry) => {
      const match = /^(?:[a-zA-Z_]+:\/\/)?(?:\[([0-9a-fA-F:.%]+)\]|([^:/\s]+)):(\d+)$/.exec(entry);
      const host = match?.[1] ?? match?.[2];
      const port = Number(match?.[3]);
      if (host === undefined || port > 65_535) {
        throw new ConfigError(
          `Invalid value ${text} for configuration bootstrap.servers: ${entry} is not of the form host:port`,
        );
      }
      return { host, port };
    });
}
