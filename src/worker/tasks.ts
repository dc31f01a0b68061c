import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { WorkerConfig } from '../config/worker-config.ts';
import type { Plugin } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { KafkaTaskClients } from '../connect/tasks/kafka-task-clients.ts';
import type { TaskAssignment } from '../connect/task-assignment.ts';
import { TaskFactory } from '../connect/hosting/task-factory.ts';
import { TaskHost } from '../connect/hosting/task-host.ts';
import { mayWork } from '../herder/group/placement.ts';
import { SourceOffsetStores } from '../herder/stores/source-offset-stores.ts';
import type { OpenTaskHosting } from '../herder/supervision.ts';
import { ReplayTasks } from '../operate/dead-letters/replay-tasks.ts';
import type { LogLevels } from '../observe/log-levels.ts';
import type { Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import { openTaskThread } from '../threads/task-thread.ts';
import { TaskThreads } from '../threads/task-threads.ts';
import type { ThreadList } from '../threads/thread-list.ts';
import { ThreadPool } from '../threads/thread-pool.ts';
import type { Mode } from './mode.ts';
import { clientOverrides, metricWindow, taskDefaults } from './task-settings.ts';
import { threadEntry } from './thread-entry.ts';

export interface TasksDependencies {
  readonly plugins: PluginRegistry;
  /** Plugins that only exist in this thread. */
  readonly given: readonly Plugin[];
  readonly clusterId: () => Promise<string>;
  readonly secrets: SecretMask;
  readonly logLevels: LogLevels;
  readonly threads: ThreadList;
  readonly logger: Logger;
}

/** Limits of the default of `task.threads`, which is one thread per core. */
const MIN_THREADS = 2;
const MAX_THREADS = 8;
/** Number of hash digits in the name of an owner. */
const HASH_DIGITS = 12;

/** Opens the components that tasks need: Kafka clients, the offsets of source connectors, and threads. */
export function openTasks(config: WorkerConfig, mode: Mode, dependencies: TasksDependencies) {
  const { plugins, given, clusterId, secrets, logger } = dependencies;
  const owner = async (): Promise<string> => taskOwner(await clusterId(), mode.workers);
  const clients = new KafkaTaskClients(config.clients, clientOverrides(config), owner, logger);
  const exactlyOnce = mode.exactlyOnce(clients);
  const offsets = new SourceOffsetStores(mode.stores.offsets, mode.offsetsTopic, mode.openOffsetsTopic, logger);
  const factory = new TaskFactory({
    mayWork: () => mayWork(mode.placement),
    plugins,
    clients,
    offsets,
    defaults: taskDefaults(config, exactlyOnce?.sources),
    secrets,
    logger,
  });
  const surroundings = {
    ...dependencies,
    properties: config.properties,
    mode: config.mode,
    exactlyOnceGroup: exactlyOnce && mode.groupId,
  };
  const lent = { offsets, taskOwner: owner, exactlyOnce: exactlyOnce?.sources };
  const entry = threadEntry('./task-thread-entry');
  const openPool = () =>
    new ThreadPool({
      size: threadCount(config),
      hangTimeoutMs: Number(config.own['task.hang.timeout.ms']),
      mayWorkUntil: () => mode.placement.mayWorkUntil,
      open: (purpose, memoryMaxMb, onEvent) =>
        openTaskThread({ purpose, entry, memoryMaxMb }, surroundings, lent, onEvent),
      logger,
    });
  const openHosting: OpenTaskHosting = (configs, onEvent) => {
    const tasks = new TaskHost(new ReplayTasks(factory, clients), configs, onEvent, {
      window: metricWindow(config),
      logger,
    });
    const isNeededFor = async ({ connectorConfig }: TaskAssignment) => {
      const named = await plugins.named(connectorConfig);
      return named.some((plugin) => plugin.needsMainThread === true || given.includes(plugin));
    };
    return new TaskThreads(openPool(), { tasks, isNeededFor }, configs, onEvent, logger);
  };
  return { clients, exactlyOnce, offsets, openHosting, surroundings };
}

/**
 * Returns a name for a set of workers of which at most one runs a task at a time. This is either all workers of a Connect
 * cluster, or a standalone worker with its offset file. By this name, the next worker of a task recognizes the consumer group
 * members of a dead worker. The name stays the same after a restart. It differs between Connect clusters and standalone
 * workers, even if they share a Kafka cluster, a host or connector names. `workers` is the identity of these workers in
 * several parts (see `Mode`).
 */
function taskOwner(clusterId: string, workers: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([clusterId, ...workers]))
    .digest('hex');
  return `sluice-${hash.slice(0, HASH_DIGITS)}`;
}

function threadCount({ own }: WorkerConfig): number {
  return own['task.threads'] ?? Math.min(MAX_THREADS, Math.max(MIN_THREADS, availableParallelism()));
}
