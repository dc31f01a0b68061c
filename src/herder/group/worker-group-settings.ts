import type { MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { GroupOptions } from '../../kafka/group/group-membership.ts';

export interface WorkerGroupSettings extends GroupOptions {
  /** The URL at which other workers reach this one, with a slash at its end. */
  readonly url: string;
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
