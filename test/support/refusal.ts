import { toError } from '../../src/errors.ts';
import type { KafkaClient } from '../../src/kafka/api.ts';

/** Returns the error that a client gets when it requests the cluster id, or `none` if it gets the id. */
export async function refusalOf(client: KafkaClient, timeoutMs: number): Promise<string> {
  const admin = client.admin({ 'default.api.timeout.ms': String(timeoutMs) });
  try {
    await admin.clusterId();
    return 'none';
  } catch (error) {
    return toError(error).message;
  } finally {
    await admin.close();
  }
}
