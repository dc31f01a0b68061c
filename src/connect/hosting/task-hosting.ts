import type { ThreadName } from '../../observe/thread-figures.ts';
import type { RateLimit, TargetState, TaskAssignment, TaskId } from '../task-assignment.ts';
import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import type { RecentFault } from '../pipeline/recent-faults.ts';
import type { TaskDetails } from '../tasks/task-runner.ts';

/** The status of a task; values that do not exist yet are absent. */
export interface TaskReport {
  readonly id: TaskId;
  readonly type: TaskAssignment['type'];
  /** The measurements of the task, and its plugins. */
  readonly metrics: readonly MetricSet[];
  readonly details: TaskDetails | undefined;
}

/** Runs tasks, in threads or not. Events report their state; see TaskEvent. */
export interface TaskHosting {
  /** Prepares for this number of tasks. Returns at once. */
  prepare(tasks: number): void;
  /** Returns at once. The task of the same id must have been stopped. */
  start(assignment: TaskAssignment): void;
  setTargetState(id: TaskId, state: TargetState): void;
  /** Sets the limit of a running task. */
  setRateLimit(id: TaskId, limit: RateLimit): void;
  /**
   * Stops tasks side by side; what is not done within `timeoutMs` (shared) cannot write any more when this resolves. `handsOver`:
   * other workers are to start them at once; STOPPED has what they are to be given.
   */
  stop(ids: readonly TaskId[], timeoutMs: number, handsOver?: boolean): Promise<unknown>;
  /** Whether this worker may write has changed: all tasks know it when this returns. */
  mayWorkChanged(): void;
  /** Reports of all tasks, for metrics. A task that does not answer at once is left out. */
  reports(): Promise<readonly TaskReport[]>;
  /** Records of a task that failed lately, oldest first; none for a task that does not answer at once. */
  faults(id: TaskId): Promise<readonly RecentFault[]>;
  /** The thread of each task, by `connector-task`. Tasks without one, because they are starting, are not in it. */
  places(): ReadonlyMap<string, ThreadName>;
  /** The last known activity of the task's thread, as part of a sentence; `undefined`: unknown. */
  seenAt(id: TaskId): string | undefined;
  /** All tasks have been stopped, and no more will be started. */
  close(): Promise<void>;
}
