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
  /** What the worker is busy with, for `/health` and the texts of time-outs. */
  readonly stage: StageTracker;
  readonly logger: Logger;
}

/**
 * The control side. Requests change what should run (the config store); the store's own log then tells this worker, as any
 * other, and supervisors bring what runs in line with it. Standalone differs in its stores and placement only. Features of the worker
 * listen (`listen`); the herder does not know them.
 */
export class Herder implements ConfigListener, WorkListener {
  readonly stage: StageTracker;
  /** Milliseconds since the epoch. */
  readonly startedAtMs = Date.now();
  /** What there is. */
  readonly directory: ConnectorDirectory;
  /** What clients may ask for. */
  readonly requests: ConnectorRequests;
  /** Advertised `host:port`. */
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

  /** Before `start`. */
  listen(...listeners: readonly HerderListener[]): void {
    for (const listener of listeners) this.#listeners.add(listener);
  }

  /** What is this worker's own. */
  get placement(): Pick<Placement, 'ownsConnector' | 'ownsTask'> {
    return this.#placement;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** What workers of the cluster sign their requests with. */
  get sessionKey(): SessionKey | undefined {
    return this.#stores.configs.sessionKey;
  }

  /** Resolves when the stores were read for the first time. */
  async whenReady(): Promise<void> {
    await this.#readiness;
  }

  /** Reads the stores, joins the cluster and starts what is this worker's. */
  async start(): Promise<void> {
    const { configs, statuses, offsets, own } = this.#stores;
    await this.stage.during('reading to the end of internal topics', () =>
      Promise.all([configs.start(this), statuses.start(), offsets.start(), own.start()]),
    );
    // While the worker joins. Tasks that it is given stop elsewhere then, and should not wait for threads to start.
    const tasks = configs.names().reduce((sum, name) => sum + (configs.connector(name)?.taskConfigs.length ?? 0), 0);
    this.#supervision.tasks.prepare(tasks);
    await this.stage.during('ensuring membership in the cluster', () => this.#placement.start(this));
    this.#ready = true;
    this.#becomeReady();
    for (const name of configs.names()) this.#supervision.reconcile(name);
    this.#listeners.tell((listener) => listener.onStarted?.());
    this.#logger.info('Herder started');
  }

  /** Stops what runs, leaves the cluster, then stops the stores. What could not be stopped in time is left behind. */
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

  /** This worker's place in its group; `undefined` for a standalone one. */
  cluster(): (ClusterView & { readonly workerId: string }) | undefined {
    const view = this.#placement.view();
    return view && { ...view, workerId: this.workerId };
  }

  /** The tasks that run on this worker. */
  async taskReports(): Promise<readonly TaskReport[]> {
    return (await this.#supervision.tasks.reports()).filter(({ id }) => id.replay === undefined);
  }

  /** Starts of connectors and tasks on this worker, by the names of metrics. */
  startups(): Readonly<Record<string, number>> {
    return this.#supervision.startups();
  }

  /** Starts and stops the tasks of this worker. */
  get tasks(): TaskHosting {
    return this.#supervision.tasks;
  }

  /** Restarts what has failed on this worker, not by request. */
  async restartFailed(target: RestartTarget): Promise<void> {
    await this.#supervision.restartFailed(target);
  }

  /** The start of what this worker was assigned is delayed: it is FAILED until then. */
  hold(target: RestartTarget, reason: string): void {
    this.#supervision.hold(target, reason);
  }

  /** In which thread of this worker each task is, by `connector-task`. */
  taskPlaces(): ReadonlyMap<string, ThreadName> {
    return this.#supervision.tasks.places();
  }

  /** Resolves when what others have changed so far is known here. */
  async catchUp(): Promise<void> {
    await this.#stores.configs.refresh();
  }

  // WorkListener: what is this worker's now.

  async assigned(work: Work, handovers: Handovers): Promise<void> {
    if (this.#stopping) return;
    this.#supervision.reconcileAll(work, handovers);
    const { isLeader } = this.#placement;
    this.#listeners.tell((listener) => listener.onRebalanced?.(isLeader));
    if (isLeader) await this.#duties.lead();
    else this.#duties.follow();
  }

  async revoked(work: Work, handsOver: boolean): Promise<Handovers> {
    const others = this.#listeners.settle((listener) => listener.onRevoked?.());
    const [left] = await Promise.all([this.#supervision.giveUp(work, handsOver), others]);
    return left;
  }

  // ConfigListener: what the log says now.

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
    this.#listeners.tell((listener) => listener.onLoggerLevel?.(logger, level));
  }

  /** Resolves when tasks that are not wanted any more have ended here, or were given up. */
  async tasksEnded(name: string): Promise<void> {
    await this.#supervision.tasksEnded(name);
  }
}
