import type { ConnectorConfig } from '../connect/api.ts';
import type { TaskId } from '../connect/task-assignment.ts';
import { ConnectError, toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { ConnectorState } from './stores/config-state.ts';
import type { ConfigStore } from './stores/config-store.ts';

/** Fences the producers that use the transactional ids of these tasks. */
type FenceTasks = (connector: string, config: ConnectorConfig, tasks: readonly TaskId[]) => Promise<void>;

/**
 * Fences tasks of earlier generations of task configurations
 * (org.apache.kafka.connect.runtime.distributed.DistributedHerder#fenceZombieSourceTasks). A new task only fences its
 * predecessor with the same number. If there were more tasks before, some have no successor. The leader therefore
 * fences all earlier tasks once per generation, and records this in the config topic as `tasks-fencing-<connector>`.
 */
export class ZombieFencing {
  readonly #configs: ConfigStore;
  readonly #fence: FenceTasks;
  readonly #generation: () => number;
  readonly #logger: Logger;
  readonly #pending = new Map<string, Promise<void>>();

  /** `generation` returns the current generation of the worker group. */
  constructor(configs: ConfigStore, fence: FenceTasks, generation: () => number, logger: Logger) {
    this.#configs = configs;
    this.#fence = fence;
    this.#generation = generation;
    this.#logger = logger;
  }

  /** Resolves when tasks of the current generation may start. Concurrent calls for a connector share one fencing. */
  fence(connector: string): Promise<void> {
    let fencing = this.#pending.get(connector);
    if (fencing === undefined) {
      fencing = this.#fenceOnce(connector).finally(() => this.#pending.delete(connector));
      this.#pending.set(connector, fencing);
    }
    return fencing;
  }

  /**
   * Called before the initial offsets of a new connector are written. Resolves once the tasks of a deleted connector
   * with the same name can no longer write.
   */
  async fenceDeleted(connector: string, config: ConnectorConfig): Promise<void> {
    const count = this.#configs.taskCountRecord(connector);
    if (count !== undefined) await this.#fenceTasks(connector, config, count);
  }

  async #fenceOnce(connector: string): Promise<void> {
    await this.#configs.refresh();
    const state = this.#configs.connector(connector);
    if (state === undefined) throw new ConnectError(`Connector ${connector} not found`);
    if (!state.pendingFencing) return;
    await this.#fenceOld(state);
    await this.#configs.putTaskCount(connector, state.taskConfigs.length);
  }

  async #fenceOld({ name, config, taskCountRecord, taskConfigs }: ConnectorState): Promise<void> {
    // Without a record, no task has used a transactional id. If both generations have a single task, the new task fences its
    // predecessor itself.
    if (taskCountRecord === undefined || (taskCountRecord === 1 && taskConfigs.length === 1)) return;
    await this.#fenceTasks(name, config, taskCountRecord);
  }

  async #fenceTasks(name: string, config: ConnectorConfig, count: number): Promise<void> {
    const tasks = Array.from({ length: count }, (_none, task) => ({ connector: name, task }));
    const fields = { connector: name, generation: this.#generation() };
    this.#logger.info(fields, `Fencing the producers of ${String(tasks.length)} earlier tasks of connector ${name}`);
    try {
      await this.#fence(name, config, tasks);
      for (const { task } of tasks) this.#logger.debug({ ...fields, task }, 'Fenced the producer of an earlier task');
    } catch (error) {
      throw new ConnectError(`Failed to complete zombie fencing for connector ${name}: ${toError(error).message}`, {
        cause: error,
      });
    }
  }
}
