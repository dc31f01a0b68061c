import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import type { DeadLetterCounts } from '../pipeline/dead-letter-queue.ts';
import type { ErrorCounts } from '../pipeline/error-policy.ts';
import type { RecentFaults } from '../pipeline/recent-faults.ts';
import type { TaskRunner } from './task-runner.ts';

export interface BuiltTask {
  readonly runner: TaskRunner;
  readonly errors: ErrorCounts;
  /** `undefined`: failed records go nowhere. */
  readonly deadLetters: DeadLetterCounts | undefined;
  /** Records that failed lately. */
  readonly faults: Pick<RecentFaults, 'list'>;
  /** What it is made of. */
  readonly plugins: readonly MetricSet[];
}
