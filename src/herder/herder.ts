import type { ConfigResolver } from '../config/providers/config-resolver.ts';
import type { ConnectorConfig } from '../connect/api.ts';
import { ConnectorHost, type ConnectorEvent } from '../connect/connector-host.ts';
import type { PluginRegistry } from '../connect/plugin-registry.ts';
import { taskText, type TargetState, type TaskEvent, type TaskId } from '../connect/task-assignment.ts';
import type { TaskFactory } from '../connect/task-factory.ts';
import { TaskHost, type TaskReport } from '../connect/task-host.ts';
import type { TaskCounts } from '../connect/task-runner.ts';
import { RequestError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { parseLogLevel, type LogLevel, type LogLevels } from '../observe/log-levels.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import { StageTracker } from '../observe/stage.ts';
import type { ConfigListener, RestartRequest, SessionKey } from './config-state.ts';
import { ConnectorDirectory, type ConnectorInfo, type ConnectorStatusInfo } from './connector-directory.ts';
import type { ConnectorTopics } from './connector-topics.ts';
import { ConnectorSupervisor } from './connector-supervisor.ts';
import { LiveConfigs } from './live-configs.ts';
import type { Placement } from './placement.ts';
import { planRestart } from './restart-plan.ts';
import { SerialQueue } from './serial-queue.ts';
import { SessionKeys, type SessionKeySettings } from './session-keys.ts';
import { StatusWriter } from './status-writer.ts';
import type { ConfigStore } from './stores/config-store.ts';
import type { OffsetStore } from './stores/offset-store.ts';
import type { Status, StatusStore } from './stores/status-store.ts';
import { TaskSupervisor } from './task-supervisor.ts';

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
  readonly logger: Logger;
}

interface Supervisors {
  readonly connector: ConnectorSupervisor;
  readonly tasks: TaskSupervisor;
}

/** Connect's limit for a connector instance to stop (reference/kafka-connect.md 2.3). */
const CONNECTOR_STOP_TIMEOUT_MS = 5000;

/**
 * The control side. Requests change what should run (the config store); the store's own log then tells this worker, as any
 * other, and supervisors bring what runs in line with it. Standalone differs in its stores and placement only.
 */
export class Herder implements ConfigListener {
  readonly stage = new StageTracker();
  /** What there is. */
  readonly directory: ConnectorDirectory;
  readonly #parts: HerderParts;
  readonly #connectors: ConnectorHost;
  readonly #tasks: TaskHost;
  readonly #liveConfigs: LiveConfigs;
  readonly #sessionKeys: SessionKeys | undefined;
  readonly #statusWriter: StatusWriter;
  readonly #supervisors = new Map<string, Supervisors>();
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
    const { logger, sessionKeys } = parts;
    this.#sessionKeys = sessionKeys && new SessionKeys(parts.configs, sessionKeys, logger);
    this.#connectors = new ConnectorHost(parts.plugins, (event) => this.#onConnectorEvent(event), logger);
    this.#liveConfigs = new LiveConfigs(parts.resolver, (name) => this.#restartAll(name), logger);
    this.#tasks = new TaskHost(parts.taskFactory, this.#liveConfigs, (event) => this.#onTaskEvent(event), logger);
    this.#statusWriter = new StatusWriter(
      parts.statuses,
      {
        workerId: parts.workerId,
        generation: () => parts.placement.generation,
        version: (connector) => this.directory.plugin(connector)?.version ?? null,
        hide: (trace) => parts.secrets.hide(trace),
      },
      logger,
    );
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

  /** Reads the stores and starts what they say. */
  async start(): Promise<void> {
    const { configs, statuses, offsets, logger } = this.#parts;
    await this.stage.during('reading to the end of internal topics', () =>
      Promise.all([configs.start(this), statuses.start(), offsets.start()]),
    );
    if (this.#parts.placement.isLeader) await this.#sessionKeys?.keep();
    this.#ready = true;
    this.#becomeReady();
    for (const name of configs.names()) this.#reconcile(name);
    for (const name of statuses.names()) {
      if (configs.connector(name) === undefined) this.#statusWriter.removeConnector(name);
    }
    logger.info('Herder started');
  }

  /** Stops tasks and connectors, side by side, then the stores. What could not be stopped in time is left behind. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#ready = false;
    this.#sessionKeys?.stop();
    this.#liveConfigs.close();
    const all = [...this.#supervisors.values()];
    await Promise.all(all.flatMap(({ connector, tasks }) => [tasks.shutdown(), connector.shutdown()]));
    await this.#statusWriter.flush();
    const { configs, statuses, offsets } = this.#parts;
    await Promise.all([configs.stop(), statuses.stop(), offsets.stop()]);
    this.#parts.logger.info('Herder stopped');
  }

  /** The tasks that run on this worker. */
  taskReports(): readonly TaskReport[] {
    return this.#tasks.reports();
  }

  taskCounts(): ReadonlyMap<string, TaskCounts> {
    return this.#tasks.counts();
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
    await this.#change(`writing task configs for connector ${name} to the config topic`, async () => {
      this.directory.require(name);
      await this.#parts.configs.putTaskConfigs(name, configs);
    });
  }

  async deleteConnector(name: string): Promise<void> {
    await this.#change(`removing the config for connector ${name} from the config topic`, async () => {
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
    await this.#change(`stopping connector ${name}`, async () => {
      this.directory.require(name, `Unknown connector ${name}`);
      await this.#parts.configs.putTaskConfigs(name, []);
      await this.#parts.configs.putTargetState(name, 'STOPPED');
    });
  }

  /** Restarts the instance alone; its tasks are not touched. */
  async restartConnector(name: string): Promise<void> {
    this.directory.require(name, `Unknown connector: ${name}`);
    if (!(await this.#supervisorsOf(name).connector.restart())) {
      throw new RequestError(500, `Failed to start connector: ${name}`);
    }
  }

  /** Resolves with the statuses as they will be shown at once: those to be restarted as RESTARTING. */
  async restartConnectorAndTasks(request: RestartRequest): Promise<ConnectorStatusInfo> {
    const name = request.connector;
    return this.#change(`restarting connector ${name} and its tasks`, async () => {
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
    const { taskConfigs } = this.directory.require(id.connector, `Unknown connector: ${id.connector}`);
    if (taskConfigs[id.task] === undefined) {
      const isStandalone = this.#parts.mode === 'standalone';
      throw new RequestError(404, isStandalone ? `Task ${taskText(id)} not found` : `Unknown task: ${taskText(id)}`);
    }
    await this.#supervisorsOf(id.connector).tasks.restart([id.task]);
  }

  // ConfigListener: what the log says now.

  connectorChanged(name: string): void {
    this.#reconcile(name);
  }

  connectorRemoved(name: string): void {
    this.#reconcile(name);
  }

  tasksChanged(name: string): void {
    this.#reconcile(name);
  }

  targetStateChanged(name: string): void {
    this.#reconcile(name);
  }

  restartRequested(request: RestartRequest): void {
    const name = request.connector;
    const plan = planRestart(request, this.#parts.statuses);
    const supervisors = this.#supervisors.get(name);
    if (plan === undefined || supervisors === undefined) return;
    if (plan.restartConnector) {
      this.#statusWriter.connector(name, 'RESTARTING');
      this.#inBackground(name, supervisors.connector.restart());
    }
    const tasks = plan.tasks.filter((task) => supervisors.tasks.has(task));
    for (const task of tasks) this.#statusWriter.task({ connector: name, task }, 'RESTARTING');
    this.#inBackground(name, supervisors.tasks.restart(tasks));
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
    await this.#supervisors.get(name)?.tasks.reconcile();
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

  async #change<T>(stage: string, work: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#stopping) throw new RequestError(500, 'Worker is shutting down');
      return this.stage.during(stage, work);
    });
  }

  /** On a standalone worker resolves when the connector has started and made its tasks; others go on meanwhile. */
  async #changeConfig<T>(name: string, work: () => Promise<T>): Promise<T> {
    const done = await this.#change(`writing a config for connector ${name} to the config topic`, work);
    if (this.#parts.mode === 'standalone' && this.#parts.configs.connector(name) !== undefined) {
      const { connector } = this.#supervisorsOf(name);
      await connector.reconcile();
      await connector.settled();
    }
    return done;
  }

  #reconcile(name: string): void {
    if (this.#stopping) return;
    const { connector, tasks } = this.#supervisorsOf(name);
    this.#inBackground(
      name,
      Promise.all([connector.reconcile(), tasks.reconcile()]).then(() => {
        if (this.#parts.configs.connector(name) === undefined) this.#forget(name);
      }),
    );
  }

  #forget(name: string): void {
    this.#liveConfigs.forget(name);
    if (this.#supervisors.delete(name)) this.#statusWriter.removeConnector(name);
  }

  #restartAll(name: string): void {
    const supervisors = this.#supervisors.get(name);
    if (supervisors === undefined || this.#stopping) return;
    this.#inBackground(name, Promise.all([supervisors.connector.restart(), supervisors.tasks.restartAll()]));
  }

  #inBackground(name: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#parts.logger.error({ err: error, connector: name }, `Could not bring connector ${name} to its state`);
    });
  }

  #supervisorsOf(name: string): Supervisors {
    let supervisors = this.#supervisors.get(name);
    if (supervisors === undefined) {
      const { configs, placement, plugins, logger, taskStopTimeoutMs } = this.#parts;
      const shared = { configs, placement, plugins, statuses: this.#statusWriter };
      supervisors = {
        connector: new ConnectorSupervisor(name, {
          ...shared,
          connectors: this.#connectors,
          liveConfigs: this.#liveConfigs,
          logger,
          connectorStopTimeoutMs: CONNECTOR_STOP_TIMEOUT_MS,
        }),
        tasks: new TaskSupervisor(name, { ...shared, tasks: this.#tasks, taskStopTimeoutMs }),
      };
      this.#supervisors.set(name, supervisors);
    }
    return supervisors;
  }

  #onConnectorEvent(event: ConnectorEvent): void {
    if (event.state === 'RECONFIGURE') this.#supervisors.get(event.connector)?.connector.reconfigure();
    else this.#statusWriter.connector(event.connector, event.state, event.state === 'FAILED' ? event.trace : null);
  }

  #onTaskEvent(event: TaskEvent): void {
    if (event.state === 'TOPIC') this.#parts.topics.note(event.id, event.topic);
    else if (event.state === 'STOPPED') this.#statusWriter.task(event.id, 'UNASSIGNED');
    else this.#statusWriter.task(event.id, event.state, event.state === 'FAILED' ? event.trace : null);
  }
}
