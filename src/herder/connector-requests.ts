import type { ConnectorConfig, TaskPart } from '../connect/api.ts';
import { taskText, type TargetState, type TaskId } from '../connect/task-assignment.ts';
import type { RecentFault } from '../connect/pipeline/recent-faults.ts';
import { RequestError } from '../errors.ts';
import type { LogLevel } from '../observe/log-levels.ts';
import type { StageTracker } from '../observe/stage.ts';
import type { RestartRequest } from './stores/config-state.ts';
import type { ConnectorDirectory, ConnectorInfo, ConnectorStatusInfo } from './connector-directory.ts';
import type { Actor, ChangeRecorder } from './recorded-change.ts';
import { Ownership } from './ownership.ts';
import type { Placement } from './group/placement.ts';
import { planRestart } from './restart-plan.ts';
import { SerialQueue } from '../async/serial-queue.ts';
import type { HerderStores } from './stores/herder-stores.ts';
import type { Status } from './stores/status-store.ts';
import type { Supervision } from './supervision.ts';

/** Differences between the responses of Connect's distributed and standalone modes. */
export interface RequestAnswers {
  /**
   * If true (standalone), the response to a changed configuration is sent after the connector has started and published its
   * tasks. If false, it is sent immediately and contains the previous tasks.
   */
  readonly waitForStart: boolean;
  /** Returns the message of the 404 for a task that does not exist. `task` is `connector-number`. */
  readonly unknownTask: (task: string) => string;
}

export interface PutOptions {
  readonly replace: boolean;
  /** Target state of a new connector. */
  readonly initialState?: TargetState | undefined;
  /** The sender of the request, for the history; `null` if unknown. */
  readonly by?: Actor | null;
  /** Set if an earlier configuration is restored: the number of the history entry that contains it. */
  readonly restoredFrom?: number;
  /** Called on the leader before the configuration is written. If it rejects, nothing is written. */
  readonly before?: (() => Promise<unknown>) | undefined;
}

export interface ConnectorRequestsDependencies {
  readonly stores: Pick<HerderStores, 'configs' | 'statuses'>;
  readonly directory: ConnectorDirectory;
  readonly placement: Placement;
  readonly supervision: Supervision;
  readonly recorder: ChangeRecorder;
  readonly stage: StageTracker;
  /** Fences the earlier tasks of a source connector. Set if `exactly.once.source.support` is `enabled`. */
  readonly fenceZombies: ((connector: string) => Promise<void>) | undefined;
}

/**
 * Requests of clients and of other workers: changes to the config store, which are written one at a time, restarts, and
 * the parts and failed records of tasks. The caller must have validated the configurations (herder/validation.ts).
 * Throws a NotOwnerError if another worker must process the request, and a RequestError with status 404 for unknown
 * connectors and tasks.
 */
export class ConnectorRequests {
  readonly #configs: HerderStores['configs'];
  readonly #statuses: HerderStores['statuses'];
  readonly #directory: ConnectorDirectory;
  readonly #ownership: Ownership;
  readonly #supervision: Supervision;
  readonly #recorder: ChangeRecorder;
  readonly #stage: StageTracker;
  readonly #fenceZombies: ((connector: string) => Promise<void>) | undefined;
  readonly #answers: RequestAnswers;
  readonly #changes = new SerialQueue();
  #closed = false;

  constructor(dependencies: ConnectorRequestsDependencies, answers: RequestAnswers) {
    this.#configs = dependencies.stores.configs;
    this.#statuses = dependencies.stores.statuses;
    this.#directory = dependencies.directory;
    this.#ownership = new Ownership(dependencies.placement, dependencies.directory);
    this.#supervision = dependencies.supervision;
    this.#recorder = dependencies.recorder;
    this.#stage = dependencies.stage;
    this.#fenceZombies = dependencies.fenceZombies;
    this.#answers = answers;
  }

  /** Rejects changes that have not started yet, because the worker is stopping. */
  close(): void {
    this.#closed = true;
  }

  async putConnector(
    name: string,
    config: ConnectorConfig,
    options: PutOptions,
  ): Promise<{ readonly created: boolean; readonly info: ConnectorInfo }> {
    let tasks: readonly TaskId[] = [];
    const { replace, initialState, by = null, restoredFrom } = options;
    const put = async () => {
      const isNew = this.#configs.connector(name) === undefined;
      if (!isNew) ({ tasks } = this.#directory.info(name));
      if (!isNew && !replace) throw new RequestError(409, `Connector ${name} already exists`);
      await options.before?.();
      await this.#configs.putConnector(name, config, isNew ? initialState : undefined);
      return isNew;
    };
    const what = (isNew: boolean) => (restoredFrom !== undefined ? 'restored' : isNew ? 'created' : 'changed');
    const recorded = () => this.#recorder.recorded({ connector: name, by, restoredFrom }, put, what);
    const created = await this.#changeConfig(name, recorded);
    return { created, info: this.#changedInfo(name, tasks) };
  }

  /**
   * Changes the configuration only if the current one is still `base` (the object that the directory returned). Otherwise
   * resolves with `undefined`.
   */
  async changeConfig(
    name: string,
    base: ConnectorConfig,
    config: ConnectorConfig,
    by: Actor | null = null,
  ): Promise<ConnectorInfo | undefined> {
    let tasks: readonly TaskId[] = [];
    const put = async () => {
      ({ tasks } = this.#directory.info(name));
      if (this.#directory.require(name).config !== base) return false;
      await this.#configs.putConnector(name, config);
      return true;
    };
    const what = (done: boolean) => (done ? 'changed' : undefined);
    const recorded = () => this.#recorder.recorded({ connector: name, by }, put, what);
    const changed = await this.#changeConfig(name, recorded);
    return changed ? this.#changedInfo(name, tasks) : undefined;
  }

  /** Writes the task configurations that the connector's worker sent to the leader. */
  async putTaskConfigs(name: string, configs: readonly ConnectorConfig[]): Promise<void> {
    await this.#changeAsLeader(`writing task configs for connector ${name} to the config topic`, async () => {
      this.#directory.require(name);
      await this.#configs.putTaskConfigs(name, configs);
    });
  }

  /** Fences the tasks of earlier generations. Requested by a worker that is about to start tasks of the current generation. */
  async fenceZombies(name: string): Promise<void> {
    await this.mustLead();
    if (this.#directory.info(name).type === 'sink') {
      throw new RequestError(400, `Connector ${name} is not a source connector`);
    }
    if (this.#fenceZombies === undefined) {
      throw new RequestError(500, 'This worker does not have exactly-once source support enabled.');
    }
    await this.#fenceZombies(name);
  }

  async deleteConnector(name: string, by: Actor | null = null): Promise<void> {
    const remove = async () => {
      this.#directory.require(name);
      await this.#configs.removeConnector(name);
    };
    await this.#changeAsLeader(`removing the config for connector ${name} from the config topic`, () =>
      this.#recorder.recorded({ connector: name, by }, remove, () => 'deleted'),
    );
  }

  async pauseConnector(name: string, by: Actor | null = null): Promise<void> {
    await this.#setTargetState(name, 'PAUSED', by);
  }

  async resumeConnector(name: string, by: Actor | null = null): Promise<void> {
    await this.#setTargetState(name, 'STARTED', by);
  }

  /** Stops a connector. Removes the task configurations before the target state is set, which is Connect's order of records. */
  async stopConnector(name: string, by: Actor | null = null): Promise<void> {
    const stop = async () => {
      const { targetState } = this.#directory.require(name, `Unknown connector ${name}`);
      await this.#configs.putTaskConfigs(name, []);
      await this.#configs.putTargetState(name, 'STOPPED');
      return targetState !== 'STOPPED';
    };
    await this.#changeAsLeader(`stopping connector ${name}`, () =>
      this.#recorder.recorded({ connector: name, by }, stop, (done) => (done ? 'stopped' : undefined)),
    );
  }

  /** Restarts only the connector instance, not its tasks. */
  async restartConnector(name: string, by: Actor | null = null): Promise<void> {
    await this.mustOwn(name);
    const restart = () => this.#supervision.restartConnector(name);
    if (
      !(await this.#recorder.recorded({ connector: name, by }, restart, (done) => (done ? 'restarted' : undefined)))
    ) {
      throw new RequestError(500, `Failed to start connector: ${name}`);
    }
  }

  /** Resolves with the statuses for the response, which show the restarted connector and tasks as RESTARTING. */
  async restartConnectorAndTasks(request: RestartRequest, by: Actor | null = null): Promise<ConnectorStatusInfo> {
    const name = request.connector;
    const restart = async (): Promise<ConnectorStatusInfo> => {
      this.#directory.require(name, `Unknown connector: ${name}`);
      const plan = planRestart(request, this.#statuses);
      if (plan === undefined) throw new RequestError(404, `Status for connector ${name} not found`);
      const before = this.#directory.status(name);
      await this.#configs.putRestartRequest(request);
      const restarting = (status: Status): Status => ({ ...status, state: 'RESTARTING' });
      return {
        ...before,
        connector: plan.restartConnector ? restarting(before.connector) : before.connector,
        tasks: before.tasks.map(([task, status]) => [task, plan.tasks.includes(task) ? restarting(status) : status]),
      };
    };
    return this.#changeAsLeader(`restarting connector ${name} and its tasks`, () =>
      this.#recorder.recorded({ connector: name, by }, restart, () => 'restarted'),
    );
  }

  async restartTask(id: TaskId, by: Actor | null = null): Promise<void> {
    await this.#ownership.requireTask(id, this.#answers.unknownTask(taskText(id)));
    const restart = () => this.#supervision.restartTask(id);
    await this.#recorder.recorded({ ...id, by }, restart, () => 'restarted');
  }

  /** Throws a NotOwnerError unless this worker owns the connector. */
  async mustOwn(name: string): Promise<void> {
    await this.#ownership.requireConnector(name);
  }

  /** Throws a NotOwnerError unless this worker leads the cluster. */
  async mustLead(): Promise<void> {
    await this.#ownership.settledLead();
  }

  /** Writes the level to the config topic. Every running worker of the cluster reads it from there and applies it. */
  async setClusterLogLevel(logger: string, level: LogLevel): Promise<void> {
    await this.#change(`writing the level of logger ${logger} to the config topic`, () =>
      this.#configs.putLoggerLevel(logger, level),
    );
  }

  /**
   * States of the parts (tables) of a task. The list is empty if the task has no parts or is not running. Throws a
   * NotOwnerError unless this worker owns the task.
   */
  async taskParts(id: TaskId): Promise<readonly TaskPart[]> {
    await this.#ownership.requireTask(id, `Unknown task: ${taskText(id)}`);
    const report = (await this.#supervision.tasks.reports()).find((each) => taskText(each.id) === taskText(id));
    return report?.details?.parts ?? [];
  }

  /** Recently failed records of a task, oldest first. Throws a NotOwnerError unless this worker owns the task. */
  async taskFaults(id: TaskId): Promise<readonly RecentFault[]> {
    await this.#ownership.requireTask(id, `Unknown task: ${taskText(id)}`);
    return this.#supervision.tasks.faults(id);
  }

  /** Resolves when all pending changes have been written. */
  async whenFree(): Promise<void> {
    await this.#changes.idle();
  }

  async #setTargetState(name: string, state: 'PAUSED' | 'STARTED', by: Actor | null): Promise<void> {
    const what = state === 'PAUSED' ? 'paused' : 'resumed';
    const set = async () => {
      const { targetState } = this.#directory.require(name, `Unknown connector ${name}`);
      await this.#configs.putTargetState(name, state);
      return targetState !== state;
    };
    await this.#change(`writing a target state for connector ${name} to the config topic`, () =>
      this.#recorder.recorded({ connector: name, by }, set, (done) => (done ? what : undefined)),
    );
  }

  async #changeAsLeader<T>(stage: string, work: () => Promise<T>): Promise<T> {
    await this.mustLead();
    return this.#change(stage, () => {
      this.#ownership.requireLead();
      return work();
    });
  }

  async #change<T>(stage: string, work: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#closed) throw new RequestError(500, 'Worker is shutting down');
      return this.#stage.during(stage, work);
    });
  }

  /** In standalone mode, also waits for the start of the connector. This wait does not delay later changes. */
  async #changeConfig<T>(name: string, work: () => Promise<T>): Promise<T> {
    const done = await this.#changeAsLeader(`writing a config for connector ${name} to the config topic`, work);
    if (this.#answers.waitForStart && this.#configs.connector(name) !== undefined) {
      const { connector } = this.#supervision.of(name);
      await connector.reconcile();
      await connector.settled();
    }
    return done;
  }

  #changedInfo(name: string, before: readonly TaskId[]): ConnectorInfo {
    const info = this.#directory.info(name);
    return this.#answers.waitForStart ? info : { ...info, tasks: before };
  }
}
