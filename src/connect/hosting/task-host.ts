import { within } from '../../async/within.ts';
import { javaTrace } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { ThreadName } from '../../observe/thread-figures.ts';
import { ownedBy, ownedByNobody, type CodeOwner } from '../../observe/unhandled-errors.ts';
import {
  isState,
  taskText,
  type RateLimit,
  type TargetState,
  type TaskAssignment,
  type TaskCare,
  type TaskEvent,
  type TaskId,
} from '../task-assignment.ts';
import { failureOf } from '../task-failure.ts';
import type { BuiltTask, TaskBuilder } from '../tasks/built-task.ts';
import type { TaskHosting, TaskReport } from './task-hosting.ts';
import { TopicReports } from './topic-reports.ts';
import type { RecentFault } from '../pipeline/recent-faults.ts';
import type { TaskMetric, TaskPart } from '../api.ts';
import { TaskMeasures } from '../tasks/task-measures.ts';
import { taskMetrics } from '../tasks/task-metrics.ts';
import type { TaskDetails, TaskRunner } from '../tasks/task-runner.ts';

const UNRECOVERABLE = 'Task is being killed';

interface HostedTask {
  readonly id: TaskId;
  readonly owner: CodeOwner;
  targetState: TargetState;
  /** Set if the rate limit has changed since the assignment. */
  rateLimit: RateLimit | undefined;
  /** Set if the TaskCare has changed since the assignment. */
  care: TaskCare | undefined;
  runner: TaskRunner | undefined;
  readonly type: TaskAssignment['type'];
  readonly measures: TaskMeasures;
  built: BuiltTask | undefined;
  stopping: boolean;
  handsOver: boolean;
  /** True after an unhandled error set the task to FAILED. The result of its runner is then ignored. */
  hasFailed: boolean;
  /** True after the stop of the task timed out. Further events of the task are then ignored. */
  muted: boolean;
  ended: Promise<void>;
}

/** Resolves the variables in a task's configuration when the task starts. The task fails if a config provider fails. */
export interface TaskConfigs {
  resolveAssignment(assignment: TaskAssignment): Promise<TaskAssignment>;
}

/**
 * Runs tasks and reports their state. The failure of a task is reported as an event; it does not affect other tasks or the
 * caller.
 *
 * States of a task: starting -> RUNNING or PAUSED; RUNNING <-> PAUSED; any state -> STOPPED or FAILED. A failed task is
 * kept until it is stopped or replaced.
 */
export class TaskHost implements TaskHosting {
  readonly #builder: TaskBuilder;
  readonly #configs: TaskConfigs;
  readonly #window: MetricWindow;
  readonly #onEvent: (event: TaskEvent) => void;
  readonly #logger: Logger;
  readonly #tasks = new Map<string, HostedTask>();

  constructor(
    builder: TaskBuilder,
    configs: TaskConfigs,
    onEvent: (event: TaskEvent) => void,
    { window, logger }: { readonly window: MetricWindow; readonly logger: Logger },
  ) {
    this.#builder = builder;
    this.#window = window;
    this.#configs = configs;
    this.#onEvent = onEvent;
    this.#logger = logger;
  }

  prepare(): void {
    // There is nothing to prepare, because the tasks run in this thread.
  }

  /** Returns immediately; events report the progress. A previous task with the same id must have been stopped. */
  start(assignment: TaskAssignment): void {
    const key = taskText(assignment.id);
    const hosted: HostedTask = {
      id: assignment.id,
      owner: {
        name: `task ${key}`,
        onUnhandled: (error) => {
          this.#fail(hosted, error);
        },
      },
      targetState: assignment.targetState,
      rateLimit: undefined,
      care: undefined,
      runner: undefined,
      type: assignment.type,
      measures: new TaskMeasures(this.#window, assignment.targetState === 'STARTED' ? 'RUNNING' : 'PAUSED'),
      built: undefined,
      stopping: false,
      handsOver: false,
      hasFailed: false,
      muted: false,
      ended: Promise.resolve(),
    };
    this.#tasks.set(key, hosted);
    hosted.ended = ownedBy(hosted.owner, () => this.#run(hosted, assignment));
  }

  setTargetState(id: TaskId, state: TargetState): void {
    const hosted = this.#tasks.get(taskText(id));
    if (hosted === undefined) return;
    hosted.targetState = state;
    if (state === 'STARTED') hosted.runner?.resume();
    else hosted.runner?.pause();
  }

  setRateLimit(id: TaskId, limit: RateLimit): void {
    const hosted = this.#tasks.get(taskText(id));
    if (hosted === undefined) return;
    hosted.rateLimit = limit;
    hosted.runner?.setRateLimit(limit);
  }

  setCare(id: TaskId, care: TaskCare): void {
    const hosted = this.#tasks.get(taskText(id));
    if (hosted === undefined) return;
    hosted.care = care;
    hosted.runner?.setCare?.(care);
  }

  /** Stops tasks. Abandons tasks that do not stop in time, ignores their further events, and resolves with their ids. */
  async stop(ids: readonly TaskId[], timeoutMs: number, handsOver = false): Promise<readonly TaskId[]> {
    const stopping = ids.flatMap((id) => this.#tasks.get(taskText(id)) ?? []);
    for (const hosted of stopping) {
      hosted.stopping = true;
      hosted.handsOver = handsOver;
      this.#stopRunner(hosted);
    }
    const done = new Set<HostedTask>();
    await within(Promise.all(stopping.map((hosted) => hosted.ended.then(() => done.add(hosted)))), timeoutMs);
    const abandoned = stopping.filter((hosted) => !done.has(hosted));
    for (const hosted of stopping) {
      this.#tasks.delete(taskText(hosted.id));
      if (done.has(hosted)) continue;
      hosted.muted = true;
      ownedBy(hosted.owner, () => hosted.runner?.cancel?.());
      this.#logger.warn(
        { connector: hosted.id.connector, task: hosted.id.task },
        `Graceful stop of task ${taskText(hosted.id)} failed: it did not end within ${String(timeoutMs)} ms`,
      );
    }
    return abandoned.map(({ id }) => id);
  }

  mayWorkChanged(): void {
    // There is nothing to do, because tasks of this thread check `mayWork` before they write.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  places(): ReadonlyMap<string, ThreadName> {
    return new Map([...this.#tasks.keys()].map((task) => [task, 'main']));
  }

  reports(): Promise<readonly TaskReport[]> {
    const reports = [...this.#tasks.values()].map(({ id, type, measures, built, runner }) => {
      const details = this.#detailsOf(id, runner);
      return { id, type, metrics: taskMetrics({ id, type, measures, built, details }), details };
    });
    return Promise.resolve(reports);
  }

  seenAt(): undefined {
    return undefined;
  }

  faults(id: TaskId): Promise<readonly RecentFault[]> {
    return Promise.resolve(this.#tasks.get(taskText(id))?.built?.faults.list() ?? []);
  }

  /** Calls the plugin for the details of a task. An error must not prevent the reports of other tasks. */
  #detailsOf(id: TaskId, runner: TaskRunner | undefined): TaskDetails | undefined {
    try {
      const details = runner?.details();
      return details && { ...details, parts: details.parts.map(plainPart), metrics: details.metrics?.map(plainMetric) };
    } catch (error) {
      this.#logger.warn({ err: error, ...id }, `Failed to read the details of task ${taskText(id)}`);
      return undefined;
    }
  }

  #stopRunner(hosted: HostedTask): void {
    ownedBy(hosted.owner, () => hosted.runner?.stop(hosted.handsOver));
  }

  /** Handles an unhandled error of the task: sets the task to FAILED immediately, and then stops its runner. */
  #fail(hosted: HostedTask, error: Error): void {
    const { id } = hosted;
    const isOver = hosted.hasFailed || hosted.stopping || this.#tasks.get(taskText(id)) !== hosted;
    const consequence = isOver ? 'The task has already ended' : UNRECOVERABLE;
    this.#logger[isOver ? 'warn' : 'error']({ err: error, ...id }, `${error.message}. ${consequence}`);
    if (isOver) return;
    hosted.hasFailed = true;
    hosted.measures.is('FAILED');
    this.#onEvent({ id, state: 'FAILED', trace: javaTrace(error), failure: failureOf(error) });
    this.#stopRunner(hosted);
  }

  #notify(event: TaskEvent): void {
    ownedByNobody(() => {
      this.#onEvent(event);
    });
  }

  async #run(hosted: HostedTask, assignment: TaskAssignment): Promise<void> {
    const { id } = hosted;
    const topics = new TopicReports((topic) => {
      if (!hosted.muted) this.#notify({ id, state: 'TOPIC', topic });
    });
    const report = (event: TaskEvent): void => {
      if (event.state === 'TOPIC') {
        topics.used(event.topic);
        return;
      }
      if (event.state === 'STOPPED' || event.state === 'FAILED') topics.flush();
      if (hosted.muted || hosted.hasFailed) return;
      if (isState(event)) hosted.measures.is(event.state);
      this.#notify(event);
    };
    try {
      const resolved = await this.#configs.resolveAssignment(assignment);
      const built = await this.#builder.build(resolved, hosted.measures, report);
      hosted.runner = built.runner;
      hosted.built = built;
      if (hosted.rateLimit !== undefined) built.runner.setRateLimit(hosted.rateLimit);
      if (hosted.care !== undefined) built.runner.setCare?.(hosted.care);
      if (hosted.stopping || hosted.hasFailed) built.runner.stop(hosted.handsOver);
      else if (hosted.targetState !== assignment.targetState) this.setTargetState(hosted.id, hosted.targetState);
      await built.runner.run();
      report({ id: hosted.id, state: 'STOPPED', handover: built.runner.handover });
    } catch (error) {
      this.#logger.error(
        { err: error, connector: hosted.id.connector, task: hosted.id.task },
        `Task ${taskText(hosted.id)} threw an uncaught and unrecoverable exception. ${UNRECOVERABLE}`,
      );
      report({ id: hosted.id, state: 'FAILED', trace: javaTrace(error), failure: failureOf(error) });
    }
  }
}

/** Copies the members, because objects of a plugin's own classes cannot be sent to other threads. */
function plainMetric({ name, help, labels, value }: TaskMetric): TaskMetric {
  return { name, help, labels: { ...labels }, value };
}

function plainPart({ name, state, error, counts }: TaskPart): TaskPart {
  return { name, state, error, counts: { ...counts } };
}
