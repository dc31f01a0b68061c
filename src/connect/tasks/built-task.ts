import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import type { DeadLetterCounts } from '../pipeline/dead-letter-queue.ts';
import type { ErrorCounts } from '../pipeline/error-policy.ts';
import type { RecentFaults } from '../pipeline/recent-faults.ts';
import type { TaskAssignment, TaskEvent } from '../task-assignment.ts';
import type { TaskMeasures } from './task-measures.ts';
import type { TaskRunner } from './task-runner.ts';

/** Builds the runner of a task from its assignment. */
export interface TaskBuilder {
  build(assignment: TaskAssignment, measures: TaskMeasures, onEvent: (event: TaskEvent) => void): Promise<BuiltTask>;
}

export interface BuiltTask {
  readonly runner: TaskRunner;
  readonly errors: ErrorCounts;
  /** `undefined` if there is no dead-letter topic, or if the task is a source with `errors.tolerance=none`. */
  readonly deadLetters: DeadLetterCounts | undefined;
  /** Records that failed recently. */
  readonly faults: Pick<RecentFaults, 'list'>;
  /** The plugins of the task. */
  readonly plugins: readonly MetricSet[];
}
