import type { ConnectorConfig } from '../connect/api.ts';
import { ConnectorHost, type ConnectorEvent } from '../connect/connector-host.ts';
import type { PluginRegistry } from '../connect/plugin-registry.ts';
import { taskText, type TargetState, type TaskEvent, type TaskId } from '../connect/task-assignment.ts';
import type { TaskFactory } from '../connect/task-factory.ts';
import { TaskHost } from '../connect/task-host.ts';
import type { TaskCounts } from '../connect/task-runner.ts';
import { RequestError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import { StageTracker } from '../observe/stage.ts';
import type { ConfigListener, ConnectorState, RestartRequest } from './config-state.ts';
import { ConnectorSupervisor } from './connector-supervisor.ts';
import type { Placement } from './placement.ts';
import { planRestart } from './restart-plan.ts';
import { SerialQueue } from './serial-queue.ts';
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
  readonly taskFactory: TaskFactory;
  readonly taskStopTimeoutMs: number;
  readonly logger: Logger;
}

export interface ConnectorInfo {
  readonly name: string;
  readonly config: ConnectorConfig;
  readonly tasks: readonly TaskId[];
  readonly type: 'sink' | 'source' | 'unknown';
}

export interface ConnectorStatusInfo {
  readonly name: string;
  readonly connector: Status;
  readonly tasks: readonly (readonly [number, Status])[];
  readonly type: 'sink' | 'source' | 'unknown';
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
  readonly #parts: HerderParts;
  readonly #connectors: ConnectorHost;
  readonly #tasks: TaskHost;
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
    const { logger } = parts;
    this.#connectors = new ConnectorHost(parts.plugins, (event) => this.#onConnectorEvent(event), logger);
    this.#tasks = new TaskHost(parts.taskFactory, (event) => this.#onTaskEvent(event), logger);
    this.#statusWriter = new StatusWriter(
      parts.statuses,
      {
        workerId: parts.workerId,
        generation: () => parts.placement.generation,
        version: (connector) => this.#plugin(connector)?.version ?? null,
      },
      logger,
    );
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** Resolves when the stores were read for the first time. */
  async whenReady(): Promise<void> {
    await this.#readiness;
  }

  /** Reads the stores and starts what they say. */
  async start(): Promise<void> {
    const { configs, statuses, offsets, logger } = this.#parts;
    this.stage.begin('reading to the end of internal topics');
    await Promise.all([configs.start(this), statuses.start(), offsets.start()]);
    this.stage.complete();
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
    const all = [...this.#supervisors.values()];
    await Promise.all(all.flatMap(({ connector, tasks }) => [tasks.shutdown(), connector.shutdown()]));
    await this.#statusWriter.flush();
    const { configs, statuses, offsets } = this.#parts;
    await Promise.all([configs.stop(), statuses.stop(), offsets.stop()]);
    this.#parts.logger.info('Herder stopped');
  }

  // What there is.

  connectors(): string[] {
    return this.#parts.configs.names();
  }

  connectorInfo(name: string): ConnectorInfo {
    return this.#info(this.#require(name));
  }

  connectorConfig(name: string): ConnectorConfig {
    return this.#require(name).config;
  }

  taskConfigs(name: string): readonly { readonly id: TaskId; readonly config: ConnectorConfig }[] {
    return this.#require(name).taskConfigs.map((config, task) => ({ id: { connector: name, task }, config }));
  }

  connectorStatus(name: string): ConnectorStatusInfo {
    const { statuses } = this.#parts;
    const connector = statuses.connector(name);
    if (connector === undefined) throw new RequestError(404, `No status found for connector ${name}`);
    return { name, connector, tasks: statuses.tasks(name), type: this.#type(name) };
  }

  taskStatus(id: TaskId): Status {
    const status = this.#parts.statuses.task(id);
    if (status === undefined) throw new RequestError(404, `No status found for task ${taskText(id)}`);
    return status;
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
    return this.#change(`writing a config for connector ${name} to the config topic`, async () => {
      const created = this.#parts.configs.connector(name) === undefined;
      if (!created && !options.replace) throw new RequestError(409, `Connector ${name} already exists`);
      await this.#parts.configs.putConnector(name, config, options.initialState);
      const isStandalone = this.#parts.mode === 'standalone';
      if (isStandalone) await this.#settle(name);
      const info = this.#info(this.#require(name));
      // A distributed worker answers before tasks are made, a standalone one after (reference/kafka-connect.md 1.4, 6).
      return { created, info: created && !isStandalone ? { ...info, tasks: [] } : info };
    });
  }

  async deleteConnector(name: string): Promise<void> {
    await this.#change(`removing the config for connector ${name} from the config topic`, async () => {
      this.#require(name);
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
      this.#require(name, `Unknown connector ${name}`);
      await this.#parts.configs.putTaskConfigs(name, []);
      await this.#parts.configs.putTargetState(name, 'STOPPED');
    });
  }

  /** Restarts the instance alone; its tasks are not touched. */
  async restartConnector(name: string): Promise<void> {
    this.#require(name, `Unknown connector: ${name}`);
    if (!(await this.#supervisorsOf(name).connector.restart())) {
      throw new RequestError(500, `Failed to start connector: ${name}`);
    }
  }

  /** Resolves with the statuses as they will be shown at once: those to be restarted as RESTARTING. */
  async restartConnectorAndTasks(request: RestartRequest): Promise<ConnectorStatusInfo> {
    const name = request.connector;
    return this.#change(`restarting connector ${name} and its tasks`, async () => {
      this.#require(name, `Unknown connector: ${name}`);
      const plan = planRestart(request, this.#parts.statuses);
      if (plan === undefined) throw new RequestError(404, `Status for connector ${name} not found`);
      const before = this.connectorStatus(name);
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
    const { taskConfigs } = this.#require(id.connector, `Unknown connector: ${id.connector}`);
    if (id.task >= taskConfigs.length) throw new RequestError(404, `Unknown task: ${taskText(id)}`);
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

  loggerLevelChanged(): void {
    // Cluster-wide logger levels come with the loggers resource.
  }

  async #setTargetState(name: string, state: TargetState): Promise<void> {
    await this.#change(`writing a target state for connector ${name} to the config topic`, async () => {
      this.#require(name, `Unknown connector ${name}`);
      await this.#parts.configs.putTargetState(name, state);
    });
  }

  async #change<T>(stage: string, work: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#stopping) throw new RequestError(500, 'Worker is shutting down');
      this.stage.begin(stage);
      try {
        return await work();
      } finally {
        this.stage.complete();
      }
    });
  }

  async #settle(name: string): Promise<void> {
    const { connector } = this.#supervisorsOf(name);
    await connector.reconcile();
    await connector.settled();
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
    if (this.#supervisors.delete(name)) this.#statusWriter.removeConnector(name);
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
    if (event.state === 'TOPIC') return;
    if (event.state === 'STOPPED') this.#statusWriter.task(event.id, 'UNASSIGNED');
    else this.#statusWriter.task(event.id, event.state, event.state === 'FAILED' ? event.trace : null);
  }

  #require(name: string, message = `Connector ${name} not found`): ConnectorState {
    const state = this.#parts.configs.connector(name);
    if (state === undefined) throw new RequestError(404, message);
    return state;
  }

  #plugin(connector: string) {
    const className = this.#parts.configs.connector(connector)?.config['connector.class'];
    return className === undefined ? undefined : this.#parts.plugins.tryFind('connector', className);
  }

  #type(connector: string): ConnectorInfo['type'] {
    return this.#plugin(connector)?.type ?? 'unknown';
  }

  #info(state: ConnectorState): ConnectorInfo {
    const { name, config, taskConfigs } = state;
    return { name, config, tasks: taskConfigs.map((_, task) => ({ connector: name, task })), type: this.#type(name) };
  }
}
