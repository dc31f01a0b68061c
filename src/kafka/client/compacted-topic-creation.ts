import { sleep } from '../../async/sleep.ts';
import { ConfigError, ConnectError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CompactedTopicOptions } from '../api.ts';
import type { KafkaAdmin } from './admin.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { KafkaError, TimeoutError } from '../errors/kafka-errors.ts';

const CLEANUP_POLICY = 'cleanup.policy';
const VISIBLE_TIMEOUT_MS = 30_000;
const VISIBLE_CHECK_MS = 20;

/**
 * Creates the topic if it is missing and may be created, and resolves with its partition count. Fails if the
 * `cleanup.policy` of an existing topic is not exactly `compact`; a policy that the client may not read is assumed to
 * be `compact`. Also fails if the topic has several partitions although `singlePartition` is set. Messages and order of
 * the checks follow org.apache.kafka.connect.storage.KafkaTopicBasedBackingStore and TopicAdmin.
 */
export async function ensureCompactedTopic(
  admin: KafkaAdmin,
  options: CompactedTopicOptions,
  logger: Logger,
): Promise<number> {
  const { topic, property, mayCreate = true } = options;
  const existing = (await admin.describeTopics([topic])).get(topic);
  if (existing !== undefined) {
    await checkPolicy(admin, options, logger);
    return checkPartitions(options, existing);
  }
  if (!mayCreate) {
    throw new ConfigError(
      `Topic '${topic}' supplied via the '${property}' property does not exist, and ` +
        `'internal.topics.automatic.creation.enable' is false. Create it with 'cleanup.policy=compact', or set this ` +
        `property to true.`,
    );
  }
  const created = await create(admin, options);
  if (!created) {
    await checkPolicy(admin, options, logger);
  } else {
    const { partitions, replicationFactor } = options;
    logger.info({ partitions, replicationFactor }, 'Created compacted topic');
  }
  return checkPartitions(options, await awaitTopic(admin, topic));
}

async function create(admin: KafkaAdmin, options: CompactedTopicOptions): Promise<boolean> {
  const { topic, partitions, replicationFactor, property } = options;
  const settings = { ...options.settings, [CLEANUP_POLICY]: 'compact' };
  try {
    return await admin.createTopic({ name: topic, partitions, replicationFactor, settings });
  } catch (error) {
    if (!(error instanceof KafkaError)) throw error;
    if (error.code === ErrorCode.invalidReplicationFactor) {
      const brokers = await admin.brokerCount();
      const factorProperty = property.replace(/\.topic$/, '.replication.factor');
      throw new ConfigError(
        `Topic '${topic}' supplied via the '${property}' property cannot be created with replication factor ` +
          `${String(replicationFactor)} on a cluster of ${String(brokers)} broker(s). Set the '${factorProperty}' property ` +
          `in the Connect worker configurations to at most ${String(brokers)}.`,
        { cause: error },
      );
    }
    const isForbidden =
      error.code === ErrorCode.topicAuthorizationFailed || error.code === ErrorCode.clusterAuthorizationFailed;
    if (!isForbidden)
      throw new ConnectError(`Error while attempting to create/find topic(s) '${topic}'`, { cause: error });
    throw new ConnectError(
      `Topic '${topic}' supplied via the '${property}' property does not exist, and this worker is not authorized to ` +
        `create it. Create it with 'cleanup.policy=compact', or grant the right to create it.`,
      { cause: error },
    );
  }
}

async function checkPolicy(
  admin: KafkaAdmin,
  { topic, property, purpose }: CompactedTopicOptions,
  logger: Logger,
): Promise<void> {
  let policy: string;
  try {
    policy = (await admin.topicSettings(topic)).get(CLEANUP_POLICY) ?? '';
  } catch (error) {
    const code = error instanceof KafkaError ? error.code : undefined;
    if (code !== ErrorCode.topicAuthorizationFailed && code !== ErrorCode.clusterAuthorizationFailed) throw error;
    logger.warn(`Not authorized to read the topic settings; assuming 'cleanup.policy=compact'`);
    return;
  }
  if (policy === 'compact') return;
  throw new ConfigError(
    `Topic '${topic}' supplied via the '${property}' property is required to have 'cleanup.policy=compact' to guarantee ` +
      `consistency and durability of ${purpose}, but found the topic currently has 'cleanup.policy=${policy}'. Continuing ` +
      `would likely result in eventually losing ${purpose} and problems restarting this Connect cluster in the future. ` +
      `Change the '${property}' property in the Connect worker configurations to use a topic with 'cleanup.policy=compact'.`,
  );
}

function checkPartitions({ topic, property, purpose, singlePartition }: CompactedTopicOptions, count: number): number {
  if (singlePartition !== true || count === 1) return count;
  throw new ConfigError(
    `Topic '${topic}' supplied via the '${property}' property is required to have a single partition in order to ` +
      `guarantee consistency of ${purpose}, but found ${String(count)} partitions.`,
  );
}

/**
 * A broker acknowledges the creation of a topic before all brokers know the topic, so this waits until the metadata contains
 * it.
 */
async function awaitTopic(admin: KafkaAdmin, topic: string): Promise<number> {
  const deadline = Date.now() + VISIBLE_TIMEOUT_MS;
  for (;;) {
    const count = (await admin.describeTopics([topic])).get(topic);
    if (count !== undefined && count > 0) return count;
    if (Date.now() > deadline)
      throw new TimeoutError(
        `Topic ${topic} was created but did not appear in the metadata within ${String(VISIBLE_TIMEOUT_MS)} ms`,
      );
    await sleep(VISIBLE_CHECK_MS);
  }
}
