import { ConfigError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ClientProperties } from './api.ts';
import { connectionConfig } from './client-config.ts';
import { COMPRESSION_TYPES, type CompressionType } from './codecs.ts';
import type { ConnectionConfig } from './connection-config.ts';
import { PropertyReader } from './properties.ts';

export interface ProducerConfig {
  readonly connection: ConnectionConfig;
  /** -1: all in-sync replicas. */
  readonly acks: -1 | 0 | 1;
  readonly compression: CompressionType;
  /** Of a whole request, and so of one record. */
  readonly maxRequestBytes: number;
  readonly idempotent: boolean;
  /** From `send` to success or failure, retries included. */
  readonly deliveryTimeoutMs: number;
  /** How long `send` waits for a topic to be known. */
  readonly maxBlockMs: number;
}

const ACKS = { all: -1, '-1': -1, '0': 0, '1': 1 } as const;

export function producerConfig(properties: ClientProperties, logger: Logger): ProducerConfig {
  const reader = new PropertyReader(properties);
  const acks = ACKS[reader.choice('acks', ['all', '-1', '0', '1'], 'all')];
  const idempotent = reader.boolean('enable.idempotence', false);
  if (idempotent && acks !== -1) {
    throw new ConfigError('Must set acks to all in order to use the idempotent producer.');
  }
  const config: ProducerConfig = {
    connection: connectionConfig(reader),
    acks,
    compression: reader.choice('compression.type', COMPRESSION_TYPES, 'none'),
    maxRequestBytes: reader.durationMs('max.request.size', 1_048_576, 1),
    idempotent,
    deliveryTimeoutMs: reader.durationMs('delivery.timeout.ms', 120_000, 1),
    maxBlockMs: reader.durationMs('max.block.ms', 60_000),
  };
  reader.ignore(
    'linger.ms',
    'batch.size',
    'buffer.memory',
    'max.in.flight.requests.per.connection',
    'retries',
    'partitioner.class',
    'key.serializer',
    'value.serializer',
    'interceptor.classes',
    'compression.gzip.level',
    'compression.lz4.level',
    'compression.zstd.level',
  );
  reader.logUnknown(logger);
  return config;
}
