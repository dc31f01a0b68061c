import type { ConfigResolver } from '../config/providers/config-resolver.ts';
import type { ConnectorConfig, TaskPart } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { taskText, type TargetState, type TaskId } from '../connect/tasks/task-assignment.ts';
import type { TaskFactory } from '../connect/tasks/task-factory.ts';
import type { TaskReport } from '../connect/tasks/task-host.ts';
import type { TaskCounts } from '../connect/tasks/task-runner.ts';
import { RequestError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { parseLogLevel, type LogLevel, type LogLevels } from '../observe/log-levels.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import { StageTracker } from '../observe/stage.ts';
import type { ConfigListener, RestartRequest, SessionKey } from './config-state.ts';
import { ConnectorDirectory, type ConnectorInfo, type ConnectorStatusInfo } from './connector-directory.ts';
import type { ConnectorTopics } from './connector-topics.ts';
import { ElsewhereError } from './elsewhere.ts';
import type { Work } from './group/group-bytes.ts';
import { LeaderDuties } from './leader-duties.ts';
import type { LeaderRequests } from './leader-requests.ts';
import type { ClusterView, Placement, WorkListener } from './placement.ts';
import { planRestart } from './restart-plan.ts';
import { SerialQueue } from './serial-queue.ts';
import type { SessionKeySettings } from './session-keys.ts';
import { StatusWriter } from './status-writer.ts';
import type { ConfigStore } from './stores/config-store.ts';
import type { OffsetStore } from './stores/offset-store.ts';
import type { Status, StatusStore } from './stores/status-store.ts';
import { Supervision } from './supervision.ts';

export interface HerderParts {
  readonly mode: 'standalone' | 'distributed';
  /** Advertised `host:port`; known once the management API listens. */
  readonly workerId: () => string;
  readonly configs: ConfigStore;
  readonly statuses: StatusStore;
  readonly offsets: OffsetStore;
  readonly placement: Placement;
  readonly plugins: PluginRegistry;
  readonly resolver: ConfigResolver;
  /** What is not to be in the traces of statuses. */
  readonly secrets: SecretMask;
  readonly taskFactory: TaskFactory;
  readonly topics: ConnectorTopics;
  readonly logLevels: LogLevels;
  readonly taskStopTimeoutMs: number;
  /** Of a distributed worker. */
  readonly sessionKeys: SessionKeySettings | undefined;
  readonly leader: LeaderRequests;
  /** Of a worker with exactly-once delivery of sources. */
  readonly fenceZombies: ((connector: string) => Promise<void>) | undefined;
  readonly logger: Logger;
}

/**
 * The control side. Requests change what should run (the config store); the store's own log then tells this worker, as any
 * other, and supervisors bring what runs in line with it. Standalone differs in its stores and placement only.
 */
export class Herder implements ConfigListener, WorkListener {
  readonly stage = new StageTracker();
  /** What there is. */
  readonly directory: ConnectorDirectory;
  readonly #parts: HerderParts;
  readonly #duties: LeaderDuties;
  readonly #supervision: Supervision;
  /** Requests that change the config store, one after the other. */
  readonly #changes = new SerialQueue();
  #ready = false;
  #becomeReady: () => void = () => undefined;
  readonly #readiness = new Promise<void>((resolve) => {
    this.#becomeReady = resolve;
  });
  #stopping = false;

  constructor(parts: HerderParts) {
    this.#parts = parts;
    this.directory = new ConnectorDirectory(parts.configs, parts.statuses, parts.plugins);
    const statusWriter = new StatusWriter(
      parts.statuses,
      {
        workerId: parts.workerId,
        generation: () => parts.placement.generation,
        mayWork: () => parts.placement.mayWork,
        version: (connector) => this.directory.plugin(connector)?.version ?? null,
        hide: (trace) => parts.secrets.hide(trace),
      },
      parts.logger,
    );
    this.#duties = new LeaderDuties({ ...parts, statusWriter });
    this.#supervision = new Supervision(parts, statusWriter);
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** What workers of the cluster sign their requests with. */
  get sessionKey(): SessionKey | undefined {
    return this.#parts.configs.sessionKey;
  }

  /** Resolves when the stores were read for the first time. */
  async whenReady(): Promise<void> {
    await this.#readiness;
  }

  /** Reads the stores, joins the cluster and starts what is this worker's. */
  async start(): Promise<void> {
    const { configs, statuses, offsets, logger } = this.#parts;
    await this.stage.during('reading to the end of internal topics', () =>
      Promise.all([configs.start(this), statuses.start(), offsets.start()]),
    );
    await this.stage.during('ensuring membership in the cluster', () => this.#parts.placement.start(this));
    this.#ready = true;
    this.#becomeReady();
    for (const name of configs.names()) this.#supervision.reconcile(name);
    logger.info('Herder started');
  }

  /** Stops what runs, leaves the cluster, then stops the stores. What could not be stopped in time is left behind. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#ready = false;
    this.#duties.follow();
    await this.#supervision.stop();
    const { configs, statuses, offsets, placement } = this.#parts;
    await placement.stop();
    await Promise.all([configs.stop(), statuses.stop(), offsets.stop()]);
    this.#parts.logger.info('Herder stopped');
  }

  /** This worker's place in its group; `undefined` for a standalone one. */
  cluster(): (ClusterView & { readonly workerId: string }) | undefined {
    const view = this.#parts.placement.view();
    return view && { ...view, workerId: this.#parts.workerId() };
  }

  /** The tasks that run on this worker. */
  taskReports(): readonly TaskReport[] {
    return this.#supervision.tasks.reports();
  }

  /** How the parts of one task (tables) are doing; none while it does not run. Throws an ElsewhereError on other workers than its own. */
  async taskParts(id: TaskId): Promise<readonly TaskPart[]> {
    await this.#parts.placement.settled();
    const { taskConfigs } = this.directory.require(id.connector, `Unknown connector: ${id.connector}`);
    if (taskConfigs[id.task] === undefined) throw new RequestError(404, `Unknown task: ${taskText(id)}`);
    if (!this.#parts.placement.ownsTask(id)) throw this.#elsewhere(id.connector, id.task);
    const report = this.taskReports().find((each) => taskText(each.id) === taskText(id));
    return report?.details?.parts ?? [];
  }

  taskCounts(): ReadonlyMap<string, TaskCounts> {
    return this.#supervision.tasks.counts();
  }

  // What should be. Configurations given here were validated by the caller (herder/validation.ts).

  async putConnector(
    name: string,
    config: ConnectorConfig,
    options: { readonly replace: boolean; readonly initialState?: TargetState | undefined },
  ): Promise<{ readonly created: boolean; readonly info: ConnectorInfo }> {
    let tasks: readonly TaskId[] = [];
    const created = await this.#changeConfig(name, async () => {
      const isNew = this.#parts.configs.connector(name) === undefined;
      if (!isNew) ({ tasks } = this.directory.info(name));
      if (!isNew && !options.replace) throw new RequestError(409, `Connector ${name} already exists`);
      await this.#parts.configs.putConnector(name, config, options.initialState);
      return isNew;
    });
    return { created, info: this.#changedInfo(name, tasks) };
  }

  /** As `putConnector`, when the configuration is still `base` (as `connectorConfig` gave it); else `undefined`. */
  async changeConfig(name: string, base: ConnectorConfig, config: ConnectorConfig): Promise<ConnectorInfo | undefined> {
    let tasks: readonly TaskId[] = [];
    const changed = await this.#changeConfig(name, async () => {
      ({ tasks } = this.directory.info(name));
      if (this.directory.require(name).config !== base) return false;
      await this.#parts.configs.putConnector(name, config);
      return true;
    });
    return changed ? this.#changedInfo(name, tasks) : undefined;
  }

  /** A distributed worker answers with the tasks there were before the change, a standalone one with those made after. */
  #changedInfo(name: string, before: readonly TaskId[]): ConnectorInfo {
    const info = this.directory.info(name);
    return this.#parts.mode === 'distributed' ? { ...info, tasks: before } : info;
  }

  /** What another worker's connector came to: the task configurations of a connector, for the leader to write. */
  async putTaskConfigs(name: string, configs: readonly ConnectorConfig[]): Promise<void> {
    await this.#changeAsLeader(`writing task configs for connector ${name} to the config topic`, async () => {
      this.directory.require(name);
      await this.#parts.configs.putTaskConfigs(name, configs);
    });
  }

  /** Keeps tasks of the generation before from writing, for a worker that is about to start some of the present one. */
  async fenceZombies(name: string): Promise<void> {
    await this.mustLead();
    if (this.directory.info(name).type === 'sink') {
      throw new RequestError(400, `Connector ${name} is not a source connector`);
    }
    if (this.#parts.fenceZombies === undefined) {
      throw new RequestError(500, 'This worker does not have exactly-once source support enabled.');
    }
    await this.#parts.fenceZombies(name);
  }

  async deleteConnector(name: string): Promise<void> {
    await this.#changeAsLeader(`removing the config for connector ${name} from the config topic`, async () => {
      this.directory.require(name);
      await this.#parts.configs.removeConnector(name);
    });
  }

  async pauseConnector(name: string): Promise<void> {
    await this.#setTargetState(name, 'PAUSED');
  }

  async resumeConnector(name: string): Promise<void> {
    await this.#setTargetState(name, 'STARTED');
  }

  /** Takes the tasks away first, then stops the connector: Connect's order of records. */
  async stopConnector(name: string): Promise<void> {
    await this.#changeAsLeader(`stopping connector ${name}`, async () => {
      this.directory.require(name, `Unknown connector ${name}`);
      await this.#parts.configs.putTaskConfigs(name, []);
      await this.#parts.configs.putTargetState(name, 'STOPPED');
    });
  }

  /** Restarts the instance alone; its tasks are not touched. */
  async restartConnector(name: string): Promise<void> {
    await this.#parts.placement.settled();
    this.directory.require(name, `Unknown connector: ${name}`);
    if (!this.#parts.placement.ownsConnector(name)) throw this.#elsewhere(name);
    if (!(await this.#supervision.of(name).connector.restart())) {
      throw new RequestError(500, `Failed to start connector: ${name}`);
    }
  }

  /** Resolves with the statuses as they will be shown at once: those to be restarted as RESTARTING. */
  async restartConnectorAndTasks(request: RestartRequest): Promise<ConnectorStatusInfo> {
    const name = request.connector;
    return this.#changeAsLeader(`restarting connector ${name} and its tasks`, async () => {
      this.directory.require(name, `Unknown connector: ${name}`);
      const plan = planRestart(request, this.#parts.statuses);
      if (plan === undefined) throw new RequestError(404, `Status for connector ${name} not found`);
      const before = this.directory.status(name);
      await this.#parts.configs.putRestartRequest(request);
      const restarting = (status: Status): Status => ({ ...status, state: 'RESTARTING' });
      return {
        ...before,
        connector: plan.restartConnector ? restarting(before.connector) : before.connector,
        tasks: before.tasks.map(([task, status]) => [task, plan.tasks.includes(task) ? restarting(status) : status]),
      };
    });
  }

  async restartTask(id: TaskId): Promise<void> {
    await this.#parts.placement.settled();
    const { taskConfigs } = this.directory.require(id.connector, `Unknown connector: ${id.connector}`);
    if (taskConfigs[id.task] === undefined) {
      const isStandalone = this.#parts.mode === 'standalone';
      throw new RequestError(404, isStandalone ? `Task ${taskText(id)} not found` : `Unknown task: ${taskText(id)}`);
    }
    if (!this.#parts.placement.ownsTask(id)) throw this.#elsewhere(id.connector, id.task);
    await this.#supervision.of(id.connector).tasks.restart([id.task]);
  }

  /** Throws an ElsewhereError unless this worker leads the cluster. */
  async mustLead(): Promise<void> {
    const { placement } = this.#parts;
    await placement.settled();
    this.#requireLead();
  }

  /** Resolves when what others have changed so far is known here. */
  async catchUp(): Promise<void> {
    await this.#parts.configs.refresh();
  }

  // WorkListener: what is this worker's now.

  async assigned(work: Work): Promise<void> {
    if (this.#stopping) return;
    this.#supervision.reconcileAll(work);
    if (this.#parts.placement.isLeader) await this.#duties.lead();
    else this.#duties.follow();
  }

  async revoked(work: Work): Promise<void> {
    await this.#supervision.giveUp(work);
  }

  // ConfigListener: what the log says now.

  connectorChanged(name: string): void {
    this.#parts.placement.workChanged(name);
    this.#supervision.reconcile(name);
  }

  connectorRemoved(name: string): void {
    this.#parts.placement.workChanged(name);
    this.#supervision.reconcile(name);
  }

  tasksChanged(name: string): void {
    this.#parts.placement.workChanged(name);
    this.#supervision.reconcile(name);
  }

  targetStateChanged(name: string): void {
    this.#supervision.reconcile(name);
  }

  restartRequested(request: RestartRequest): void {
    this.#supervision.restart(request);
  }

  loggerLevelChanged(logger: string, text: string): void {
    const level = parseLogLevel(text);
    if (level === undefined) this.#parts.logger.warn(`The level ${text} for logger ${logger} is not one`);
    else this.#parts.logLevels.set(logger, level);
  }

  /** Every worker of the cluster sets it when it reads of it. */
  async setClusterLogLevel(logger: string, level: LogLevel): Promise<void> {
    await this.#change(`writing the level of logger ${logger} to the config topic`, () =>
      this.#parts.configs.putLoggerLevel(logger, level),
    );
  }

  /** Resolves when tasks that are not wanted any more have ended here, or were given up. */
  async tasksEnded(name: string): Promise<void> {
    await this.#supervision.tasksEnded(name);
  }

  /** Resolves when the changes asked for so far are made. */
  async whenFree(): Promise<void> {
    await this.#changes.idle();
  }

  async #setTargetState(name: string, state: TargetState): Promise<void> {
    await this.#change(`writing a target state for connector ${name} to the config topic`, async () => {
      this.directory.require(name, `Unknown connector ${name}`);
      await this.#parts.configs.putTargetState(name, state);
    });
  }

  async #changeAsLeader<T>(stage: string, work: () => Promise<T>): Promise<T> {
    await this.mustLead();
    return this.#change(stage, () => {
      this.#requireLead();
      return work();
    });
  }

  #requireLead(): void {
    const { placement } = this.#parts;
    if (!placement.isLeader) throw new ElsewhereError('Only the leader can process this request.', placement.leaderUrl);
  }

  /** The leader knows who has what; others know the leader. */
  #elsewhere(connector: string, task?: number): ElsewhereError {
    const { placement } = this.#parts;
    if (!placement.isLeader) {
      return new ElsewhereError('Only the leader can process restart requests.', placement.leaderUrl);
    }
    const what = task === undefined ? 'connector' : 'task';
    const message = `Cannot restart ${what} since it is not assigned to this member`;
    return new ElsewhereError(message, placement.ownerUrl(connector, task));
  }

  async #change<T>(stage: string, work: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#stopping) throw new RequestError(500, 'Worker is shutting down');
      return this.stage.during(stage, work);
    });
  }

  /** On a standalone worker resolves when the connector has started and made its tasks; others go on meanwhile. */
  async #changeConfig<T>(name: string, work: () => Promise<T>): Promise<T> {
    const done = await this.#changeAsLeader(`writing a config for connector ${name} to the config topic`, work);
    if (this.#parts.mode === 'standalone' && this.#parts.configs.connector(name) !== undefined) {
      const { connector } = this.#supervision.of(name);
      await connector.reconcile();
      await connector.settled();
    }
    return done;
  }
}
