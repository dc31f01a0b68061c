import type { OverridePolicy } from '../config/override-policy.ts';
import type { WorkerConfig } from '../config/worker-config.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { KafkaTaskClients } from '../connect/tasks/kafka-task-clients.ts';
import { TaskFactory } from '../connect/tasks/task-factory.ts';
import { taskOwner } from '../connect/tasks/task-owner.ts';
import { SourceOffsetStores } from '../herder/stores/source-offset-stores.ts';
import type { Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { Mode } from './mode.ts';

export interface TasksDependencies {
  readonly plugins: PluginRegistry;
  readonly policy: OverridePolicy;
  readonly clusterId: () => Promise<string>;
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/** What tasks are made of: their Kafka clients, the offsets of sources, the factory that builds them. */
export function openTasks(config: WorkerConfig, mode: Mode, dependencies: TasksDependencies) {
  const { plugins, policy, clusterId, secrets, logger } = dependencies;
  const { common, converterConfig } = config;
  const owner = async (): Promise<string> => taskOwner(await clusterId(), mode.workers);
  const clients = new KafkaTaskClients(config.clients, policy, owner, logger);
  const exactlyOnce = mode.exactlyOnce(clients);
  const offsets = new SourceOffsetStores({
    worker: mode.stores.offsets,
    workerTopic: mode.offsetsTopic,
    openTopic: mode.openOffsetsTopic,
    logger,
  });
  const taskFactory = new TaskFactory({
    mayWork: () => mode.placement.mayWork,
    plugins,
    clients,
    offsets,
    defaults: {
      offsetFlushIntervalMs: Number(common['offset.flush.interval.ms']),
      offsetFlushTimeoutMs: Number(common['offset.flush.timeout.ms']),
      topicCreationEnabled: common['topic.creation.enable'],
      exactlyOnce: exactlyOnce?.sources,
      converterConfig,
    },
    secrets,
    logger,
  });
  return { clients, exactlyOnce, offsets, taskFactory };
}
