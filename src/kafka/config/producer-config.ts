import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClientProperties } from '../api.ts';
import { connectionConfig } from './client-config.ts';
import { COMPRESSION_TYPES, type CompressionType } from '../records/codecs.ts';
import type { ConnectionConfig } from './connection-config.ts';
import { refuseOrWarn } from './java-classes.ts';
import { PropertyReader } from '../../config/property-reader.ts';

export interface ProducerConfig {
  readonly connection: ConnectionConfig;
  /** -1 means all in-sync replicas. */
  readonly acks: -1 | 0 | 1;
  readonly compression: CompressionType;
  /** Maximum size of a request in bytes, and therefore of a record. */
  readonly maxRequestBytes: number;
  readonly maxInFlight: number;
  readonly idempotent: boolean;
  readonly transactionalId: string | null;
  /** After this time the coordinator aborts a transaction that its producer left open. */
  readonly transactionTimeoutMs: number;
  /** Time limit from the creation of a batch to its success or failure, including retries. */
  readonly deliveryTimeoutMs: number;
  /** How long `send` waits for the metadata of a topic, and how long a request about a transaction is retried. */
  readonly maxBlockMs: number;
}

const ACKS = { all: -1, '-1': -1, '0': 0, '1': 1 } as const;

export function producerConfig(properties: ClientProperties, logger: Logger): ProducerConfig {
  const reader = new PropertyReader(properties);
  const acks = ACKS[reader.choice('acks', ['all', '-1', '0', '1'], 'all')];
  const idempotent = readIdempotence(reader, acks, logger);
  const inFlightLimit = reader.durationMs(MAX_IN_FLIGHT, IDEMPOTENT_IN_FLIGHT, 1);
  if (idempotent && inFlightLimit > IDEMPOTENT_IN_FLIGHT) {
    throw new ConfigError(
      `To use the idempotent producer, ${MAX_IN_FLIGHT} must be set to at most ${String(IDEMPOTENT_IN_FLIGHT)}. ` +
        `Current value is ${String(inFlightLimit)}.`,
    );
  }
  const transactionalId = reader.text('transactional.id') ?? null;
  if (transactionalId !== null && !idempotent) {
    throw new ConfigError('Cannot set a transactional.id without also enabling idempotence.');
  }
  const config: ProducerConfig = {
    connection: connectionConfig(reader),
    acks,
    compression: reader.choice('compression.type', COMPRESSION_TYPES, 'none'),
    maxRequestBytes: reader.durationMs('max.request.size', 1_048_576, 1),
    maxInFlight: Math.min(inFlightLimit, IDEMPOTENT_IN_FLIGHT),
    idempotent,
    transactionalId,
    transactionTimeoutMs: reader.durationMs('transaction.timeout.ms', 60_000, 1),
    deliveryTimeoutMs: reader.durationMs('delivery.timeout.ms', 120_000, 1),
    maxBlockMs: reader.durationMs('max.block.ms', 60_000),
  };
  reader.ignore(
    'linger.ms',
    'batch.size',
    'buffer.memory',
    'partitioner.class',
    'key.serializer',
    'value.serializer',
    'compression.gzip.level',
    'compression.lz4.level',
    'compression.zstd.level',
  );
  refuseOrWarn('producer', reader, logger);
  reader.logUnknown(logger);
  return config;
}

const MAX_IN_FLIGHT = 'max.in.flight.requests.per.connection';
/** Brokers keep this many batches per producer and partition to detect duplicates. */
const IDEMPOTENT_IN_FLIGHT = 5;

/**
 * Idempotence is enabled by default. If it is not enabled explicitly, values of `acks` and `retries` that contradict it
 * disable it. If it is enabled explicitly, such values are rejected (ProducerConfig).
 */
function readIdempotence(reader: PropertyReader, acks: ProducerConfig['acks'], logger: Logger): boolean {
  const idempotent = reader.boolean('enable.idempotence', true);
  const isExplicit = reader.has('enable.idempotence');
  const retries = reader.text('retries');
  if (!idempotent) return false;
  if (retries === '0') {
    if (isExplicit) throw new ConfigError('Must set retries to non-zero when using the idempotent producer.');
    logger.info('Idempotence will be disabled because retries is set to 0.');
    return false;
  }
  if (acks !== -1) {
    if (isExplicit) {
      throw new ConfigError(
        'Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.',
      );
    }
    logger.info(`Idempotence will be disabled because acks is set to ${String(acks)}, not set to 'all'.`);
    return false;
  }
  return true;
}
