import type { ClientProperties } from '../kafka/api.ts';
import { createKafkaClient } from '../kafka/client/client.ts';
import type { Logger } from '../observe/logger.ts';

/**
 * Returns a function that resolves with the id of the Kafka cluster. The id is requested by the first call. After a failed
 * request, the next call tries again.
 */
export function kafkaClusterId(client: ClientProperties, logger: Logger): () => Promise<string> {
  let cached: Promise<string> | undefined;
  const request = async (): Promise<string> => {
    const admin = createKafkaClient(client, logger).admin();
    try {
      return await admin.clusterId();
    } catch (error) {
      cached = undefined;
      throw error;
    } finally {
      await admin.close();
    }
  };
  return () => (cached ??= request());
}

const TOPICS_MS = 5000;

/** Returns a function that resolves with the names of all topics. The names are cached for a few seconds. */
export function kafkaTopics(client: ClientProperties, logger: Logger): () => Promise<readonly string[]> {
  let cached: { readonly topics: Promise<readonly string[]>; readonly atMs: number } | undefined;
  const request = async (): Promise<readonly string[]> => {
    const admin = createKafkaClient(client, logger).admin();
    try {
      return await admin.topics();
    } catch (error) {
      cached = undefined;
      throw error;
    } finally {
      await admin.close();
    }
  };
  return async () => {
    if (cached === undefined || performance.now() - cached.atMs > TOPICS_MS) {
      cached = { topics: request(), atMs: performance.now() };
    }
    return cached.topics;
  };
}
