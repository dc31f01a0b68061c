import type { GroupOptions } from '../../kafka/group-membership.ts';

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
}
