import type { GroupOptions } from '../../kafka/group-membership.ts';

export interface WorkerGroupSettings extends GroupOptions {
  /** `connect.protocol` */
  readonly protocol: string;
  /** `scheduled.rebalance.max.delay.ms` */
  readonly maxDelayMs: number;
  /** `worker.sync.timeout.ms` */
  readonly syncTimeoutMs: number;
  /** `worker.unsync.backoff.ms` */
  readonly unsyncBackoffMs: number;
}
