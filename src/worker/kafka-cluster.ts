import type { ClientProperties } from '../kafka/api.ts';
import { createKafkaClient } from '../kafka/client.ts';
import type { Logger } from '../observe/logger.ts';

/** Gives the id of the Kafka cluster. It is asked for once, at the first call; a request that failed is tried again. */
export function kafkaClusterId(client: ClientProperties, logger: Logger): () => Promise<string> {
  let asked: Promise<string> | undefined;
  const ask = async (): Promise<string> => {
    const admin = createKafkaClient(client, logger).admin();
    try {
      return await admin.clusterId();
    } catch (error) {
      asked = undefined;
      throw error;
    } finally {
      await admin.close();
    }
  };
  return () => (asked ??= ask());
}
