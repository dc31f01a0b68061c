import type { DistributedWorkerConfig } from '../../config/worker-config.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConfigStore } from '../stores/config-store.ts';
import type { Work } from './group-bytes.ts';
import type { CountedWork } from './known-connectors.ts';
import { WorkerGroup } from './worker-group.ts';
import type { WorkerGroupSettings } from './worker-group-settings.ts';
import { openKafkaGroup } from './worker-membership.ts';

/** Name under which users set the log level of the group. */
const LOGGER = 'org.apache.kafka.connect.runtime.distributed.WorkerCoordinator';

/** Opens the worker group of the configuration. `url` is the URL of this worker's REST API. */
export function openWorkerGroup(
  { common, distributed, own, clients }: DistributedWorkerConfig,
  configs: ConfigStore,
  url: string,
  logger: Logger,
): WorkerGroup {
  const settings: WorkerGroupSettings = {
    url: `${url}/`,
    groupId: distributed['group.id'],
    sessionTimeoutMs: distributed['session.timeout.ms'],
    rebalanceTimeoutMs: distributed['rebalance.timeout.ms'],
    heartbeatIntervalMs: distributed['heartbeat.interval.ms'],
    protocol: distributed['connect.protocol'],
    mixed: own['mixed.group'].toLowerCase() === 'allow' ? 'allow' : 'refuse',
    maxDelayMs: distributed['scheduled.rebalance.max.delay.ms'],
    syncTimeoutMs: distributed['worker.sync.timeout.ms'],
    unsyncBackoffMs: distributed['worker.unsync.backoff.ms'],
    metricWindow: { sampleMs: Number(common['metrics.sample.window.ms']), samples: common['metrics.num.samples'] },
  };
  const groupLogger = logger.child({ logger: LOGGER });
  const group = openKafkaGroup(clients.worker, distributed['client.id'], settings, groupLogger);
  return new WorkerGroup(group, settings, configuredWork(configs), groupLogger);
}

/**
 * Provides the config store to the worker group.
 * @internal
 */
export function configuredWork(configs: ConfigStore): CountedWork {
  return {
    get offset() {
      return configs.offset;
    },
    refresh: () => configs.refresh(),
    taskCount: (connector) => configs.connector(connector)?.taskConfigs.length,
    work: (): Work => {
      const connectors = configs.names();
      const tasks = connectors.flatMap((connector) =>
        (configs.connector(connector)?.taskConfigs ?? []).map((_, task) => ({ connector, task })),
      );
      return { connectors, tasks };
    },
  };
}
