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

/** Where Connect answers requests differently in its two modes. */
export interface RequestAnswers {
  /**
   * True (standalone): a changed configuration is answered when the connector has started and made its tasks. False: at
   * once, with the tasks that there were before the change.
   */
  readonly waitForStart: boolean;
  /** The message of the 404 for a task that does not exist. `task`: `connector-number`. */
  readonly unknownTask: (task: string) => string;
}

export interface PutOptions {
  readonly replace: boolean;
  /** Of a connector that is created. */
  readonly initialState?: TargetState | undefined;
  /** For the history; `null`: not known. */
  readonly by?: Actor | null;
  /** The number in the history of the configuration that is put back. */
  readonly restoredFrom?: number;
  /** Done by the leader before there is a new connector; without success there is none. */
  readonly before?: (() => Promise<unknown>) | undefined;
}

export interface ConnectorRequestsDependencies {
  readonly stores: Pick<HerderStores, 'configs' | 'statuses'>;
  readonly directory: ConnectorDirectory;
  readonly placement: Placement;
  readonly supervision: Supervision;
  readonly recorder: ChangeRecorder;
  readonly stage: StageTracker;
  /** Of a worker with exactly-once delivery of sources. */
  readonly fenceZombies: ((connector: string) => Promise<void>) | undefined;
}

/**
 * What clients ask of connectors and tasks: changes of what should run, written to the config store one after the other, and
 * restarts. Configurations were validated by the caller (herder/validation.ts). What another worker has to do is an
 * NotOwnerError, what does not exist a RequestError 404.
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

  /** Changes that have not begun are refused from now on: the worker stops. */
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

  /** As `putConnector`, when the configuration is still `base` (the same object that the directory gave); else `undefined`. */
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

  /** What another worker's connector came to: the task configurations of a connector, for the leader to write. */
  async putTaskConfigs(name: string, configs: readonly ConnectorConfig[]): Promise<void> {
    await this.#changeAsLeader(`writing task configs for connector ${name} to the config topic`, async () => {
      this.#directory.require(name);
      await this.#configs.putTaskConfigs(name, configs);
    });
  }

  /** Keeps tasks of the generation before from writing, for a worker that is about to start some of the present one. */
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

  /** Takes the tasks away first, then stops the connector: Connect's order of records. */
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

  /** Restarts the instance alone; its tasks are not touched. */
  async restartConnector(name: string, by: Actor | null = null): Promise<void> {
    await this.mustOwn(name);
    const restart = () => this.#supervision.restartConnector(name);
    if (
      !(await this.#recorder.recorded({ connector: name, by }, restart, (done) => (done ? 'restarted' : undefined)))
    ) {
      throw new RequestError(500, `Failed to start connector: ${name}`);
    }
  }

  /** Resolves with the statuses as they will be shown at once: those to be restarted as RESTARTING. */
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

  /** Throws a NotOwnerError unless this worker has the connector. */
  async mustOwn(name: string): Promise<void> {
    await this.#ownership.requireConnector(name);
  }

  /** Throws a NotOwnerError unless this worker leads the cluster. */
  async mustLead(): Promise<void> {
    await this.#ownership.settledLead();
  }

  /** Every worker of the cluster sets it when it reads of it. */
  async setClusterLogLevel(logger: string, level: LogLevel): Promise<void> {
    await this.#change(`writing the level of logger ${logger} to the config topic`, () =>
      this.#configs.putLoggerLevel(logger, level),
    );
  }

  /** How the parts of one task (tables) are doing; none while it does not run. Throws a NotOwnerError on other workers than its own. */
  async taskParts(id: TaskId): Promise<readonly TaskPart[]> {
    await this.#ownership.requireTask(id, `Unknown task: ${taskText(id)}`);
    const report = (await this.#supervision.tasks.reports()).find((each) => taskText(each.id) === taskText(id));
    return report?.details?.parts ?? [];
  }

  /** Records of one task that failed lately, oldest first. Throws a NotOwnerError on other workers than its own. */
  async taskFaults(id: TaskId): Promise<readonly RecentFault[]> {
    await this.#ownership.requireTask(id, `Unknown task: ${taskText(id)}`);
    return this.#supervision.tasks.faults(id);
  }

  /** Resolves when the changes asked for so far are made. */
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

  /** Waiting for the start, where asked for, does not hold up other changes. */
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
