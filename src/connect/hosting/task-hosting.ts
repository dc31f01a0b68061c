import type { ThreadName } from '../../observe/thread-figures.ts';
import type { RateLimit, TargetState, TaskAssignment, TaskId } from '../task-assignment.ts';
import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import type { RecentFault } from '../pipeline/recent-faults.ts';
import type { TaskDetails } from '../tasks/task-runner.ts';

/** The status of a task. Values that do not exist yet are absent. */
export interface TaskReport {
  readonly id: TaskId;
  readonly type: TaskAssignment['type'];
  /** Metrics of the task and of its plugins. */
  readonly metrics: readonly MetricSet[];
  readonly details: TaskDetails | undefined;
}

/** Runs tasks in worker threads or in the main thread. Events report their state; see TaskEvent in task-assignment.ts. */
export interface TaskHosting {
  /** Prepares for this number of tasks. Returns immediately. */
  prepare(tasks: number): void;
  /** Starts a task and returns immediately. A previous task with the same id must have been stopped. */
  start(assignment: TaskAssignment): void;
  setTargetState(id: TaskId, state: TargetState): void;
  /** Sets the limit of a running task. */
  setRateLimit(id: TaskId, limit: RateLimit): void;
  /**
   * Stops tasks in parallel within a shared time limit. When the promise resolves, a task that ran in a worker thread
   * cannot write any more, even if it did not stop in time. A task in the main thread cannot be terminated; it is
   * abandoned if it does not stop in time. `handsOver` means that other workers will start the tasks immediately; the
   * STOPPED events then contain the handovers for these workers.
   */
  stop(ids: readonly TaskId[], timeoutMs: number, handsOver?: boolean): Promise<unknown>;
  /** Called when this worker may write again or may no longer write. When this returns, all tasks have been informed. */
  mayWorkChanged(): void;
  /** Reports of all tasks, for metrics. Tasks that do not respond immediately are absent. */
  reports(): Promise<readonly TaskReport[]>;
  /** Recently failed records of a task, oldest first. The list is empty if the task does not respond immediately. */
  faults(id: TaskId): Promise<readonly RecentFault[]>;
  /** The thread of each task, by `connector-task`. Tasks that do not have a thread yet are absent. */
  places(): ReadonlyMap<string, ThreadName>;
  /** Describes the last known activity of the task's thread, as part of a sentence; `undefined` if unknown. */
  seenAt(id: TaskId): string | undefined;
  /** Called when all tasks have been stopped and no more tasks will be started. */
  close(): Promise<void>;
}
