import type { TaskHosting, TaskReport } from '../connect/tasks/task-hosting.ts';
import { parseLogLevel, type LogLevels } from '../observe/log-levels.ts';
import type { StageTracker } from '../observe/stage.ts';
import type { ThreadName } from '../observe/thread-figures.ts';
import type { ConfigListener, RestartRequest, SessionKey } from './config-state.ts';
import { ConnectorDirectory } from './connector-directory.ts';
import { ConnectorRequests, type RequestAnswers } from './connector-requests.ts';
import type { Work } from './group/group-bytes.ts';
import { HerderListeners, type HerderListener, type RestartTarget } from './herder-listener.ts';
import { LeaderDuties } from './leader-duties.ts';
import type { Handovers } from './group/handovers.ts';
import { mayWork, type ClusterView, type Placement, type WorkListener } from './placement.ts';
import type { ChangeRecorder } from './recorded-change.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { SessionKeySettings } from './session-keys.ts';
import { StatusWriter } from './status-writer.ts';
import type { OffsetStore } from './stores/offset-store.ts';
import type { OwnStore } from './stores/own-store.ts';
import { Supervision, type SupervisionDependencies } from './supervision.ts';

export interface HerderDependencies extends SupervisionDependencies {
  /** What the worker is busy with, for `/health` and the texts of time-outs. */
  readonly stage: StageTracker;
  /** Advertised `host:port`. */
  readonly workerId: string;
  readonly offsets: OffsetStore;
  readonly own: OwnStore;
  readonly logLevels: LogLevels;
  /** Keeps a record of what clients change. */
  readonly recorder: ChangeRecorder;
  /** Removes secrets from the traces of statuses. */
  readonly secrets: Pick<SecretMask, 'hide'>;
  /** Of a distributed worker. */
  readonly sessionKeys: SessionKeySettings | undefined;
  readonly answers: RequestAnswers;
  /** Of a worker with exactly-once delivery of sources. */
  readonly fenceZombies: ((connector: string) => Promise<void>) | undefined;
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
  readonly #dependencies: HerderDependencies;
  readonly #duties: LeaderDuties;
  readonly #supervision: Supervision;
  readonly #listeners = new HerderListeners();
  #ready = false;
  #becomeReady: () => void = () => undefined;
  readonly #readiness = new Promise<void>((resolve) => {
    this.#becomeReady = resolve;
  });
  #stopping = false;

  constructor(dependencies: HerderDependencies) {
    this.#dependencies = dependencies;
    this.stage = dependencies.stage;
    this.directory = new ConnectorDirectory(dependencies.configs, dependencies.statuses, dependencies.plugins);
    const statusWriter = new StatusWriter(
      dependencies.statuses,
      {
        workerId: dependencies.workerId,
        generation: () => dependencies.placement.generation,
        mayWork: () => mayWork(dependencies.placement),
        version: (connector) => this.directory.plugin(connector)?.version ?? null,
        hide: (trace) => dependencies.secrets.hide(trace),
      },
      dependencies.logger,
    );
    this.#supervision = new Supervision(dependencies, statusWriter, this.#listeners);
    this.#duties = new LeaderDuties({ ...dependencies, statusWriter });
    const { directory } = this;
    this.requests = new ConnectorRequests({ ...dependencies, directory, supervision: this.#supervision });
  }

  /** Before `start`. */
  listen(...listeners: readonly HerderListener[]): void {
    for (const listener of listeners) this.#listeners.add(listener);
  }

  /** What is this worker's own. */
  get placement(): Pick<Placement, 'ownsConnector' | 'ownsTask'> {
    return this.#dependencies.placement;
  }

  /** Advertised `host:port`. */
  get workerId(): string {
    return this.#dependencies.workerId;
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** What workers of the cluster sign their requests with. */
  get sessionKey(): SessionKey | undefined {
    return this.#dependencies.configs.sessionKey;
  }

  /** Resolves when the stores were read for the first time. */
  async whenReady(): Promise<void> {
    await this.#readiness;
  }

  /** Reads the stores, joins the cluster and starts what is this worker's. */
  async start(): Promise<void> {
    const { configs, statuses, offsets, own, logger } = this.#dependencies;
    await this.stage.during('reading to the end of internal topics', () =>
      Promise.all([configs.start(this), statuses.start(), offsets.start(), own.start()]),
    );
    // While the worker joins. Tasks that it is given stop elsewhere then, and should not wait for threads to start.
    const tasks = configs.names().reduce((sum, name) => sum + (configs.connector(name)?.taskConfigs.length ?? 0), 0);
    this.#supervision.tasks.prepare(tasks);
    await this.stage.during('ensuring membership in the cluster', () => this.#dependencies.placement.start(this));
    this.#ready = true;
    this.#becomeReady();
    for (const name of configs.names()) this.#supervision.reconcile(name);
    this.#listeners.tell((listener) => listener.onStarted?.());
    logger.info('Herder started');
  }

  /** Stops what runs, leaves the cluster, then stops the stores. What could not be stopped in time is left behind. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#ready = false;
    this.requests.close();
    this.#duties.follow();
    await this.#listeners.settle((listener) => listener.onStopping?.());
    await this.#supervision.stop();
    const { configs, statuses, offsets, own, placement } = this.#dependencies;
    await placement.stop();
    await this.#listeners.settle((listener) => listener.onStopped?.());
    await Promise.all([configs.stop(), statuses.stop(), offsets.stop(), own.stop()]);
    this.#dependencies.logger.info('Herder stopped');
  }

  /** This worker's place in its group; `undefined` for a standalone one. */
  cluster(): (ClusterView & { readonly workerId: string }) | undefined {
    const view = this.#dependencies.placement.view();
    return view && { ...view, workerId: this.#dependencies.workerId };
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
    await this.#dependencies.configs.refresh();
  }

  // WorkListener: what is this worker's now.

  async assigned(work: Work, handovers: Handovers): Promise<void> {
    if (this.#stopping) return;
    this.#supervision.reconcileAll(work, handovers);
    const { isLeader } = this.#dependencies.placement;
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
    this.#dependencies.placement.workChanged(name);
    this.#supervision.workChanged(name);
  }

  targetStateChanged(name: string): void {
    this.#supervision.targetStateChanged(name);
  }

  restartRequested(request: RestartRequest): void {
    this.#supervision.restart(request);
  }

  loggerLevelChanged(logger: string, text: string): void {
    const level = parseLogLevel(text);
    if (level === undefined) this.#dependencies.logger.warn(`The level ${text} for logger ${logger} is not one`);
    else this.#dependencies.logLevels.set(logger, level);
  }

  /** Resolves when tasks that are not wanted any more have ended here, or were given up. */
  async tasksEnded(name: string): Promise<void> {
    await this.#supervision.tasksEnded(name);
  }
}
