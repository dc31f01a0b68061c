import { within } from '../../async/within.ts';
import { ConnectError, firstCause } from '../../errors.ts';
import type { ClientProperties } from '../api.ts';
import type { Logger } from '../../observe/logger.ts';
import { createKafkaClient } from './client.ts';
import { isRetriable } from '../errors.ts';

/** So long a broker may take to answer for the first time; with both waits it is known within 10 s that none does. */
const PATIENCE: ClientProperties = {
  'socket.connection.setup.timeout.ms': '4000',
  'request.timeout.ms': '4000',
  'default.api.timeout.ms': '4000',
};
const LIMIT_MS = 9000;

/**
 * Resolves when a broker of the cluster has answered. Rejects within 10 s when none does, with the addresses and the cause;
 * at once when a broker refuses this client.
 */
export async function requireBroker(properties: ClientProperties, logger: Logger): Promise<void> {
  const servers = properties['bootstrap.servers'] ?? '';
  const admin = createKafkaClient({ ...properties, ...PATIENCE }, logger).admin();
  try {
    if (!(await within(admin.clusterId(), LIMIT_MS))) throw new ConnectError(`No Kafka broker answers at ${servers}`);
  } catch (error) {
    if (!isRetriable(error)) throw error;
    throw new ConnectError(`No Kafka broker answers at ${servers}: ${firstCause(error).message}`, { cause: error });
  } finally {
    await admin.close();
  }
}
