import type { WorkerConfig } from '../config/worker-config.ts';
import type { Plugin } from '../connect/api.ts';
import { ClusterLogLevels } from '../herder/cluster-log-levels.ts';
import { ConnectorDirectory } from '../herder/connector-directory.ts';
import { ConnectorOffsets } from '../herder/connector-offsets.ts';
import { ConnectorReplays } from '../operate/dead-letters/connector-replays.ts';
import { ReplayOffsets } from '../operate/dead-letters/replay-offsets.ts';
import { DeadLetterReader } from '../operate/dead-letters/dead-letter-reader.ts';
import { ConnectorRequests } from '../herder/connector-requests.ts';
import { ConnectorTopics } from '../herder/connector-topics.ts';
import { Herder } from '../herder/herder.ts';
import { LeaderDuties } from '../herder/leader-duties.ts';
import { ConnectorHistory } from '../operate/history/connector-history.ts';
import { DeadLetterReadings } from '../operate/dead-letters/dead-letter-readings.ts';
import { MessageReadings } from '../operate/messages/message-readings.ts';
import { PreviewReadings } from '../operate/preview/preview-readings.ts';
import type { Read } from '../operate/reading.ts';
import { PeerClient } from '../herder/peer-client.ts';
import { mayWork } from '../herder/group/placement.ts';
import { StatusWriter } from '../herder/status-writer.ts';
import { Supervision } from '../herder/supervision.ts';
import type { ConnectorValidation } from '../herder/validation.ts';
import { eventLoopWatch } from '../observe/event-loop-watch.ts';
import { ConnectorLog } from '../observe/connector-log.ts';
import { createKafkaClient } from '../kafka/client/client.ts';
import { LogLevels } from '../observe/log-levels.ts';
import type { Logger } from '../observe/logger.ts';
import type { NamingName } from '../observe/metrics/metric-names.ts';
import { SecretMask } from '../observe/secret-mask.ts';
import { StageTracker } from '../observe/stage.ts';
import { ReaderThreads } from '../threads/reader-threads.ts';
import { ThreadList } from '../threads/thread-list.ts';
import { CONNECT_VERSION } from '../version.ts';
import { peerTls } from '../tls/listener-tls.ts';
import { openListeners, type RestListeners } from '../rest/open-listeners.ts';
import type { ConsoleSettings } from '../operate/console/console-resource.ts';
import { WrittenTopics } from '../operate/console/written-topics.ts';
import { distributedMode } from './distributed.ts';
import { openFeatures } from './features.ts';
import { kafkaClusterId, kafkaTopics } from './kafka-cluster.ts';
import type { Mode, OwnAddress } from './mode.ts';
import { performReading, type Reading } from './readings.ts';
import { served, type ServedParts } from './routes.ts';
import { connectorValidation, openPlugins, type OpenedPlugins } from './plugins.ts';
import { databaseApi, openServices, type RunningServices } from './services.ts';
import { standaloneMode } from './standalone.ts';
import { metricWindow } from './task-settings.ts';
import { openTasks } from './tasks.ts';
import { threadEntry } from './thread-entry.ts';

export interface WorkerOptions {
  readonly logger: Logger;
  /** Plugins in addition to the built-in ones. */
  readonly plugins?: readonly Plugin[];
  /** Receives the values of config providers. The logger should use the same object. */
  readonly secrets?: SecretMask;
  /** Receives the lines that the logger writes. Without it, the console shows no log. */
  readonly tail?: ConnectorLog;
}

export interface Worker {
  /** URL of the management API. */
  readonly url: string;
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  readonly offsets: ConnectorOffsets;
  /** Addresses of the services, by name. */
  readonly services: Readonly<Record<string, string>>;
  /** Resolves when the herder has started. Rejects if it fails to start. */
  readonly started: Promise<void>;
  /** Stops the API and the services, then tasks and connectors, and then the stores. */
  stop(): Promise<void>;
  /** Number of threads that cannot be terminated. They would prevent the process from exiting. */
  threadsLeftBehind(): number;
}

/**
 * The composition root: builds all parts, and defines the order of start and stop. As in Java, the management API
 * listens first. Until the worker has been built, `/health` responds with 503, and other requests wait. Resolves when
 * the worker has been built and its services have started. The herder then starts in the background (`started`), and
 * `/health` reports its progress.
 */
export async function startWorker(config: WorkerConfig, options: WorkerOptions): Promise<Worker> {
  const { logger, secrets = new SecretMask(), plugins = [], tail: connectorLog = new ConnectorLog() } = options;
  for (const warning of config.warnings) logger.warn(warning);
  const logLevels = new LogLevels(logger);
  const threads = new ThreadList();
  const stage = new StageTracker();
  const restLogger = logger.child({ logger: 'org.apache.kafka.connect.runtime.rest' });
  const listeners = await openListeners(config, { stage, secrets, logger: restLogger });
  logger.info(`REST server listening at ${listeners.url}/, advertising ${listeners.advertised}`);
  for (const url of listeners.metricsUrls) logger.info(`Metrics are at ${url}/metrics`);
  let opened: OpenedPlugins | undefined;
  let built: BuiltWorker;
  let services: RunningServices | undefined;
  try {
    opened = await stage.during('loading plugins', () => openPlugins(config, { plugins, secrets, logger }));
    logger.info(`Kafka version: ${CONNECT_VERSION}`);
    built = build(config, { listeners, stage, secrets, plugins, opened, logLevels, threads, logger });
    listeners.serve(
      served({
        ...built,
        connectorLog,
        databaseApi: () => databaseApi(config, services?.addresses ?? {}),
        secrets,
        logger: restLogger,
      }),
    );
    logger.info('REST resources initialized; server is started and ready to handle requests');
    services = await openServices(config, { secrets, logLevels, threads, logger });
  } catch (error) {
    await Promise.allSettled([listeners.close(), opened?.resolver.close()]);
    throw error;
  }
  const { resolver } = opened;
  const { herder, validation, offsets, readers } = built;
  const stopWatching = eventLoopWatch.start(logger);
  const start = async () => {
    // `taskOwner` (tasks.ts) is a hash that includes the cluster id, so the id must be known before tasks start.
    await stage.during('asking for the id of the Kafka cluster', built.kafkaClusterId);
    await herder.start();
    logger.info('Kafka Connect started');
  };
  const started = start();
  started.catch(() => undefined);
  return {
    url: listeners.url,
    herder,
    validation,
    offsets,
    services: services.addresses,
    started,
    threadsLeftBehind: () => threads.leftBehind,
    stop: async () => {
      try {
        await Promise.all([listeners.close(), services.stop(), readers.stop()]);
        await herder.stop();
        await resolver.close();
      } finally {
        stopWatching();
      }
    },
  };
}

interface BuiltWorker extends Omit<ServedParts, 'databaseApi' | 'connectorLog' | 'secrets' | 'logger'> {
  readonly readers: Pick<ReaderThreads<Reading>, 'stop'>;
}

interface BuildDependencies {
  readonly listeners: RestListeners;
  readonly stage: StageTracker;
  readonly secrets: SecretMask;
  readonly plugins: readonly Plugin[];
  readonly opened: OpenedPlugins;
  readonly logLevels: LogLevels;
  readonly threads: ThreadList;
  readonly logger: Logger;
}

/** Builds the parts of the worker without starting them. */
function build(config: WorkerConfig, dependencies: BuildDependencies): BuiltWorker {
  const { listeners, stage, secrets, logLevels, threads, logger } = dependencies;
  const { plugins, resolver } = dependencies.opened;
  const { common, converterConfig } = config;
  const peers = new PeerClient(peerTls(config.properties));
  const mode = openMode(config, listeners, peers, logger);
  const { configs, statuses } = mode.stores;
  const clusterId = kafkaClusterId(config.clients.worker, logger);
  const { clients, exactlyOnce, offsets, openHosting, surroundings } = openTasks(config, mode, {
    plugins,
    given: dependencies.plugins,
    clusterId,
    secrets,
    logLevels,
    threads,
    logger,
  });
  const topics = new ConnectorTopics(
    statuses,
    { enabled: common['topic.tracking.enable'], resettable: common['topic.tracking.allow.reset'] },
    logger,
  );
  const herderLogger = logger.child({ logger: mode.herderLogger });
  const workerId = listeners.advertised;
  const maxChanges = config.own['history.max.changes'];
  const history = new ConnectorHistory(
    { ...mode.stores, plugins, workerId, maxChanges, logger: herderLogger },
    (text) => secrets.hide(text),
  );
  const taskStopTimeoutMs = Number(common['task.shutdown.graceful.timeout.ms']);
  const { stores, placement, leader } = mode;
  const directory = new ConnectorDirectory(configs, statuses, plugins);
  const statusSource = {
    workerId,
    generation: () => placement.generation,
    mayWork: () => mayWork(placement),
    version: (connector: string) => directory.plugin(connector)?.version ?? null,
    hide: (trace: string) => secrets.hide(trace),
  };
  const statusWriter = new StatusWriter(statuses, statusSource, herderLogger);
  const supervision = new Supervision(
    { stores, statusWriter, placement, plugins, resolver, openHosting, leader, logger: herderLogger },
    { taskStopTimeoutMs, metricWindow: metricWindow(config) },
  );
  const fenceZombies = exactlyOnce && ((name: string) => exactlyOnce.fencing.fence(name));
  const requests = new ConnectorRequests(
    { stores, directory, placement, supervision, recorder: history, stage, fenceZombies },
    mode.answers,
  );
  const duties = new LeaderDuties(stores, statusWriter, mode.sessionKeys, herderLogger);
  const parts = { stores, placement, directory, requests, supervision, duties, stage, logger: herderLogger };
  const herder = new Herder(workerId, parts);
  herder.listen(topics, new ClusterLogLevels(logLevels, herderLogger));
  const { health, fleet, replays, metricsSource } = openFeatures(herder, mode, history, {
    resolver,
    secrets,
    workerConfig: config.properties,
    taskStopTimeoutMs,
    readOffsets: (name) => connectorOffsets.preview(name, { to: 'latest' }),
    logger: herderLogger,
  });
  const connectorOffsets: ConnectorOffsets = new ConnectorOffsets({
    configs,
    offsets,
    plugins,
    resolver,
    clients,
    tasksEnded: (name) => herder.tasksEnded(name),
    exactlyOnce,
  });
  const cluster = { workerGroupId: mode.groupId, exactlyOnceSources: exactlyOnce !== undefined };
  const validation = connectorValidation(config, dependencies.opened, secrets, cluster, herderLogger);
  const readers = new ReaderThreads<Reading>(threadEntry('./reader-thread-entry'), surroundings);
  const readingParts = { plugins, validation, clients, converterConfig, secrets, resolver };
  // Plugins that were passed in the options only exist in the main thread of this process.
  const read: Read<Reading> = (reading, options) =>
    dependencies.plugins.length > 0
      ? performReading(reading, readingParts, options.signal)
      : readers.read(reading, options);
  const deadLetterReadings = new DeadLetterReadings(directory, replays, read);
  return {
    herder,
    validation,
    offsets: connectorOffsets,
    readings: {
      deadLetters: deadLetterReadings,
      messages: new MessageReadings(directory, topics, read),
      previews: new PreviewReadings(read),
    },
    readers,
    health,
    history,
    fleet,
    metricsSource,
    replays: new ConnectorReplays({
      directory: herder.directory,
      requests: herder.requests,
      replays,
      validation,
      reader: new DeadLetterReader(clients),
      readings: deadLetterReadings,
      offsets: new ReplayOffsets(plugins, resolver, clients),
      secrets,
    }),
    topics,
    logLevels,
    peers,
    threads,
    metricNamings: config.own['metrics.naming'] as readonly NamingName[],
    kafkaClusterId: clusterId,
    kafkaTopics: kafkaTopics(config.clients.worker, logger),
    writtenTopics: new WrittenTopics(
      () => createKafkaClient(config.clients.worker, logger).survey(),
      common['topic.creation.enable'],
    ),
    signatureAlgorithms: mode.signatureAlgorithms,
    drains: mode.drains,
    internalTopics: mode.internalTopics,
    console: config.own.console === 'on' ? consoleSettings(config) : undefined,
  };
}

function consoleSettings({ own, rest }: WorkerConfig): ConsoleSettings {
  const [readOnly, title] = [own['console.read.only'], own['console.title']];
  return { readOnly, title, adminListeners: rest['admin.listeners'] ?? undefined };
}

function openMode(config: WorkerConfig, own: OwnAddress, peers: PeerClient, logger: Logger): Mode {
  if (config.mode === 'standalone') return standaloneMode(config, own.advertised, logger);
  return distributedMode(config, own, peers, logger);
}
