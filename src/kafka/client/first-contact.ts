import { within } from '../../async/within.ts';
import { ConnectError, firstCause } from '../../errors.ts';
import type { ClientProperties } from '../api.ts';
import type { Logger } from '../../observe/logger.ts';
import { createKafkaClient } from './client.ts';
import { isRetriable } from '../errors/kafka-errors.ts';

/** Short timeouts, so that an unreachable cluster is reported within 10 s. */
const SHORT_TIMEOUTS: ClientProperties = {
  'socket.connection.setup.timeout.ms': '4000',
  'request.timeout.ms': '4000',
  'default.api.timeout.ms': '4000',
};
const LIMIT_MS = 9000;

/**
 * Resolves when a broker of the cluster responds. If none does, rejects within 10 s with the addresses and the cause. If a broker
 * rejects this client, rejects immediately.
 */
export async function requireBroker(properties: ClientProperties, logger: Logger): Promise<void> {
  const servers = properties['bootstrap.servers'] ?? '';
  const admin = createKafkaClient({ ...properties, ...SHORT_TIMEOUTS }, logger).admin();
  try {
    if (!(await within(admin.clusterId(), LIMIT_MS))) throw new ConnectError(`No Kafka broker answers at ${servers}`);
  } catch (error) {
    if (!isRetriable(error)) throw error;
    throw new ConnectError(`No Kafka broker answers at ${servers}: ${firstCause(error).message}`, { cause: error });
  } finally {
    await admin.close();
  }
}
