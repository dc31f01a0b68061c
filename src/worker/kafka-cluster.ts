import type { ClientProperties } from '../kafka/api.ts';
import { createKafkaClient } from '../kafka/client/client.ts';
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

const TOPICS_MS = 5000;

/** Gives the names of all topics, a few seconds old at most: many who ask cost the brokers no more than one. */
export function kafkaTopics(client: ClientProperties, logger: Logger): () => Promise<readonly string[]> {
  let asked: { readonly topics: Promise<readonly string[]>; readonly atMs: number } | undefined;
  const ask = async (): Promise<readonly string[]> => {
    const admin = createKafkaClient(client, logger).admin();
    try {
      return await admin.topics();
    } catch (error) {
      asked = undefined;
      throw error;
    } finally {
      await admin.close();
    }
  };
  return async () => {
    if (asked === undefined || performance.now() - asked.atMs > TOPICS_MS) {
      asked = { topics: ask(), atMs: performance.now() };
    }
    return asked.topics;
  };
}
