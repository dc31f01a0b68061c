import type { DistributedWorkerConfig } from '../config/worker-config.ts';
import type { ExactlyOnceSources } from '../connect/source/source-task-parts.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import { transactionalIds } from '../connect/source/transactional-id.ts';
import type { TaskId } from '../connect/task-assignment.ts';
import { withAdmin, type TaskClients } from '../connect/tasks/task-clients.ts';
import type { Logger } from '../observe/logger.ts';
import type { Placement } from './group/placement.ts';
import type { Leader } from './leader-requests.ts';
import type { ConfigStore } from './stores/config-store.ts';
import { ZombieFencing } from './zombie-fencing.ts';

/** Exactly-once delivery of source connectors. */
export interface ExactlyOnce {
  readonly sources: ExactlyOnceSources;
  readonly fencing: ZombieFencing;
}

/** Returns true if `exactly.once.source.support` is `enabled`. */
export function offersExactlyOnce({ distributed }: DistributedWorkerConfig): boolean {
  return distributed['exactly.once.source.support'].toLowerCase() === 'enabled';
}

/**
 * If `exactly.once.source.support` is `enabled`, returns what source tasks need to write in transactions. With
 * `disabled` or `preparing`, returns `undefined`; tasks then write without transactions.
 */
export function exactlyOnceSources(
  config: DistributedWorkerConfig,
  configs: ConfigStore,
  clients: TaskClients,
  leader: Leader,
  placement: Pick<Placement, 'generation'>,
  logger: Logger,
): ExactlyOnce | undefined {
  if (!offersExactlyOnce(config)) return undefined;
  const transactionalId = transactionalIds(config.distributed['group.id']);
  const fence = async (connector: string, config: ConnectorConfig, tasks: readonly TaskId[]): Promise<void> => {
    await withAdmin(clients, { name: connector, config }, (admin) => admin.fenceProducers(tasks.map(transactionalId)));
  };
  const fencing = new ZombieFencing(configs, fence, () => placement.generation, logger);
  const sources: ExactlyOnceSources = {
    transactionalId,
    fenceZombies: (connector) => leader.fence(connector, () => fencing.fence(connector)),
  };
  return { sources, fencing };
}
