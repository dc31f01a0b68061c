import type { TaskHosting, TaskReport } from '../connect/hosting/task-hosting.ts';
import type { Logger } from '../observe/logger.ts';
import type { StageTracker } from '../observe/stage.ts';
import type { ThreadName } from '../observe/thread-figures.ts';
import type { ConfigListener, RestartRequest, SessionKey } from './stores/config-state.ts';
import type { ConnectorDirectory } from './connector-directory.ts';
import type { ConnectorRequests } from './connector-requests.ts';
import type { Work } from './group/group-bytes.ts';
import type { HerderListener, HerderListeners, RestartTarget } from './herder-listener.ts';
import type { LeaderDuties } from './leader-duties.ts';
import type { Handovers } from './group/handovers.ts';
import type { ClusterView, Placement, WorkListener } from './group/placement.ts';
import type { HerderStores } from './stores/herder-stores.ts';
import type { Supervision } from './supervision.ts';

export interface HerderDependencies {
  readonly stores: HerderStores;
  readonly placement: Placement;
  readonly directory: ConnectorDirectory;
  readonly requests: ConnectorRequests;
  readonly supervision: Supervision;
  readonly duties: LeaderDuties;
  /** The current activity of the worker, for `/health` and for timeout messages. */
  readonly stage: StageTracker;
  readonly logger: Logger;
}

/**
 * The control side of the worker. Requests change the config store. Every worker, including this one, reads the change
 * from the log of the store, and its supervisors then start and stop connectors and tasks. A standalone worker has
 * other stores, another placement and slightly different responses (`RequestAnswers`). Other features of the worker
 * register as listeners (`listen`), so the herder does not depend on them.
 */
export class Herder implements ConfigListener, WorkListener {
  readonly stage: StageTracker;
  /** Milliseconds since the epoch. */
  readonly startedAtMs = Date.now();
  /** Connectors and tasks with their statuses. */
  readonly directory: ConnectorDirectory;
  /** Requests of clients. */
  readonly requests: ConnectorRequests;
  /** Advertised `host:port` of this worker. */
  readonly workerId: string;
  readonly #stores: HerderStores;
  readonly #placement: Placement;
  readonly #duties: LeaderDuties;
  readonly #supervision: Supervision;
  readonly #listeners: HerderListeners;
  readonly #logger: Logger;
  #ready = false;
  #becomeReady: () => void = () => undefined;
  readonly #readiness = new Promise<void>((resolve) => {
    this.#becomeReady = resolve;
  });
  #stopping = false;

  constructor(workerId: string, dependencies: HerderDependencies) {
    this.workerId = workerId;
    this.stage = dependencies.stage;
    this.directory = dependencies.directory;
    this.requests = dependencies.requests;
    this.#stores = dependencies.stores;
    this.#placement = dependencies.placement;
    this.#duties = dependencies.duties;
    this.#supervision = dependencies.supervision;
    this.#listeners = dependencies.supervision.listeners;
    this.#logger = dependencies.logger;
  }

  /** Must be called before `start`. */
  listen(...listeners: readonly HerderListener[]): void {
    for (const listener of listeners) this.#listeners.add(listener);
  }

  /** The connectors and tasks that are assigned to this worker. */
  get placement(): Pick<Placement, 'ownsConnector' | 'ownsTask'> {
    return this.#placement;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** The key with which the workers of the cluster sign requests to each other. */
  get sessionKey(): SessionKey | undefined {
    return this.#stores.configs.sessionKey;
  }

  /** Resolves when the worker has read the stores and joined the cluster. */
  async whenReady(): Promise<void> {
    await this.#readiness;
  }

  /** Reads the stores, joins the cluster and starts the connectors and tasks of this worker. */
  async start(): Promise<void> {
    const { configs, statuses, offsets, own } = this.#stores;
    await this.stage.during('reading to the end of internal topics', () =>
      Promise.all([configs.start(this), statuses.start(), offsets.start(), own.start()]),
    );
    // Threads start while the worker joins the group, so that tasks that move here from other workers need not wait for them.
    const tasks = configs.names().reduce((sum, name) => sum + (configs.connector(name)?.taskConfigs.length ?? 0), 0);
    this.#supervision.tasks.prepare(tasks);
    await this.stage.during('ensuring membership in the cluster', () => this.#placement.start(this));
    this.#ready = true;
    this.#becomeReady();
    for (const name of configs.names()) this.#supervision.reconcile(name);
    this.#listeners.notify((listener) => listener.onStarted?.());
    this.#logger.info('Herder started');
  }

  /**
   * Stops connectors and tasks, leaves the cluster, and then closes the stores. Tasks that do not stop in time are abandoned.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#ready = false;
    this.requests.close();
    this.#duties.follow();
    await this.#listeners.settle((listener) => listener.onStopping?.());
    await this.#supervision.stop();
    const { configs, statuses, offsets, own } = this.#stores;
    await this.#placement.stop();
    await this.#listeners.settle((listener) => listener.onStopped?.());
    await Promise.all([configs.stop(), statuses.stop(), offsets.stop(), own.stop()]);
    this.#logger.info('Herder stopped');
  }

  /** The worker group as this worker knows it; `undefined` for a standalone worker. */
  cluster(): (ClusterView & { readonly workerId: string }) | undefined {
    const view = this.#placement.view();
    return view && { ...view, workerId: this.workerId };
  }

  /** Reports of the tasks that run on this worker, without the tasks of replays. */
  async taskReports(): Promise<readonly TaskReport[]> {
    return (await this.#supervision.tasks.reports()).filter(({ id }) => id.replay === undefined);
  }

  /** Counts of starts of connectors and tasks on this worker, by metric name. */
  startups(): Readonly<Record<string, number>> {
    return this.#supervision.startups();
  }

  /** Starts and stops the tasks of this worker. */
  get tasks(): TaskHosting {
    return this.#supervision.tasks;
  }

  /** Restarts a failed connector or task of this worker automatically. */
  async restartFailed(target: RestartTarget): Promise<void> {
    await this.#supervision.restartFailed(target);
  }

  /** Sets a connector or task whose start is delayed to FAILED. */
  hold(target: RestartTarget, reason: string): void {
    this.#supervision.hold(target, reason);
  }

  /** The thread of each task of this worker, by `connector-task`. */
  taskPlaces(): ReadonlyMap<string, ThreadName> {
    return this.#supervision.tasks.places();
  }

  /** Resolves when this worker has read all changes that other workers have made. */
  async catchUp(): Promise<void> {
    await this.#stores.configs.refresh();
  }

  // Methods of WorkListener

  async assigned(work: Work, handovers: Handovers): Promise<void> {
    if (this.#stopping) return;
    this.#supervision.reconcileAll(work, handovers);
    const { isLeader } = this.#placement;
    this.#listeners.notify((listener) => listener.onRebalanced?.(isLeader));
    if (isLeader) await this.#duties.lead();
    else this.#duties.follow();
  }

  async revoked(work: Work, handsOver: boolean): Promise<Handovers> {
    const others = this.#listeners.settle((listener) => listener.onRevoked?.());
    const [handovers] = await Promise.all([this.#supervision.release(work, handsOver), others]);
    return handovers;
  }

  // Methods of ConfigListener

  workChanged(name: string): void {
    this.#placement.workChanged(name);
    this.#supervision.workChanged(name);
  }

  targetStateChanged(name: string): void {
    this.#supervision.targetStateChanged(name);
  }

  restartRequested(request: RestartRequest): void {
    this.#supervision.restart(request);
  }

  loggerLevelChanged(logger: string, level: string): void {
    this.#listeners.notify((listener) => listener.onLoggerLevel?.(logger, level));
  }

  /** Resolves when the tasks of a stopped or deleted connector have ended or were abandoned. */
  async tasksEnded(name: string): Promise<void> {
    await this.#supervision.tasksEnded(name);
  }
}
