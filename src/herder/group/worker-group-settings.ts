import type { MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { ClientProperties } from '../../kafka/api.ts';
import type { GroupOptions } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import type { CountedWork } from './known-connectors.ts';

export interface WorkerGroupSettings extends GroupOptions {
  /** `connect.protocol` */
  readonly protocol: string;
  /** `mixed.group`: whether members that are no Sluice workers may be in the group. */
  readonly mixed: 'allow' | 'refuse';
  /** `scheduled.rebalance.max.delay.ms` */
  readonly maxDelayMs: number;
  /** `worker.sync.timeout.ms` */
  readonly syncTimeoutMs: number;
  /** `worker.unsync.backoff.ms` */
  readonly unsyncBackoffMs: number;
  /** Over which time figures of rebalances are computed. */
  readonly metricWindow?: MetricWindow;
}

export interface WorkerGroupDependencies {
  readonly settings: WorkerGroupSettings;
  /** Of the worker's own Kafka clients. */
  readonly client: ClientProperties;
  /** `client.id`; empty: named by this worker's address. */
  readonly clientId: string;
  /** By which other workers reach this one, with a slash at its end. */
  readonly url: string;
  readonly configured: CountedWork;
  readonly logger: Logger;
}
