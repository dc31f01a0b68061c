import { builtInPlugins, configProviderFinder } from './built-in-plugins.ts';
import type { DistributedWorkerConfig, InternalTopic, WorkerConfig } from './config/worker-config.ts';
import { overridePolicy } from './config/override-policy.ts';
import { ConfigResolver } from './config/providers/config-resolver.ts';
import { openProviders } from './config/providers/open-providers.ts';
import type { Plugin } from './connect/api.ts';
import { KafkaTaskClients } from './connect/tasks/kafka-task-clients.ts';
import { openPluginPath } from './connect/plugins/path/plugin-path.ts';
import { PluginRegistry } from './connect/plugins/plugin-registry.ts';
import { TaskFactory } from './connect/tasks/task-factory.ts';
import { ConnectorOffsets } from './herder/connector-offsets.ts';
import { ConnectorPreview } from './herder/connector-preview.ts';
import { ConnectorTopics } from './herder/connector-topics.ts';
import { exactlyOnceSources } from './herder/exactly-once-sources.ts';
import { Herder } from './herder/herder.ts';
import { openWorkerGroup } from './herder/group/open-worker-group.ts';
import { LeaderRequests } from './herder/leader-requests.ts';
import { PeerClient } from './herder/peer-client.ts';
import { SoleWorker } from './herder/placement.ts';
import type { SessionKeySettings } from './herder/session-keys.ts';
import { LeaderWriter } from './herder/stores/leader-writer.ts';
import { ConfigStore } from './herder/stores/config-store.ts';
import { OffsetFile } from './herder/stores/offset-file.ts';
import { OffsetStore } from './herder/stores/offset-store.ts';
import { SourceOffsetStores } from './herder/stores/source-offset-stores.ts';
import { MemoryLog, type OpenRecordLog } from './herder/stores/record-log.ts';
import { StatusStore } from './herder/stores/status-store.ts';
import { ConnectorValidation } from './herder/validation.ts';
import { ConfigError } from './errors.ts';
import { createKafkaClient } from './kafka/client.ts';
import { LogLevels } from './observe/log-levels.ts';
import type { Logger } from './observe/logger.ts';
import { SecretMask } from './observe/secret-mask.ts';
import { peerTls } from './rest/listener-tls.ts';
import { openRest } from './rest/open-rest.ts';
import { startServices } from './services.ts';

/** By these names users set the herder's log level. */
const HERDER_CLASSES = { distributed: 'distributed.DistributedHerder', standalone: 'standalone.StandaloneHerder' };

export interface WorkerOptions {
  readonly logger: Logger;
  /** Beyond those that ship with the worker. */
  readonly plugins?: readonly Plugin[];
  /** Learns what config providers give; the logger should ask it too. */
  readonly secrets?: SecretMask;
}

export interface Worker {
  /** Where the management API answers. */
  readonly url: string;
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  /** Where the services answer, by name. */
  readonly services: Readonly<Record<string, string>>;
  /** Resolves when the herder is up; rejects when it cannot come up. */
  readonly started: Promise<void>;
  /** Stops the API and the services, then tasks and connectors, then the stores. */
  stop(): Promise<void>;
}

/**
 * The composition root: builds every part once and owns the order of start and stop. Resolves when the management API
 * listens; the herder comes up behind it (`started`), and `/health` tells when.
 */
export async function startWorker(config: WorkerConfig, options: WorkerOptions): Promise<Worker> {
  const { logger, secrets = new SecretMask() } = options;
  for (const warning of config.warnings) logger.warn(warning);
  const pluginPath = await openPluginPath(config.common['plugin.path'], logger);
  const plugins = new PluginRegistry(
    [...(await builtInPlugins({ strictJson: config.own['json.converter.strict'] })), ...(options.plugins ?? [])],
    pluginPath.plugins,
  );
  for (const { className, version, location } of plugins.hidden) {
    logger.warn(`The plugin ${className} ${version} in ${location} is passed over: there is one already`);
  }
  const logLevels = new LogLevels(logger);
  const policy = overridePolicy(
    config.common['connector.client.config.override.policy'],
    config.common['connector.client.config.override.allowlist'],
  );
  const resolver = new ConfigResolver(
    await openProviders(config.properties, configProviderFinder(pluginPath), logger),
    secrets,
    logger,
  );
  const stores = openStores(config, logger);
  const clients = new KafkaTaskClients(config.clients, policy, logger);
  const topics = new ConnectorTopics(
    stores.statuses,
    {
      enabled: config.common['topic.tracking.enable'],
      resettable: config.common['topic.tracking.allow.reset'],
    },
    logger,
  );
  const placement =
    config.mode === 'distributed' ? openWorkerGroup(config, stores.configs, () => rest.url, logger) : new SoleWorker();
  const peers = new PeerClient(peerTls(config.properties));
  const leader = new LeaderRequests({
    placement,
    peers,
    sessionKey: () => stores.configs.sessionKey,
    algorithm: config.mode === 'distributed' ? config.distributed['inter.worker.signature.algorithm'] : '',
  });
  const exactlyOnce =
    config.mode === 'distributed'
      ? exactlyOnceSources(config, { configs: stores.configs, clients, leader, logger })
      : undefined;
  const sourceOffsets = new SourceOffsetStores({
    worker: stores.offsets,
    workerTopic: config.mode === 'distributed' ? config.topics.offset.name : undefined,
    openTopic: (connector, topic) => openOwnOffsets(config, connector, topic, logger),
    logger,
  });
  const taskFactory = new TaskFactory({
    mayWork: () => placement.mayWork,
    plugins,
    clients,
    offsets: sourceOffsets,
    defaults: {
      offsetFlushIntervalMs: Number(config.common['offset.flush.interval.ms']),
      offsetFlushTimeoutMs: Number(config.common['offset.flush.timeout.ms']),
      topicCreationEnabled: config.common['topic.creation.enable'],
      exactlyOnce: exactlyOnce?.sources,
      converterConfig: config.converterConfig,
    },
    secrets,
    logger,
  });
  const herder = new Herder({
    ...stores,
    mode: config.mode,
    workerId: () => workerId,
    placement,
    leader,
    fenceZombies: exactlyOnce && ((name) => exactlyOnce.fencing.fence(name)),
    plugins,
    resolver,
    secrets,
    taskFactory,
    topics,
    logLevels,
    taskStopTimeoutMs: Number(config.common['task.shutdown.graceful.timeout.ms']),
    sessionKeys: config.mode === 'distributed' ? sessionKeySettings(config) : undefined,
    logger: logger.child({ logger: `org.apache.kafka.connect.runtime.${HERDER_CLASSES[config.mode]}` }),
  });
  const groupId = config.mode === 'distributed' ? config.distributed['group.id'] : undefined;
  const validation = new ConnectorValidation({
    plugins,
    resolver,
    secrets,
    converterConfig: config.converterConfig,
    workerGroupId: groupId,
    exactlyOnceSources: exactlyOnce !== undefined,
    overridePolicy: policy,
    topicCreationEnabled: config.common['topic.creation.enable'],
  });
  const offsets = new ConnectorOffsets({
    configs: stores.configs,
    offsets: sourceOffsets,
    plugins,
    resolver,
    clients,
    tasksEnded: (name) => herder.tasksEnded(name),
    fenceZombies: exactlyOnce && ((name) => exactlyOnce.sources.fenceZombies(name)),
  });
  let clusterId = '';
  const rest = await openRest(config, {
    herder,
    validation,
    offsets,
    preview: new ConnectorPreview({ plugins, validation, clients, converterConfig: config.converterConfig, secrets }),
    topics,
    logLevels,
    secrets,
    peers,
    kafkaClusterId: () => clusterId,
    signatureAlgorithms:
      config.mode === 'distributed' ? config.distributed['inter.worker.verification.algorithms'] : undefined,
    logger: logger.child({ logger: 'org.apache.kafka.connect.runtime.rest' }),
  });
  const workerId = rest.advertised;
  const services = await startServices(config, logger).catch(async (error: unknown) => {
    await rest.server.close();
    throw error;
  });
  logger.info(`REST server listening at ${rest.url}/, advertising ${workerId}`);

  const start = async () => {
    const admin = createKafkaClient(config.clients.worker, logger).admin();
    try {
      const [id] = await Promise.all([admin.clusterId(), herder.start()]);
      clusterId = id;
    } finally {
      await admin.close();
    }
    logger.info('Kafka Connect started');
  };
  const started = start();
  started.catch(() => undefined);
  return {
    url: rest.url,
    herder,
    validation,
    services: services.addresses,
    started,
    stop: async () => {
      await Promise.all([rest.server.close(), services.stop()]);
      await herder.stop();
      await resolver.close();
    },
  };
}

function sessionKeySettings({ distributed }: DistributedWorkerConfig): SessionKeySettings {
  return {
    algorithm: distributed['inter.worker.key.generation.algorithm'],
    bits: distributed['inter.worker.key.size'],
    ttlMs: distributed['inter.worker.key.ttl.ms'],
  };
}

function openStores(config: WorkerConfig, logger: Logger) {
  const open: { config: OpenRecordLog; offset: OpenRecordLog; status: OpenRecordLog } =
    config.mode === 'distributed'
      ? {
          config: openTopic(config, 'config', logger),
          offset: openTopic(config, 'offset', logger),
          status: openTopic(config, 'status', logger),
        }
      : {
          config: (onRecord) => new MemoryLog(onRecord),
          offset: (onRecord) => new OffsetFile(config.standalone['offset.storage.file.filename'], onRecord),
          status: (onRecord) => new MemoryLog(onRecord),
        };
  return {
    configs: new ConfigStore(open.config, logger, openLeaderWriter(config, logger)),
    offsets: new OffsetStore(open.offset, logger),
    statuses: new StatusStore(open.status, logger),
  };
}

/** As of `exactly.once.source.support=preparing`, so that all workers fence one another before any is `enabled`. */
function openLeaderWriter(config: WorkerConfig, logger: Logger): LeaderWriter | undefined {
  if (config.mode === 'standalone') return undefined;
  const { 'group.id': groupId, 'exactly.once.source.support': support } = config.distributed;
  if (support.toLowerCase() === 'disabled') return undefined;
  const over = { 'client.id': `${groupId}-leader`, 'transactional.id': `connect-cluster-${groupId}` };
  return new LeaderWriter({
    topic: config.topics.config.name,
    open: () => createKafkaClient({ ...config.clients.worker, ...over }, logger).transactionalProducer(),
    logger,
  });
}

const PURPOSES = {
  config: { clientSuffix: 'configs', purpose: 'connector configurations' },
  offset: { clientSuffix: 'offsets', purpose: 'source connector offsets' },
  status: { clientSuffix: 'statuses', purpose: 'connector and task statuses' },
} as const;

/** `offsets.storage.topic` of a connector: created as the worker's own would be. */
function openOwnOffsets(config: WorkerConfig, connector: string, topic: string, logger: Logger): OpenRecordLog {
  if (config.mode === 'standalone') throw new ConfigError('offsets.storage.topic needs a distributed worker');
  const { partitions, replicationFactor, settings } = config.topics.offset;
  const clientId = `${config.distributed['group.id']}-${connector}-offsets`;
  return (onRecord) =>
    createKafkaClient({ ...config.clients.worker, 'client.id': clientId }, logger.child({ connector })).compactedTopic({
      topic,
      property: 'offsets.storage.topic',
      purpose: PURPOSES.offset.purpose,
      partitions,
      replicationFactor,
      settings,
      onRecord: ({ key, value, offset }) => {
        if (key !== null) onRecord({ key, value, offset });
      },
    });
}

function openTopic(config: DistributedWorkerConfig, kind: keyof typeof PURPOSES, logger: Logger): OpenRecordLog {
  const topic: InternalTopic = config.topics[kind];
  const { clientSuffix, purpose } = PURPOSES[kind];
  const clientId = [config.distributed['group.id'], config.distributed['client.id'], clientSuffix]
    .filter((part) => part !== '')
    .join('-');
  return (onRecord) =>
    createKafkaClient({ ...config.clients.worker, 'client.id': clientId }, logger).compactedTopic({
      topic: topic.name,
      property: `${kind}.storage.topic`,
      purpose,
      partitions: topic.partitions,
      replicationFactor: topic.replicationFactor,
      settings: topic.settings,
      singlePartition: kind === 'config',
      onRecord: ({ key, value, offset }) => {
        if (key !== null) onRecord({ key, value, offset });
      },
    });
}
