import { within } from '../async/within.ts';
import { ConnectError, javaTrace, toError } from '../errors.ts';
import {
  taskText,
  type RateLimit,
  type TargetState,
  type TaskAssignment,
  type TaskEvent,
  type TaskId,
} from '../connect/task-assignment.ts';
import { failureFor, failureOf, type Failure } from '../connect/task-failure.ts';
import type { RecentFault } from '../connect/pipeline/recent-faults.ts';
import type { TaskConfigs } from '../connect/hosting/task-host.ts';
import type { TaskHosting, TaskReport } from '../connect/hosting/task-hosting.ts';
import type { Logger } from '../observe/logger.ts';
import type { ThreadName } from '../observe/thread-figures.ts';
import { isOrderly, type ThreadEnd } from './running-thread.ts';
import type { TaskThread } from './task-thread.ts';
import { placeText } from './place-text.ts';
import { Suspects } from './suspects.ts';
import type { ThreadPool } from './thread-pool.ts';

/** A task of this worker. States: starting -> in a thread -> over (FAILED or STOPPED). */
interface PlacedTask {
  readonly assignment: TaskAssignment;
  targetState: TargetState;
  /** Set if the rate limit has changed since the assignment. */
  rateLimit: RateLimit | undefined;
  /** `undefined` before the task is in a thread, and after the thread has ended. */
  thread: TaskThread | 'main' | undefined;
  stopping: boolean;
  /** True if the task is FAILED or STOPPED, so that it is no longer in its thread. */
  over: boolean;
  /** True if the task has been started in a worker thread. The handover of its assignment has then been used. */
  begun: boolean;
}

/** Runs the tasks of plugins that need the main thread. */
export interface MainThread {
  readonly tasks: TaskHosting;
  readonly isNeededFor: (assignment: TaskAssignment) => Promise<boolean>;
}

/** Added to the stop timeout, because messages between threads take time. */
const STOP_MARGIN_MS = 1000;
const REPORT_MS = 1000;

/**
 * Runs tasks in threads. If a thread fails, the task that caused the failure becomes FAILED, and the other tasks of the thread
 * are restarted automatically in another thread. If that task is unknown, all tasks of the thread become FAILED.
 */
export class TaskThreads implements TaskHosting {
  readonly #pool: ThreadPool;
  readonly #mainThread: MainThread;
  readonly #configs: TaskConfigs;
  readonly #onTaskEvent: (event: TaskEvent) => void;
  readonly #logger: Logger;
  readonly #tasks = new Map<string, PlacedTask>();
  readonly #suspects = new Suspects();

  constructor(
    pool: ThreadPool,
    mainThread: MainThread,
    configs: TaskConfigs,
    onEvent: (event: TaskEvent) => void,
    logger: Logger,
  ) {
    this.#pool = pool;
    this.#mainThread = mainThread;
    this.#configs = configs;
    this.#onTaskEvent = onEvent;
    this.#logger = logger;
    pool.listen({
      onEvent: (thread, event) => {
        this.#onEvent(thread, event);
      },
      onEnd: (thread, end) => {
        this.#onEnd(thread, end);
      },
    });
  }

  prepare(tasks: number): void {
    this.#pool.prepare(tasks);
  }

  start(assignment: TaskAssignment): void {
    const task: PlacedTask = {
      assignment,
      targetState: assignment.targetState,
      rateLimit: undefined,
      thread: undefined,
      stopping: false,
      over: false,
      begun: false,
    };
    this.#tasks.set(taskText(assignment.id), task);
    void this.#begin(task);
  }

  setTargetState(id: TaskId, state: TargetState): void {
    const task = this.#tasks.get(taskText(id));
    if (task === undefined) return;
    task.targetState = state;
    if (task.thread === 'main') this.#mainThread.tasks.setTargetState(id, state);
    else task.thread?.calls.tell('setTargetState', id, state);
  }

  setRateLimit(id: TaskId, limit: RateLimit): void {
    const task = this.#tasks.get(taskText(id));
    if (task === undefined) return;
    task.rateLimit = limit;
    this.#tellRateLimit(task);
  }

  async stop(ids: readonly TaskId[], timeoutMs: number, handsOver = false): Promise<void> {
    const placed = ids.flatMap((id) => this.#tasks.get(taskText(id)) ?? []);
    const inMainThread = placed.filter(({ thread }) => thread === 'main').map(({ assignment }) => assignment.id);
    const byThread = new Map<TaskThread, PlacedTask[]>();
    for (const task of placed) {
      task.stopping = true;
      if (task.thread === undefined) {
        // Reports the event immediately, because the next task with this id may have started before `#begin` completes.
        if (!task.over) this.#finish(task, { id: task.assignment.id, state: 'STOPPED' });
        continue;
      }
      if (task.thread === 'main') continue;
      byThread.set(task.thread, [...(byThread.get(task.thread) ?? []), task]);
    }
    await Promise.all([
      this.#mainThread.tasks.stop(inMainThread, timeoutMs, handsOver),
      ...[...byThread].map(([thread, tasks]) => this.#stopIn(thread, tasks, timeoutMs, handsOver)),
    ]);
    for (const { assignment } of placed) this.#tasks.delete(taskText(assignment.id));
    for (const [thread, tasks] of byThread) {
      this.#pool.left(
        thread,
        tasks.map(({ assignment }) => taskText(assignment.id)),
      );
    }
  }

  mayWorkChanged(): void {
    this.#pool.publishMayWork();
  }

  places(): ReadonlyMap<string, ThreadName> {
    const inThreads = [...this.#tasks].flatMap(([task, { thread }]): [string, ThreadName][] =>
      thread === undefined ? [] : [[task, thread === 'main' ? thread : thread.thread]],
    );
    return new Map(inThreads);
  }

  async reports(): Promise<readonly TaskReport[]> {
    const pool = this.#pool;
    const mainThread = this.#mainThread.tasks;
    const requested = pool.threads().map((thread) => this.#reportsOf(thread));
    return (await Promise.all([mainThread.reports(), ...requested])).flat();
  }

  async faults(id: TaskId): Promise<readonly RecentFault[]> {
    const thread = this.#tasks.get(taskText(id))?.thread;
    if (thread === 'main') return this.#mainThread.tasks.faults(id);
    if (thread?.isUp !== true) return [];
    let faults: readonly RecentFault[] = [];
    const requested = thread.calls.call('faults', id).then((found) => (faults = found));
    await within(
      requested.catch(() => []),
      REPORT_MS,
    );
    return faults;
  }

  seenAt(id: TaskId): string | undefined {
    const thread = this.#tasks.get(taskText(id))?.thread;
    const place = thread === undefined || thread === 'main' ? undefined : thread.place();
    return place && placeText(place);
  }

  async close(): Promise<void> {
    await this.#mainThread.tasks.close();
    await this.#pool.close();
  }

  async #begin(task: PlacedTask): Promise<void> {
    const { id } = task.assignment;
    try {
      const isForMainThread = await this.#mainThread.isNeededFor(task.assignment);
      const assignment = isForMainThread ? task.assignment : await this.#configs.resolveAssignment(task.assignment);
      if (task.stopping) return;
      if (isForMainThread) {
        task.thread = 'main';
        this.#mainThread.tasks.start({ ...assignment, targetState: task.targetState });
        this.#tellRateLimit(task);
        return;
      }
      task.thread = this.#pool.deal(assignment);
      const care = this.#suspects.careFor(task.assignment);
      const handover = task.begun ? undefined : assignment.handover;
      task.begun = true;
      task.thread.calls.tell('start', { ...assignment, targetState: task.targetState, care, handover });
      this.#tellRateLimit(task);
    } catch (error) {
      if (task.stopping) return;
      this.#logger.error({ err: error, ...id }, `Failed to start task ${taskText(id)}`);
      this.#finish(task, { id, state: 'FAILED', trace: javaTrace(error), failure: failureOf(error) });
    }
  }

  #tellRateLimit({ assignment, thread, rateLimit }: PlacedTask): void {
    if (rateLimit === undefined) return;
    if (thread === 'main') this.#mainThread.tasks.setRateLimit(assignment.id, rateLimit);
    else thread?.calls.tell('setRateLimit', assignment.id, rateLimit);
  }

  /** Stops tasks of a thread. If they do not stop in time, the thread is terminated, so that they cannot write any more. */
  async #stopIn(
    thread: TaskThread,
    tasks: readonly PlacedTask[],
    timeoutMs: number,
    handsOver: boolean,
  ): Promise<void> {
    const ids = tasks.map(({ assignment }) => assignment.id);
    let overdue: readonly TaskId[] = ids;
    const stopped = thread.calls.call('stop', ids, timeoutMs, handsOver).then(
      (left) => (overdue = left),
      // The thread has ended, and with it its tasks.
      () => (overdue = []),
    );
    await within(stopped, timeoutMs + STOP_MARGIN_MS);
    if (overdue.length === 0) return;
    const names = overdue.map(taskText).join(', ');
    const reason = `${names} did not stop within ${String(timeoutMs)} ms`;
    await thread.end({ kind: 'overdue', reason, error: undefined });
  }

  async #reportsOf(thread: TaskThread): Promise<readonly TaskReport[]> {
    if (!thread.isUp) return [];
    let reports: readonly TaskReport[] = [];
    const requested = thread.calls.call('reports').then((found) => (reports = found));
    await within(
      requested.catch(() => []),
      REPORT_MS,
    );
    return reports;
  }

  #onEvent(thread: TaskThread, event: TaskEvent): void {
    const task = this.#tasks.get(taskText(event.id));
    // Events from a thread that no longer runs the task are ignored.
    if (task?.thread !== thread) return;
    if (event.state === 'PASSED') {
      this.#suspects.passed(event.id.connector, event.passed);
      return;
    }
    if (event.state === 'FAILED' || event.state === 'STOPPED') task.over = true;
    this.#onTaskEvent(event);
  }

  #onEnd(thread: TaskThread, end: ThreadEnd): void {
    const tasks = [...this.#tasks.values()].filter((task) => task.thread === thread);
    for (const task of tasks) task.thread = undefined;
    const culprit = tasks.find(({ assignment, over }) => !over && taskText(assignment.id) === end.culprit);
    if (culprit !== undefined) this.#suspect(culprit, end, endText(thread, end, culprit));
    const left = tasks.filter(({ stopping, over }) => !stopping && !over);
    const isKnown = end.culprit !== undefined || isOrderly(end);
    for (const task of left) {
      const { id } = task.assignment;
      if (isKnown && taskText(id) !== end.culprit) {
        void this.#begin(task);
        continue;
      }
      const error = new ConnectError(endText(thread, end, task), {
        cause: end.error === undefined ? undefined : toError(end.error),
      });
      // The stack of this error is irrelevant, because the stack of the thread is in `cause`.
      error.stack = `${error.name}: ${error.message}`;
      this.#logger.error({ err: error, ...id }, `Task ${taskText(id)} failed. ${error.message}`);
      this.#finish(task, { id, state: 'FAILED', trace: javaTrace(error), failure: failureByEnd(end) });
    }
  }

  /** Records the suspects, and passes them to the other tasks of the connector, which may be assigned the same partitions. */
  #suspect({ assignment }: PlacedTask, end: ThreadEnd, text: string): void {
    this.#suspects.add(assignment, end, text);
    const care = this.#suspects.careFor(assignment);
    if (care === undefined) return;
    for (const other of this.#tasks.values()) {
      const { id } = other.assignment;
      if (id.connector !== assignment.id.connector || other.thread === undefined || other.thread === 'main') continue;
      other.thread.calls.tell('setCare', id, care);
    }
  }

  #finish(task: PlacedTask, event: TaskEvent): void {
    task.over = true;
    this.#onTaskEvent(event);
  }
}

function failureByEnd({ kind, reason, error }: ThreadEnd): Failure {
  if (kind === 'hang' || kind === 'memory') return failureFor(kind, reason);
  return error === undefined ? failureFor('unknown', reason) : failureOf(error);
}

function endText(thread: TaskThread, { kind, reason, place }: ThreadEnd, { assignment }: PlacedTask): string {
  const ended = `Thread ${String(thread.thread)}, in which task ${taskText(assignment.id)} ran, has ended: ${reason}`;
  // The reason of a hang already describes the last activity of the task.
  return place === undefined || kind === 'hang' ? ended : `${ended}, ${placeText(place)}`;
}
