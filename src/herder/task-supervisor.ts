import { isDeepStrictEqual } from 'node:util';
import { isSameButLimits, limitsCanChange, rateLimitOf, withLimitsOf } from '../config/rate-limit-options.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import type { TaskAssignment } from '../connect/task-assignment.ts';
import type { TaskHosting } from '../connect/hosting/task-hosting.ts';
import type { Logger } from '../observe/logger.ts';
import type { ConnectorState } from './stores/config-state.ts';
import type { Placement } from './group/placement.ts';
import { SerialQueue } from '../async/serial-queue.ts';
import type { StatusWriter } from './status-writer.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface TaskSupervisorDependencies {
  readonly configs: ConfigStore;
  readonly placement: Placement;
  readonly plugins: PluginRegistry;
  readonly tasks: Pick<TaskHosting, 'stop' | 'setTargetState' | 'setRateLimit'>;
  readonly statuses: StatusWriter;
  /** Starts the task, unless it has failed and its next automatic restart is not due yet. */
  readonly start: (assignment: TaskAssignment) => void;
  /** Logger with the connector as a field. */
  readonly logger: Logger;
}

/**
 * Reconciles the tasks of one connector on this worker with the config store and the placement. A task is restarted if its
 * configuration or that of its connector has changed. Rate limits are an exception: a running task adopts them, also if the
 * number of tasks has changed. If a limit contains a variable, the task is restarted instead.
 */
export class TaskSupervisor {
  readonly #name: string;
  readonly #dependencies: TaskSupervisorDependencies;
  readonly #stopTimeoutMs: number;
  readonly #queue = new SerialQueue();
  #assigned = new Map<number, TaskAssignment>();

  /** `stopTimeoutMs` is `task.shutdown.graceful.timeout.ms`. Tasks that are stopped together share it. */
  constructor(name: string, dependencies: TaskSupervisorDependencies, stopTimeoutMs: number) {
    this.#name = name;
    this.#stopTimeoutMs = stopTimeoutMs;
    this.#dependencies = dependencies;
  }

  has(task: number): boolean {
    return this.#assigned.has(task);
  }

  /** `handsOver` means that tasks that moved to another worker will be started there immediately. */
  async reconcile(handsOver = false): Promise<void> {
    await this.#queue.run(() => this.#reconcileNow(handsOver));
  }

  /** Stops the tasks, and starts them again with their current configurations. */
  async restart(tasks: readonly number[]): Promise<void> {
    await this.#queue.run(async () => {
      const own = tasks.filter((task) => this.#assigned.has(task));
      this.#debug(own, 'Restarting a task');
      await this.#stop(own);
      await this.#reconcileNow();
    });
  }

  async restartAll(): Promise<void> {
    await this.restart([...this.#assigned.keys()]);
  }

  async shutdown(): Promise<void> {
    await this.#queue.run(() => this.#stop([...this.#assigned.keys()]));
  }

  async #reconcileNow(handsOver = false): Promise<void> {
    const desired = this.#dependencies.configs.connector(this.#name);
    const wanted = desired === undefined ? new Map<number, TaskAssignment>() : this.#wanted(desired);
    const outdated = [...this.#assigned].filter(([task, running]) => !isSameWork(running, wanted.get(task)));
    const shouldRun = desired !== undefined && desired.targetState !== 'STOPPED' && !desired.inconsistent;
    const [moving, ending] = split(outdated, ([task]) => {
      return handsOver && shouldRun && task < desired.taskConfigs.length && !this.#isOwn(task);
    });
    await Promise.all([
      this.#stop(
        moving.map(([task]) => task),
        true,
      ),
      this.#stop(ending.map(([task]) => task)),
    ]);
    for (const [task] of outdated) {
      const isGone = desired !== undefined && task >= desired.taskConfigs.length;
      if (isGone) this.#dependencies.statuses.removeTask({ connector: this.#name, task });
    }
    for (const [task, assignment] of wanted) {
      const running = this.#assigned.get(task);
      if (running === undefined) {
        this.#debug([task], 'Starting a task');
        this.#dependencies.start(assignment);
      } else if (running.targetState !== assignment.targetState) {
        this.#dependencies.tasks.setTargetState(assignment.id, assignment.targetState);
      }
      if (running !== undefined) this.#changeLimit(running, assignment);
      this.#assigned.set(task, assignment);
    }
  }

  #changeLimit(running: TaskAssignment, { id, connectorConfig, tasks }: TaskAssignment): void {
    if (!limitsCanChange(connectorConfig)) return;
    const limit = rateLimitOf(connectorConfig, tasks);
    if (isDeepStrictEqual(limit, rateLimitOf(running.connectorConfig, running.tasks))) return;
    this.#dependencies.tasks.setRateLimit(id, limit);
  }

  async #stop(tasks: readonly number[], handsOver = false): Promise<void> {
    if (tasks.length === 0) return;
    const ids = tasks.map((task) => ({ connector: this.#name, task }));
    this.#debug(tasks, 'Stopping a task');
    await this.#dependencies.tasks.stop(ids, this.#stopTimeoutMs, handsOver);
    this.#debug(tasks, 'Stopped a task');
    for (const task of tasks) this.#assigned.delete(task);
  }

  #debug(tasks: readonly number[], message: string): void {
    const { logger, placement } = this.#dependencies;
    for (const task of tasks) logger.debug({ task, generation: placement.generation }, message);
  }

  #isOwn(task: number): boolean {
    return this.#dependencies.placement.ownsTask({ connector: this.#name, task });
  }

  #wanted(desired: ConnectorState): Map<number, TaskAssignment> {
    const { plugins } = this.#dependencies;
    const wanted = new Map<number, TaskAssignment>();
    if (desired.targetState === 'STOPPED' || desired.inconsistent) return wanted;
    const { config, appliedConfig = config, taskConfigs } = desired;
    const connectorConfig = withLimitsOf(appliedConfig, config);
    const plugin = plugins.tryFind('connector', connectorConfig['connector.class'] ?? '');
    taskConfigs.forEach((taskConfig, task) => {
      const id = { connector: this.#name, task };
      if (!this.#isOwn(task)) return;
      const type = plugin?.type ?? ('topics' in taskConfig || 'topics.regex' in taskConfig ? 'sink' : 'source');
      wanted.set(task, {
        id,
        type,
        tasks: taskConfigs.length,
        connectorConfig,
        taskConfig,
        targetState: desired.targetState,
      });
    });
    return wanted;
  }
}

function split<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter((one) => isFirst(one)), all.filter((one) => !isFirst(one))];
}

function isSameWork(running: TaskAssignment, wanted: TaskAssignment | undefined): boolean {
  return (
    wanted !== undefined &&
    (running.tasks === wanted.tasks || limitsCanChange(wanted.connectorConfig)) &&
    isSameButLimits(running.taskConfig, wanted.taskConfig) &&
    isSameButLimits(running.connectorConfig, wanted.connectorConfig)
  );
}
