import type { MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { GroupOptions } from '../../kafka/group/group-membership.ts';

export interface WorkerGroupSettings extends GroupOptions {
  /** The URL at which other workers reach this worker; ends with a slash. */
  readonly url: string;
  /** `connect.protocol` */
  readonly protocol: string;
  /** `mixed.group`: determines whether workers other than Sluice may be in the group. */
  readonly mixed: 'allow' | 'refuse';
  /** `scheduled.rebalance.max.delay.ms` */
  readonly maxDelayMs: number;
  /** `worker.sync.timeout.ms` */
  readonly syncTimeoutMs: number;
  /** `worker.unsync.backoff.ms` */
  readonly unsyncBackoffMs: number;
  /** Window of the metrics of rebalances. */
  readonly metricWindow?: MetricWindow;
}
