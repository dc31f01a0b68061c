import type { DistributedWorkerConfig, InternalTopic } from '../config/worker-config.ts';
import { exactlyOnceSources } from '../herder/exactly-once-sources.ts';
import { openWorkerGroup } from '../herder/group/open-worker-group.ts';
import { InternalTopics } from '../herder/internal-topics.ts';
import { LeaderRequests } from '../herder/leader-requests.ts';
import { ConfigStore } from '../herder/stores/config-store.ts';
import { LeaderWriter } from '../herder/stores/leader-writer.ts';
import { OffsetStore } from '../herder/stores/offset-store.ts';
import { OwnStore } from '../herder/stores/own-store.ts';
import type { OpenRecordLog } from '../herder/stores/record-log.ts';
import { StatusStore } from '../herder/stores/status-store.ts';
import type { ClientProperties, CompactedTopicOptions } from '../kafka/api.ts';
import { createKafkaClient } from '../kafka/client/client.ts';
import { WorkerDrains } from '../operate/drain/worker-drains.ts';
import type { Logger } from '../observe/logger.ts';
import type { PeerClient } from '../herder/peer-client.ts';
import type { Mode, OwnAddress } from './mode.ts';

/** The mode of a worker that shares connectors and tasks with its group and stores its state in internal topics. */
export function distributedMode(
  config: DistributedWorkerConfig,
  { url, advertised: workerId }: OwnAddress,
  peers: PeerClient,
  logger: Logger,
): Mode {
  const { distributed, topics, clients } = config;
  const groupId = distributed['group.id'];
  const stores = openStores(config, logger);
  const { configs } = stores;
  const placement = openWorkerGroup(config, configs, url, logger);
  const requests = {
    placement,
    peers,
    sessionKey: () => configs.sessionKey,
    algorithm: distributed['inter.worker.signature.algorithm'],
  };
  const leader = new LeaderRequests(placement, peers, requests.sessionKey, requests.algorithm);
  return {
    stores,
    placement,
    leader,
    drains: new WorkerDrains(placement, peers, requests.sessionKey, requests.algorithm, workerId),
    internalTopics: new InternalTopics(
      () => createKafkaClient(clients.worker, logger).survey(),
      [
        { name: topics.config.name, ...CONFIGS },
        { name: topics.offset.name, ...OFFSETS },
        { name: topics.status.name, ...STATUSES },
        { name: topics.own.name, ...OWN },
      ],
    ),
    workers: [groupId, topics.config.name],
    groupId,
    offsetsTopic: topics.offset.name,
    openOffsetsTopic: (connector, topic) => {
      const client = { 'client.id': `${groupId}-${connector}-offsets` };
      const own = { ...topics.offset, name: topic };
      return internalTopic({ ...clients.worker, ...client }, own, CONNECTOR_OFFSETS, logger.child({ connector }));
    },
    exactlyOnce: (clients) => exactlyOnceSources(config, configs, clients, leader, placement, logger),
    sessionKeys: {
      algorithm: distributed['inter.worker.key.generation.algorithm'],
      bits: distributed['inter.worker.key.size'],
      ttlMs: distributed['inter.worker.key.ttl.ms'],
    },
    signatureAlgorithms: distributed['inter.worker.verification.algorithms'],
    answers: { waitForStart: false, unknownTask: (task) => `Unknown task: ${task}` },
    herderLogger: 'org.apache.kafka.connect.runtime.distributed.DistributedHerder',
  };
}

/** The option that names a topic, its purpose in error messages, and whether it must have a single partition. */
type TopicUse = Pick<CompactedTopicOptions, 'property' | 'purpose' | 'singlePartition'>;

const CONFIGS: TopicUse = {
  property: 'config.storage.topic',
  purpose: 'connector configurations',
  singlePartition: true,
};
const OFFSETS: TopicUse = { property: 'offset.storage.topic', purpose: 'source connector offsets' };
const CONNECTOR_OFFSETS: TopicUse = { ...OFFSETS, property: 'offsets.storage.topic' };
const OWN: TopicUse = {
  property: 'sluice.storage.topic',
  purpose: 'restart counts, the history of configurations, and replays',
  singlePartition: true,
};
const STATUSES: TopicUse = { property: 'status.storage.topic', purpose: 'connector and task statuses' };

/** Name under which users set the log level of the config store. */
const CONFIG_STORE_LOGGER = 'org.apache.kafka.connect.storage.KafkaConfigBackingStore';

function openStores(config: DistributedWorkerConfig, logger: Logger): Mode['stores'] {
  const { distributed, topics, clients } = config;
  const { 'group.id': groupId, 'client.id': given } = distributed;
  const open = (topic: InternalTopic, use: TopicUse, suffix: string): OpenRecordLog => {
    const clientId = [groupId, given, suffix].filter((part) => part !== '').join('-');
    return internalTopic({ ...clients.worker, 'client.id': clientId }, topic, use, logger);
  };
  return {
    configs: new ConfigStore(
      open(topics.config, CONFIGS, 'configs'),
      logger.child({ logger: CONFIG_STORE_LOGGER }),
      openLeaderWriter(config, logger),
    ),
    offsets: new OffsetStore(open(topics.offset, OFFSETS, 'offsets'), logger),
    statuses: new StatusStore(open(topics.status, STATUSES, 'statuses'), logger),
    own: new OwnStore(open(topics.own, OWN, 'own'), logger),
  };
}

function internalTopic(
  client: ClientProperties,
  { name: topic, ...creation }: InternalTopic,
  use: TopicUse,
  logger: Logger,
): OpenRecordLog {
  return (onRecord) =>
    createKafkaClient(client, logger).compactedTopic({
      ...use,
      ...creation,
      topic,
      onRecord: ({ key, value, offset }) => {
        if (key !== null) onRecord({ key, value, offset });
      },
    });
}

/**
 * Returns a writer unless `exactly.once.source.support` is `disabled`. With `preparing`, the leader already fences earlier
 * leaders. All workers must be set to `preparing` before the first one is set to `enabled`.
 */
function openLeaderWriter({ distributed, topics, clients }: DistributedWorkerConfig, logger: Logger) {
  const { 'group.id': groupId, 'exactly.once.source.support': support } = distributed;
  if (support.toLowerCase() === 'disabled') return undefined;
  const over = { 'client.id': `${groupId}-leader`, 'transactional.id': `connect-cluster-${groupId}` };
  const open = () => createKafkaClient({ ...clients.worker, ...over }, logger).transactionalProducer();
  return new LeaderWriter(topics.config.name, open, logger);
}
