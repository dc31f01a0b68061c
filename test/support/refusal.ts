import { toError } from '../../src/errors.ts';
import type { KafkaClient } from '../../src/kafka/api.ts';

/** What a client is told when it asks a cluster who it is; `none` where it is told. */
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
