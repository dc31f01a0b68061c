import { javaTrace } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { taskText, type TargetState, type TaskAssignment, type TaskEvent, type TaskId } from './task-assignment.ts';
import type { TaskFactory } from './task-factory.ts';
import type { ErrorCounts } from '../pipeline/error-policy.ts';
import { newCounts, type TaskCounts, type TaskDetails, type TaskRunner } from './task-runner.ts';

interface HostedTask {
  readonly id: TaskId;
  targetState: TargetState;
  runner: TaskRunner | undefined;
  readonly type: TaskAssignment['type'];
  counts: TaskCounts;
  errors: ErrorCounts | undefined;
  stopping: boolean;
  /** Set when the stop took too long: from then on the task may not say anything any more. */
  muted: boolean;
  ended: Promise<void>;
}

/** Puts values in the place of variables when a task is started; the task FAILS when that cannot be done. */
export interface TaskConfigs {
  resolveAssignment(assignment: TaskAssignment): Promise<TaskAssignment>;
}

/** How a task is doing; what it has not come to yet is absent. */
export interface TaskReport {
  readonly id: TaskId;
  readonly type: TaskAssignment['type'];
  readonly counts: TaskCounts;
  readonly errors: ErrorCounts | undefined;
  readonly details: TaskDetails | undefined;
}

/**
 * Runs tasks and tells how they fare. Nothing a task does reaches another one or the caller: a failure is an event.
 *
 * A task: starting -> RUNNING <-> PAUSED -> STOPPED, or FAILED from anywhere. A failed task stays known until it is
 * stopped or replaced.
 */
export class TaskHost {
  readonly #factory: TaskFactory;
  readonly #configs: TaskConfigs;
  readonly #onEvent: (event: TaskEvent) => void;
  readonly #logger: Logger;
  readonly #tasks = new Map<string, HostedTask>();

  constructor(factory: TaskFactory, configs: TaskConfigs, onEvent: (event: TaskEvent) => void, logger: Logger) {
    this.#factory = factory;
    this.#configs = configs;
    this.#onEvent = onEvent;
    this.#logger = logger;
  }

  /** Returns at once; events tell the rest. The task of the same id must have been stopped. */
  start(assignment: TaskAssignment): void {
    const key = taskText(assignment.id);
    const hosted: HostedTask = {
      id: assignment.id,
      targetState: assignment.targetState,
      runner: undefined,
      type: assignment.type,
      counts: newCounts(),
      errors: undefined,
      stopping: false,
      muted: false,
      ended: Promise.resolve(),
    };
    this.#tasks.set(key, hosted);
    hosted.ended = this.#run(hosted, assignment);
  }

  setTargetState(id: TaskId, state: TargetState): void {
    const hosted = this.#tasks.get(taskText(id));
    if (hosted === undefined) return;
    hosted.targetState = state;
    if (state === 'STARTED') hosted.runner?.resume();
    else hosted.runner?.pause();
  }

  /** Stops tasks side by side; those not done within `timeoutMs` (shared) are left behind, silent. */
  async stop(ids: readonly TaskId[], timeoutMs: number): Promise<void> {
    const stopping = ids.flatMap((id) => this.#tasks.get(taskText(id)) ?? []);
    for (const hosted of stopping) {
      hosted.stopping = true;
      hosted.runner?.stop();
    }
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    const done = new Set<HostedTask>();
    await Promise.race([Promise.all(stopping.map((hosted) => hosted.ended.then(() => done.add(hosted)))), timeout]);
    clearTimeout(timer);
    for (const hosted of stopping) {
      this.#tasks.delete(taskText(hosted.id));
      if (done.has(hosted)) continue;
      hosted.muted = true;
      hosted.runner?.cancel?.();
      this.#logger.warn(
        { connector: hosted.id.connector, task: hosted.id.task },
        `Graceful stop of task ${taskText(hosted.id)} failed: it did not end within ${String(timeoutMs)} ms`,
      );
    }
  }

  /** All tasks known here, for metrics. */
  reports(): readonly TaskReport[] {
    return [...this.#tasks.values()].map(({ id, type, counts, errors, runner }) => {
      return { id, type, counts, errors, details: runner?.details() };
    });
  }

  /** Running totals of all tasks known here, by `connector-task`. */
  counts(): ReadonlyMap<string, TaskCounts> {
    return new Map([...this.#tasks].map(([key, hosted]) => [key, hosted.counts]));
  }

  async #run(hosted: HostedTask, assignment: TaskAssignment): Promise<void> {
    const tell = (event: TaskEvent) => {
      if (!hosted.muted) this.#onEvent(event);
    };
    try {
      const built = await this.#factory.build(await this.#configs.resolveAssignment(assignment), tell);
      hosted.runner = built.runner;
      hosted.counts = built.counts;
      hosted.errors = built.errors;
      if (hosted.stopping) built.runner.stop();
      else if (hosted.targetState !== assignment.targetState) this.setTargetState(hosted.id, hosted.targetState);
      await built.runner.run();
      tell({ id: hosted.id, state: 'STOPPED' });
    } catch (error) {
      this.#logger.error(
        { err: error, connector: hosted.id.connector, task: hosted.id.task },
        `Task ${taskText(hosted.id)} threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted`,
      );
      tell({ id: hosted.id, state: 'FAILED', trace: javaTrace(error) });
    }
  }
}
