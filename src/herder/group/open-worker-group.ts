import type { DistributedWorkerConfig } from '../../config/worker-config.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConfigStore } from '../stores/config-store.ts';
import type { Work } from './group-bytes.ts';
import type { CountedWork } from './known-connectors.ts';
import { WorkerGroup } from './worker-group.ts';

/** By this name users set the level of what the group logs. */
const LOGGER = 'org.apache.kafka.connect.runtime.distributed.WorkerCoordinator';

/** The group of a worker's configuration. `url`: this worker's REST API. */
export function openWorkerGroup(
  { common, distributed, own, clients }: DistributedWorkerConfig,
  configs: ConfigStore,
  url: string,
  logger: Logger,
): WorkerGroup {
  return new WorkerGroup({
    settings: {
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
    },
    client: clients.worker,
    clientId: distributed['client.id'],
    url: `${url}/`,
    configured: configuredWork(configs),
    logger: logger.child({ logger: LOGGER }),
  });
}

/**
 * The config store as the division of work sees it.
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
