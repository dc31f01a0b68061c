import type { TaskEvent, TaskId } from '../connect/task-assignment.ts';
import type { Failure } from '../connect/task-failure.ts';

/** A task that can fail and be restarted; without `task`, the connector's own instance. */
export interface RestartTarget {
  readonly connector: string;
  readonly task?: number | undefined;
}

/**
 * `configuration`: the connector was created, changed or deleted, or its tasks have other configurations. `target state`: it was paused,
 * stopped or resumed.
 */
export type ConnectorChange = 'configuration' | 'target state';

/**
 * A feature of the worker that the herder does not know, and what the herder tells it. Methods that are missing are not called. The
 * listeners are called in the order in which they were added; a listener does not throw.
 */
export interface HerderListener {
  /** The internal topics are read, the worker has joined its cluster, and what it was assigned is being started. */
  onStarted?(): void;
  /** Work was assigned. `isLeader`: this worker leads the cluster. */
  onRebalanced?(isLeader: boolean): void;
  /** Work was revoked. The worker joins its group again when the promise has resolved. */
  onRevoked?(): Promise<void>;
  onConnectorChanged?(connector: string, change: ConnectorChange): void;
  /** A connector or task of this worker is FAILED. A task may say so twice. */
  onFailed?(target: RestartTarget, failure: Failure): void;
  /** A connector or task of this worker is RUNNING. */
  onRunning?(target: RestartTarget): void;
  /** A connector or task of this worker is restarted by request. */
  onRestart?(target: RestartTarget): void;
  /** A connector is restarted with all tasks of this worker, because a config provider has other values. */
  onRestartAll?(connector: string): void;
  /** A connector or task is another worker's from now on. */
  onLeft?(target: RestartTarget): void;
  /** Everything of a deleted connector has stopped here. `isLeader`: this worker leads the cluster and had a part of it. */
  onForgotten?(connector: string, isLeader: boolean): void;
  /** An event of a task that no connector has: one that replays dead letters. */
  onReplayEvent?(event: TaskEvent): void;
  /** A task of this worker met records of a topic, possibly one that is known. */
  onTopic?(task: TaskId, topic: string): void;
  /** The level of a logger was set for the whole cluster. */
  onLoggerLevel?(logger: string, level: string): void;
  /** Whether the start of a failed connector or task that this worker was assigned is to be delayed. */
  isHeld?(target: RestartTarget): boolean;
  /** The worker stops. Its tasks are stopped when the promise has resolved. */
  onStopping?(): Promise<void>;
  /** All tasks have stopped. The internal topics are closed when the promise has resolved. */
  onStopped?(): Promise<void>;
}

/** The listeners of one herder. */
export class HerderListeners {
  readonly #listeners: HerderListener[] = [];

  add(listener: HerderListener): void {
    this.#listeners.push(listener);
  }

  /** Calls each listener. */
  tell(call: (listener: HerderListener) => unknown): void {
    for (const listener of this.#listeners) call(listener);
  }

  /** Calls each listener. Resolves when all promises have resolved, and rejects with the first failure. */
  async settle(call: (listener: HerderListener) => Promise<void> | undefined): Promise<void> {
    await Promise.all(this.#listeners.map(async (listener) => call(listener)));
  }

  /** Whether a listener delays the start of the target. */
  isHeld(target: RestartTarget): boolean {
    return this.#listeners.some((listener) => listener.isHeld?.(target) === true);
  }
}
