import { networkInterfaces } from 'node:os';
import { builtInPlugins } from './built-in-plugins.ts';
import type { DistributedWorkerConfig, InternalTopic, WorkerConfig } from './config/worker-config.ts';
import type { Plugin } from './connect/api.ts';
import { KafkaTaskClients } from './connect/kafka-task-clients.ts';
import { PluginRegistry } from './connect/plugin-registry.ts';
import { TaskFactory } from './connect/task-factory.ts';
import { ConfigError } from './errors.ts';
import { Herder } from './herder/herder.ts';
import { SoleWorker } from './herder/placement.ts';
import { ConfigStore } from './herder/stores/config-store.ts';
import { OffsetFile } from './herder/stores/offset-file.ts';
import { OffsetStore } from './herder/stores/offset-store.ts';
import { MemoryLog, type OpenRecordLog } from './herder/stores/record-log.ts';
import { StatusStore } from './herder/stores/status-store.ts';
import { ConnectorValidation } from './herder/validation.ts';
import { createKafkaClient } from './kafka/client.ts';
import type { Logger } from './observe/logger.ts';
import { hostPort, RestServer, type Listener } from './rest/server.ts';
import { startServices } from './services.ts';
import { parseListener } from './config/rest-validators.ts';

/** Workers that share a `group.id` come later; until then a distributed worker is the first generation of its group. */
const FIRST_GENERATION = 1;

export interface WorkerOptions {
  readonly logger: Logger;
  /** Beyond those that ship with the worker. */
  readonly plugins?: readonly Plugin[];
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
  const { logger } = options;
  for (const warning of config.warnings) logger.warn(warning);
  const plugins = new PluginRegistry([
    ...(await builtInPlugins({ strictJson: config.own['json.converter.strict'] })),
    ...(options.plugins ?? []),
  ]);
  const listeners = config.rest.listeners.map(plainListener);
  const stores = openStores(config, logger);
  const clients = new KafkaTaskClients(config.clients, logger);
  const taskFactory = new TaskFactory({
    plugins,
    clients,
    offsets: stores.offsets,
    defaults: {
      offsetFlushIntervalMs: Number(config.common['offset.flush.interval.ms']),
      offsetFlushTimeoutMs: Number(config.common['offset.flush.timeout.ms']),
      topicCreationEnabled: config.common['topic.creation.enable'],
      converterConfig: config.converterConfig,
    },
    logger,
  });
  const herder = new Herder({
    ...stores,
    mode: config.mode,
    workerId: () => workerId,
    placement: new SoleWorker(config.mode === 'distributed' ? FIRST_GENERATION : 0),
    plugins,
    taskFactory,
    taskStopTimeoutMs: Number(config.common['task.shutdown.graceful.timeout.ms']),
    logger,
  });
  const groupId = config.mode === 'distributed' ? config.distributed['group.id'] : undefined;
  const validation = new ConnectorValidation({
    plugins,
    converterConfig: config.converterConfig,
    workerGroupId: groupId,
  });
  let clusterId = '';
  const rest = new RestServer({ herder, validation, kafkaClusterId: () => clusterId }, logger);
  const ports: number[] = [];
  for (const listener of listeners) ports.push(await rest.listen(listener));
  const services = await startServices(config, logger).catch(async (error: unknown) => {
    await rest.close();
    throw error;
  });
  const workerId = advertised(config, listeners[0], ports[0] ?? 0);
  logger.info(`REST server listening at http://${workerId}/, advertising ${workerId}`);

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
    url: `http://${workerId}`,
    herder,
    validation,
    services: services.addresses,
    started,
    stop: async () => {
      await Promise.all([rest.close(), services.stop()]);
      await herder.stop();
    },
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
    configs: new ConfigStore(open.config, logger),
    offsets: new OffsetStore(open.offset, logger),
    statuses: new StatusStore(open.status, logger),
  };
}

const PURPOSES = {
  config: { clientSuffix: 'configs', purpose: 'connector configurations' },
  offset: { clientSuffix: 'offsets', purpose: 'source connector offsets' },
  status: { clientSuffix: 'statuses', purpose: 'connector and task statuses' },
} as const;

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
      onRecord: ({ key, value }) => {
        if (key !== null) onRecord({ key, value });
      },
    });
}

function plainListener(url: string): Listener {
  const listener = parseListener(url);
  if (listener?.protocol !== 'http') {
    throw new ConfigError(`listeners: ${url} cannot be served; this version listens on http:// only`);
  }
  return listener;
}

/** `rest.advertised.*`, else the first listener; a listener on all addresses is known by this host's own. */
function advertised(config: WorkerConfig, listener: Listener | undefined, port: number): string {
  const host = config.rest['rest.advertised.host.name'] ?? listener?.host ?? '';
  const known = host === '' || host === '0.0.0.0' || host === '::' ? ownAddress() : host;
  return hostPort(known, config.rest['rest.advertised.port'] ?? port);
}

function ownAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
