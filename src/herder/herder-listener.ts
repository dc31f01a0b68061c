import type { TaskEvent, TaskId } from '../connect/task-assignment.ts';
import type { Failure } from '../connect/task-failure.ts';

/** A task that can fail and be restarted, or, without `task`, the instance of the connector. */
export interface RestartTarget {
  readonly connector: string;
  readonly task?: number | undefined;
}

/**
 * With `configuration`, the connector was created, changed or deleted, or its task configurations have changed. With
 * `target state`, it was paused, stopped or resumed.
 */
export type ConnectorChange = 'configuration' | 'target state';

/**
 * Methods that the herder calls to notify the features of the worker, without depending on these features. All methods
 * are optional. Listeners are called in the order in which they were added. A listener must not throw.
 */
export interface HerderListener {
  /** The worker has read the internal topics, has joined its cluster and is starting its assigned work. */
  onStarted?(): void;
  /** An assignment was received, which may contain no work. `isLeader` is true if this worker leads the cluster. */
  onRebalanced?(isLeader: boolean): void;
  /** Work was revoked. The worker rejoins its group after the promise has resolved. */
  onRevoked?(): Promise<void>;
  onConnectorChanged?(connector: string, change: ConnectorChange): void;
  /** A connector or task of this worker is FAILED. May be called twice for a task. */
  onFailed?(target: RestartTarget, failure: Failure): void;
  /** A connector or task of this worker is RUNNING. */
  onRunning?(target: RestartTarget): void;
  /** A connector or task of this worker is restarted because a user requested it. */
  onRestart?(target: RestartTarget): void;
  /** A connector and all its tasks on this worker are restarted, because values of a config provider have changed. */
  onRestartAll?(connector: string): void;
  /** A connector or task is no longer assigned to this worker. */
  onLeft?(target: RestartTarget): void;
  /**
   * A deleted connector and its tasks have stopped here. `isLeader` is true if this worker leads the cluster. If the
   * call is repeated for the same connector, `isLeader` may be false.
   */
  onForgotten?(connector: string, isLeader: boolean): void;
  /** An event of a task that replays dead-letter records. Such a task is not a task of the connector. */
  onReplayEvent?(event: TaskEvent): void;
  /** A task of this worker has records of a topic. Called repeatedly for the same topic. */
  onTopic?(task: TaskId, topic: string): void;
  /** The level of a logger was set for the whole cluster. */
  onLoggerLevel?(logger: string, level: string): void;
  /** Returns true if the start of a failed connector or task that was assigned to this worker must be delayed. */
  isHeld?(target: RestartTarget): boolean;
  /** The worker is stopping. Its tasks are stopped after the promise has resolved. */
  onStopping?(): Promise<void>;
  /** All tasks have stopped. The internal topics are closed after the promise has resolved. */
  onStopped?(): Promise<void>;
}

/** The listeners of one herder. */
export class HerderListeners {
  readonly #listeners: HerderListener[] = [];

  add(listener: HerderListener): void {
    this.#listeners.push(listener);
  }

  notify(call: (listener: HerderListener) => unknown): void {
    for (const listener of this.#listeners) call(listener);
  }

  /** Calls each listener. Resolves when all promises have resolved; rejects with the first failure. */
  async settle(call: (listener: HerderListener) => Promise<void> | undefined): Promise<void> {
    await Promise.all(this.#listeners.map(async (listener) => call(listener)));
  }

  /** Returns true if a listener delays the start of the target. */
  isHeld(target: RestartTarget): boolean {
    return this.#listeners.some((listener) => listener.isHeld?.(target) === true);
  }
}
