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

/** Runs tasks in worker threads or in the main thread. Events report their state; see TaskEvent. */
export interface TaskHosting {
  /** Prepares for this number of tasks. Returns immediately. */
  prepare(tasks: number): void;
  /** Returns immediately. An earlier task with the same id must have been stopped. */
  start(assignment: TaskAssignment): void;
  setTargetState(id: TaskId, state: TargetState): void;
  /** Sets the limit of a running task. */
  setRateLimit(id: TaskId, limit: RateLimit): void;
  /**
   * Stops tasks in parallel. Tasks that do not stop within `timeoutMs` (shared) can no longer write when this resolves. `handsOver`:
   * other workers will start the tasks immediately, with the handover of the STOPPED event.
   */
  stop(ids: readonly TaskId[], timeoutMs: number, handsOver?: boolean): Promise<unknown>;
  /** Called when this worker may write again or may no longer write; all tasks are informed when this returns. */
  mayWorkChanged(): void;
  /** Reports of all tasks, for metrics, without tasks that do not answer immediately. */
  reports(): Promise<readonly TaskReport[]>;
  /** Recently failed records of a task, oldest first; empty if the task does not answer immediately. */
  faults(id: TaskId): Promise<readonly RecentFault[]>;
  /** The thread of each task, by `connector-task`. Tasks that are starting have none and are missing. */
  places(): ReadonlyMap<string, ThreadName>;
  /** The last known activity of the task's thread, as part of a sentence; `undefined`: unknown. */
  seenAt(id: TaskId): string | undefined;
  /** Called when all tasks have been stopped and no more will be started. */
  close(): Promise<void>;
}
