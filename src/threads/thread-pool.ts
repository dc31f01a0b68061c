import { taskText, type TaskAssignment, type TaskEvent } from '../connect/task-assignment.ts';
import type { Logger } from '../observe/logger.ts';
import { HangWatch } from './hang-watch.ts';
import { isOrderly, type ThreadEnd } from './running-thread.ts';
import type { TaskThread } from './task-thread.ts';

export interface ThreadPoolOptions {
  /** `task.threads` */
  readonly size: number;
  /** `task.hang.timeout.ms` */
  readonly hangTimeoutMs: number;
  /** An idle thread is terminated after this time to free its memory. */
  readonly idleMs?: number;
  /** Returns the time until which this worker may write; see Placement in herder/group/placement.ts. */
  readonly mayWorkUntil: () => number;
  readonly open: OpenThread;
  readonly logger: Logger;
}

/** Starts a thread. `onEvent` receives the events of its tasks. */
export type OpenThread = (
  purpose: string,
  memoryMaxMb: number | undefined,
  onEvent: (thread: TaskThread, event: TaskEvent) => void,
) => TaskThread;

export interface ThreadListener {
  onEvent(thread: TaskThread, event: TaskEvent): void;
  onEnd(thread: TaskThread, end: ThreadEnd): void;
}

interface PooledThread {
  readonly thread: TaskThread;
  /** Connector by task. */
  readonly tasks: Map<string, string>;
  /** The name of the only task of the thread, if `task.isolation=own`. */
  readonly own: string | undefined;
  idleTimer: NodeJS.Timeout | undefined;
}

const IDLE_MS = 30_000;
const PUBLISH_MS = 100;

/**
 * The threads of tasks. Threads are started on demand and terminated after they have been idle. Tasks are distributed evenly.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #pooled = new Map<TaskThread, PooledThread>();
  readonly #publishing: NodeJS.Timeout;
  readonly #hangs: HangWatch;
  #listener: ThreadListener | undefined;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    this.#publishing = setInterval(() => {
      this.publishMayWork();
    }, PUBLISH_MS).unref();
    this.#hangs = new HangWatch(options.hangTimeoutMs, () => this.threads(), options.logger);
  }

  /** Must be called once, before the first task. */
  listen(listener: ThreadListener): void {
    this.#listener = listener;
  }

  threads(): readonly TaskThread[] {
    return [...this.#pooled.keys()];
  }

  /** Updates the time until which all threads may write. */
  publishMayWork(): void {
    const until = this.#options.mayWorkUntil();
    for (const { board } of this.#pooled.keys()) board.mayWorkUntil = until;
  }

  /** Starts threads for tasks that will be started soon. */
  prepare(tasks: number): void {
    while (this.#pooled.size < Math.min(tasks, this.#options.size)) this.#endWhenIdle(this.#open(undefined));
  }

  /**
   * Returns the thread for a task. With `task.isolation=own`, it is a thread of its own. Otherwise, it is an idle
   * shared thread, or a new thread while there are fewer shared threads than `task.threads`, or else the shared thread
   * with the fewest tasks of the connector. Among several of these, the thread with the fewest tasks in total is
   * chosen.
   */
  deal(assignment: TaskAssignment): TaskThread {
    const task = taskText(assignment.id);
    const { connector } = assignment.id;
    const pooled = isOwn(assignment) ? this.#open(task, memoryMaxMb(assignment)) : this.#leastBusy(connector);
    clearTimeout(pooled.idleTimer);
    pooled.tasks.set(task, connector);
    return pooled.thread;
  }

  /**
   * Removes tasks that have been stopped from the thread. A thread without tasks is terminated after the idle time, or now if
   * it is not shared.
   */
  left(thread: TaskThread, tasks: readonly string[]): void {
    const pooled = this.#pooled.get(thread);
    if (pooled === undefined) return;
    for (const task of tasks) pooled.tasks.delete(task);
    if (pooled.tasks.size === 0) this.#endWhenIdle(pooled);
  }

  async close(): Promise<void> {
    clearInterval(this.#publishing);
    this.#hangs.stop();
    await Promise.all(this.threads().map((thread) => thread.end('the worker stops')));
  }

  #endWhenIdle(pooled: PooledThread): void {
    clearTimeout(pooled.idleTimer);
    const idleMs = pooled.own === undefined ? (this.#options.idleMs ?? IDLE_MS) : 0;
    const idle: ThreadEnd = { kind: 'idle', reason: 'it has no more tasks', error: undefined };
    pooled.idleTimer = setTimeout(() => void pooled.thread.end(idle), idleMs).unref();
  }

  #leastBusy(connector: string): PooledThread {
    const shared = [...this.#pooled.values()].filter(({ own, thread }) => own === undefined && !thread.isEnding);
    const load = ({ tasks }: PooledThread): [ofConnector: number, all: number] => [
      [...tasks.values()].filter((each) => each === connector).length,
      tasks.size,
    ];
    const [best] = shared
      .map((pooled) => ({ pooled, load: load(pooled) }))
      .sort((a, b) => a.load[0] - b.load[0] || a.load[1] - b.load[1]);
    if (best !== undefined && (best.load[1] === 0 || shared.length >= this.#options.size)) return best.pooled;
    return this.#open(undefined);
  }

  #open(own: string | undefined, memoryMaxMb?: number): PooledThread {
    const purpose = own === undefined ? 'tasks' : `task ${own}`;
    const thread = this.#options.open(purpose, memoryMaxMb, (from, event) => this.#listener?.onEvent(from, event));
    thread.board.mayWorkUntil = this.#options.mayWorkUntil();
    const pooled: PooledThread = { thread, tasks: new Map(), own, idleTimer: undefined };
    this.#pooled.set(thread, pooled);
    void thread.ended.then((end) => {
      clearTimeout(pooled.idleTimer);
      this.#pooled.delete(thread);
      const culprit = isOrderly(end) ? undefined : (end.culprit ?? culpritOf(pooled));
      const place = end.place ?? (culprit === undefined ? undefined : thread.place(culprit));
      this.#listener?.onEnd(thread, { ...end, culprit, place });
    });
    return pooled;
  }
}

function isOwn({ connectorConfig }: TaskAssignment): boolean {
  return connectorConfig['task.isolation']?.trim().toLowerCase() === 'own';
}

function memoryMaxMb({ connectorConfig }: TaskAssignment): number | undefined {
  const text = connectorConfig['task.memory.max.mb']?.trim() ?? '';
  return text === '' ? undefined : Number(text);
}

/** Returns the only task of the thread, or the task whose code ran last. */
function culpritOf({ thread, tasks, own }: PooledThread): string | undefined {
  if (own !== undefined) return own;
  const [only] = tasks.size === 1 ? [...tasks.keys()] : [];
  return only ?? thread.place()?.task;
}
