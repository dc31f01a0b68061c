import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigResolver } from '../config/providers/config-resolver.ts';
import { ConnectorHost, type ConnectorEvent } from '../connect/plugins/connector-host.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { isState, type TaskAssignment, type TaskEvent, type TaskId } from '../connect/task-assignment.ts';
import type { TaskConfigs } from '../connect/hosting/task-host.ts';
import type { TaskHosting } from '../connect/hosting/task-hosting.ts';
import { within } from '../async/within.ts';
import type { Logger } from '../observe/logger.ts';
import type { MetricWindow } from '../observe/metrics/sampled-stats.ts';
import { ConnectorSupervisor } from './connector-supervisor.ts';
import type { RestartRequest } from './stores/config-state.ts';
import { HerderListeners, type RestartTarget } from './herder-listener.ts';
import type { Work } from './group/group-bytes.ts';
import type { Leader } from './leader-requests.ts';
import { LiveConfigs } from './live-configs.ts';
import type { Handover } from '../kafka/api.ts';
import type { Handovers } from './group/handovers.ts';
import { taskKey } from './group/task-key.ts';
import type { Placement } from './group/placement.ts';
import { planRestart } from './restart-plan.ts';
import type { StatusWriter } from './status-writer.ts';
import type { HerderStores } from './stores/herder-stores.ts';
import type { Status } from './stores/status-store.ts';
import { TaskSupervisor } from './task-supervisor.ts';
import { WorkEvents } from './work-events.ts';

/** Opens the task hosting. `onEvent` receives the events of tasks. */
export type OpenTaskHosting = (configs: TaskConfigs, onEvent: (event: TaskEvent) => void) => TaskHosting;

export interface SupervisionDependencies {
  readonly stores: Pick<HerderStores, 'configs' | 'statuses'>;
  readonly statusWriter: StatusWriter;
  readonly placement: Placement;
  readonly plugins: PluginRegistry;
  readonly resolver: ConfigResolver;
  readonly openHosting: OpenTaskHosting;
  readonly leader: Leader;
  readonly logger: Logger;
}

export interface SupervisionSettings {
  /** `task.shutdown.graceful.timeout.ms` */
  readonly taskStopTimeoutMs: number;
  /** Window of the metrics of starts. */
  readonly metricWindow: MetricWindow;
}

interface Supervisors {
  /** Logger with the connector as a field. */
  readonly logger: Logger;
  readonly connector: ConnectorSupervisor;
  readonly tasks: TaskSupervisor;
}

/**
 * Maximum time to wait until the last statuses of revoked work are written. The other workers wait for this worker in the
 * meantime.
 */
const REVOKED_STATUSES_MS = 5000;
/** Added to the stop timeout of tasks, because the statuses of other workers take time to arrive. */
const OTHERS_STATUSES_MS = 1000;
const STATUS_CHECK_MS = 20;
/**
 * Maximum time to wait until the last statuses are written when the worker stops. The broker may be unavailable for a long
 * time.
 */
const LAST_STATUSES_MS = 5000;

/** Supervises the connectors and tasks of this worker. Reconciles each connector with the config store and the placement. */
export class Supervision {
  readonly tasks: TaskHosting;
  readonly listeners = new HerderListeners();
  readonly #events: WorkEvents;
  readonly #dependencies: SupervisionDependencies;
  readonly #taskStopTimeoutMs: number;
  readonly #connectors: ConnectorHost;
  readonly #liveConfigs: LiveConfigs;
  readonly #statuses: StatusWriter;
  readonly #supervisors = new Map<string, Supervisors>();
  #stopping = false;
  /** Handovers of tasks that this worker will start, by `taskKey`. */
  readonly #received = new Map<string, Handover>();
  /** Handovers of tasks that have stopped here, for their next workers, by `taskKey`. */
  readonly #released = new Map<string, Handover>();

  constructor(dependencies: SupervisionDependencies, { taskStopTimeoutMs, metricWindow }: SupervisionSettings) {
    this.#dependencies = dependencies;
    this.#taskStopTimeoutMs = taskStopTimeoutMs;
    this.#statuses = dependencies.statusWriter;
    const { placement, plugins, resolver, openHosting, logger } = dependencies;
    this.#events = new WorkEvents(this.#statuses, this.listeners, placement, metricWindow);
    this.#connectors = new ConnectorHost(plugins, (event) => this.#onConnectorEvent(event), logger);
    this.#liveConfigs = new LiveConfigs(resolver, (name) => this.#restartAll(name), logger);
    this.tasks = openHosting(this.#liveConfigs, (event) => this.#onTaskEvent(event));
  }

  /** Stops tasks and connectors in parallel and writes their statuses. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#liveConfigs.close();
    const all = [...this.#supervisors.values()];
    await Promise.all(all.flatMap(({ connector, tasks }) => [tasks.shutdown(), connector.shutdown()]));
    await this.tasks.close();
    await within(this.#statuses.flush(), LAST_STATUSES_MS);
  }

  /** Counts of starts of connectors and tasks, by attribute of `connect-worker-metrics`. */
  startups(): Readonly<Record<string, number>> {
    return this.#events.startups();
  }

  of(name: string): Supervisors {
    let supervisors = this.#supervisors.get(name);
    if (supervisors === undefined) {
      const { stores, placement, plugins, leader } = this.#dependencies;
      const { configs } = stores;
      const logger = this.#dependencies.logger.child({ connector: name });
      const connector = new ConnectorSupervisor(name, {
        configs,
        placement,
        connectors: this.#connectors,
        liveConfigs: this.#liveConfigs,
        statuses: this.#statuses,
        isHeld: () => this.#isHeld({ connector: name }),
        publish: (taskConfigs) => leader.publish(name, taskConfigs, () => configs.putTaskConfigs(name, taskConfigs)),
        logger,
      });
      const start = (assignment: TaskAssignment): void => this.#startTask(assignment);
      const shared = { configs, placement, plugins, tasks: this.tasks, statuses: this.#statuses, start, logger };
      supervisors = { logger, connector, tasks: new TaskSupervisor(name, shared, this.#taskStopTimeoutMs) };
      this.#supervisors.set(name, supervisors);
    }
    return supervisors;
  }

  /** Reconciles a connector and its tasks in the background. */
  reconcile(name: string): void {
    if (this.#stopping) return;
    const { connector, tasks } = this.of(name);
    this.#inBackground(
      name,
      Promise.all([connector.reconcile(), tasks.reconcile()]).then(() => {
        if (this.#dependencies.stores.configs.connector(name) === undefined) this.#forget(name);
      }),
    );
  }

  /** Called when the configuration of the connector or of its tasks has changed. */
  workChanged(name: string): void {
    this.listeners.notify((listener) => listener.onConnectorChanged?.(name, 'configuration'));
    this.reconcile(name);
  }

  /** Called when the connector was paused, stopped or resumed. */
  targetStateChanged(name: string): void {
    this.listeners.notify((listener) => listener.onConnectorChanged?.(name, 'target state'));
    this.reconcile(name);
  }

  reconcileAll(work: Work, handovers: Handovers): void {
    // Handovers of earlier assignments are stale. Some may be left, because their tasks have not started yet.
    for (const id of work.tasks) this.#received.delete(taskKey(id));
    for (const [key, handover] of handovers) this.#received.set(key, handover);
    for (const name of connectorsOf(work)) this.reconcile(name);
  }

  /** Stops revoked work and writes its statuses. If `handsOver` is set, resolves with the handovers of its tasks. */
  async release(work: Work, handsOver: boolean): Promise<Handovers> {
    this.tasks.mayWorkChanged();
    for (const connector of work.connectors) this.listeners.notify((listener) => listener.onLeft?.({ connector }));
    for (const task of work.tasks) {
      this.listeners.notify((listener) => listener.onLeft?.(task));
      this.#received.delete(taskKey(task));
    }
    this.#released.clear();
    const stopping = connectorsOf(work).map(async (name) => {
      const supervisors = this.#supervisors.get(name);
      await Promise.all([supervisors?.connector.reconcile(), supervisors?.tasks.reconcile(handsOver)]);
    });
    for (const outcome of await Promise.allSettled(stopping)) {
      if (outcome.status === 'rejected') {
        this.#dependencies.logger.error({ err: outcome.reason as unknown }, 'Failed to stop revoked work');
      }
    }
    await within(this.#statuses.flush(), REVOKED_STATUSES_MS);
    const handovers = new Map(this.#released);
    this.#released.clear();
    return handovers;
  }

  /** Restarts the requested connector and tasks, as far as they run on this worker. */
  restart(request: RestartRequest): void {
    const name = request.connector;
    const plan = planRestart(request, this.#dependencies.stores.statuses);
    const supervisors = this.#supervisors.get(name);
    if (plan === undefined || supervisors === undefined) return;
    const { restartConnector, tasks: planned } = plan;
    supervisors.logger.debug({ restartConnector, tasks: planned }, 'A restart was requested');
    if (restartConnector && this.#dependencies.placement.ownsConnector(name)) {
      this.#statuses.connector(name, 'RESTARTING');
      this.#inBackground(name, this.restartConnector(name));
    }
    const tasks = planned.filter((task) => supervisors.tasks.has(task));
    for (const task of tasks) {
      this.listeners.notify((listener) => listener.onRestart?.({ connector: name, task }));
      this.#statuses.task({ connector: name, task }, 'RESTARTING');
    }
    this.#inBackground(name, supervisors.tasks.restart(tasks));
  }

  /** Restarts only the instance of the connector because a user requested it. Resolves with `false` if it does not start. */
  async restartConnector(name: string): Promise<boolean> {
    this.listeners.notify((listener) => listener.onRestart?.({ connector: name }));
    return this.of(name).connector.restart();
  }

  /** Restarts a task because a user requested it. */
  async restartTask(id: TaskId): Promise<void> {
    this.listeners.notify((listener) => listener.onRestart?.(id));
    await this.of(id.connector).tasks.restart([id.task]);
  }

  /**
   * Resolves when the tasks of a stopped or deleted connector have ended on all workers, or after the time within which
   * every worker must have abandoned them.
   */
  async tasksEnded(name: string): Promise<void> {
    const deadline = Date.now() + this.#taskStopTimeoutMs + OTHERS_STATUSES_MS;
    await this.#supervisors.get(name)?.tasks.reconcile();
    // The worker that runs a task removes its status when the task has ended. The leader removes those of a deleted
    // connector.
    while (this.#dependencies.stores.statuses.tasks(name).length > 0 && Date.now() < deadline)
      await delay(STATUS_CHECK_MS);
  }

  #forget(name: string): void {
    this.#liveConfigs.forget(name);
    this.#events.forget(name);
    const isKnown = this.#supervisors.delete(name);
    const leads = isKnown && this.#dependencies.placement.isLeader;
    this.listeners.notify((listener) => listener.onForgotten?.(name, leads));
    if (leads) this.#statuses.removeConnector(name);
  }

  #restartAll(name: string): void {
    const supervisors = this.#supervisors.get(name);
    if (supervisors === undefined || this.#stopping) return;
    this.listeners.notify((listener) => listener.onRestartAll?.(name));
    this.#inBackground(name, Promise.all([supervisors.connector.restart(), supervisors.tasks.restartAll()]));
  }

  /** Restarts a failed connector or task automatically. */
  async restartFailed({ connector, task }: RestartTarget): Promise<void> {
    const supervisors = this.#supervisors.get(connector);
    if (supervisors === undefined || this.#stopping) return;
    if (task === undefined) await supervisors.connector.restart();
    else await supervisors.tasks.restart([task]);
  }

  /**
   * Returns true if the start must be delayed. This is only the case if the status is FAILED. With any other status, a
   * worker that does not support automatic restarts may have run the work in the meantime, so the listener's state may
   * be stale.
   */
  #isHeld(target: RestartTarget): boolean {
    return this.#statusOf(target)?.state === 'FAILED' && this.listeners.isHeld(target);
  }

  #statusOf({ connector, task }: RestartTarget): Status | undefined {
    const { statuses } = this.#dependencies.stores;
    return task === undefined ? statuses.connector(connector) : statuses.task({ connector, task });
  }

  /**
   * Sets a connector or task whose start is delayed to FAILED. The stack trace is that of the failure on the previous
   * worker if it is known, and otherwise the reason.
   */
  hold(target: RestartTarget, reason: string): void {
    const { connector, task } = target;
    const trace = this.#statusOf(target)?.trace ?? `${reason}\n`;
    if (task === undefined) this.#statuses.connector(connector, 'FAILED', trace);
    else {
      this.#statuses.task({ connector, task }, 'FAILED', trace);
      this.#dependencies.placement.arrived({ connector, task });
    }
  }

  #inBackground(name: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#dependencies.logger.error({ err: error, connector: name }, `Failed to reconcile connector ${name}`);
    });
  }

  #onConnectorEvent(event: ConnectorEvent): void {
    if (event.state === 'RECONFIGURE') this.#supervisors.get(event.connector)?.connector.reconfigure();
    else this.#events.connector(event);
  }

  #startTask(assignment: TaskAssignment): void {
    const { id } = assignment;
    if (this.#isHeld(id)) return;
    const key = taskKey(id);
    const handover = this.#received.get(key);
    this.#received.delete(key);
    this.tasks.start({ ...assignment, handover });
  }

  #onTaskEvent(event: TaskEvent): void {
    const { id } = event;
    if (id.replay === undefined && isState(event)) {
      const { logger } = this.#supervisors.get(id.connector) ?? {};
      logger?.debug({ task: id.task, state: event.state }, 'The task changed its state');
    }
    this.#events.task(event);
    const isReleased = id.replay === undefined && event.state === 'STOPPED';
    if (isReleased && event.handover !== undefined) this.#released.set(taskKey(id), event.handover);
  }
}

function connectorsOf({ connectors, tasks }: Work): string[] {
  return [...new Set([...connectors, ...tasks.map(({ connector }) => connector)])];
}
