import { idle, sleep } from '../../async/sleep.ts';
import type { TaskId } from '../../connect/task-assignment.ts';
import { RequestError, toError } from '../../errors.ts';
import type { Generation, KafkaGroup } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClusterView, DrainablePlacement, GroupWorker, WorkListener } from './placement.ts';
import { ConfigSync } from './config-sync.ts';
import { isSluice } from './foreign-members.ts';
import { decodeAssignment, workNames, type MemberAssignment } from './group-bytes.ts';
import { NO_HANDOVERS } from './handovers.ts';
import { KnownConnectors, type CountedWork } from './known-connectors.ts';
import { isMoving } from './move-pace.ts';
import { OwnWork } from './own-work.ts';
import { joinedLine, RebalanceHistory } from './rebalance-history.ts';
import { RejoinSchedule, type Rejoin } from './rejoin.ts';
import { SessionWatch } from './session-watch.ts';
import { Settling } from './settling.ts';
import { WorkSet } from './work-set.ts';
import type { WorkerGroupSettings } from './worker-group-settings.ts';
import { WorkerMembership } from './worker-membership.ts';

const FOREIGN_REFUSED = 'a worker that is not Sluice was refused';
const ALL_REASSIGNED = 'all work is reassigned (eager protocol)';
const AFTER_FAILURE_MS = 5000;
/** Minimum delay before the next rejoin if the coordinator has repeated an assignment. */
const REPEATED_MS = 50;

/**
 * Membership of this worker in a group of workers that share connectors and tasks
 * (org.apache.kafka.connect.runtime.distributed.{WorkerCoordinator,DistributedHerder#handleRebalanceCompleted}).
 *
 *   outside --start--> joining --assignment--> settled
 *   settled --members or work changed--> joining (work continues) --assignment: revoked work stops, new work starts--> settled
 *   settled --work was revoked--> joining immediately, so that the work can be assigned to others
 *   any --session lost--> all work stops --> joining
 *   joining --a foreign member leads--> outside until no foreign member is in the group (ForeignMembers) --> joining
 *   joining --config topic cannot be read up to the offset of the assignment--> all work stops, outside --> joining
 *   any --stop--> left
 */
export class WorkerGroup implements DrainablePlacement {
  readonly #settings: WorkerGroupSettings;
  readonly #configSync: ConfigSync;
  readonly #logger: Logger;
  readonly #work: OwnWork;
  readonly #membership: WorkerMembership;
  readonly #watch: SessionWatch;
  readonly #history: RebalanceHistory;
  readonly #schedule: RejoinSchedule;
  #listener: WorkListener | undefined;
  #running: Promise<void> | undefined;
  readonly #shutdown = new AbortController();
  readonly #known: KnownConnectors;
  readonly #settling = new Settling();

  constructor(group: KafkaGroup, settings: WorkerGroupSettings, configured: CountedWork, logger: Logger) {
    this.#settings = settings;
    this.#configSync = new ConfigSync(configured, settings, logger);
    this.#logger = logger;
    this.#known = new KnownConnectors(configured);
    this.#history = new RebalanceHistory(logger, settings.metricWindow);
    this.#work = new OwnWork(async (work, handsOver) => {
      return (await this.#listener?.revoked(work, handsOver)) ?? NO_HANDOVERS;
    }, logger);
    this.#membership = new WorkerMembership(group, settings, configured, this.#work, logger);
    const groupState = () => ({ state: this.#membership.state, delayMs: this.#work.delayMs });
    this.#schedule = new RejoinSchedule(groupState);
    const member = () => this.#membership.watched;
    this.#watch = new SessionWatch(settings.sessionTimeoutMs, member, (reason) => {
      this.#drop(reason);
    });
  }

  get generation(): number {
    return this.#work.generationId;
  }

  get isLeader(): boolean {
    return this.#watch.mayWork && this.#work.isAssignedAsLeader;
  }

  get leaderUrl(): string | undefined {
    return this.#work.assignment?.leaderUrl;
  }

  get mayWorkUntil(): number {
    return this.#work.isLosing ? 0 : this.#watch.mayWorkUntil;
  }

  ownsConnector(name: string): boolean {
    return this.#work.ownsConnector(name);
  }

  ownsTask(id: TaskId): boolean {
    return this.#work.ownsTask(id);
  }

  ownerUrl(connector: string, task?: number): string | undefined {
    return this.isLeader ? this.#membership.ownerUrl(connector, task) : undefined;
  }

  workers(): readonly GroupWorker[] | undefined {
    return this.isLeader ? this.#membership.workers : undefined;
  }

  get isLeaderForeign(): boolean {
    const { leader } = this.#work.assignment ?? {};
    return leader !== undefined && !isSluice(leader);
  }

  drain(isDraining: boolean): void {
    if (this.#work.isDraining === isDraining) return;
    this.#work.isDraining = isDraining;
    const reason = isDraining ? 'this worker is drained' : 'this worker accepts work again';
    this.#logger.info(
      isDraining ? 'This worker is draining and hands over its work' : 'This worker accepts work again',
    );
    this.#requestRejoin({ reason });
  }

  arrived(id: TaskId): void {
    this.#schedule.arrived(id);
  }

  /** Rejects if it is impossible to join the group with these settings. */
  async start(listener: WorkListener): Promise<void> {
    this.#listener = listener;
    this.#known.readAll();
    await this.#membership.start(this.#shutdown.signal, (state) => {
      if (state !== 'stable') this.#settling.begin();
      this.#schedule.groupChanged();
    });
    this.#watch.start();
    await this.#rebalance();
    this.#running = this.#run();
    await this.settled();
  }

  async stop(): Promise<void> {
    this.#shutdown.abort();
    this.#watch.stop();
    this.#schedule.close();
    this.#settling.abandon(new RequestError(500, 'Worker is shutting down'));
    await this.#membership.stop();
    await this.#running;
    await this.#membership.close();
  }

  workChanged(connector: string): void {
    const rejoin = this.#known.changed(connector);
    if (rejoin !== undefined) this.#requestRejoin(rejoin);
  }

  async settled(): Promise<void> {
    if (this.#isStopped()) throw new RequestError(500, 'Worker is shutting down');
    if (this.#settling.isSettled && this.#membership.state === 'stable') return;
    await this.#settling.next();
  }

  view(): ClusterView {
    const { groupId, sessionTimeoutMs, maxDelayMs } = this.#settings;
    return {
      groupId,
      protocol: this.#work.protocol,
      generation: this.generation,
      leaderUrl: this.leaderUrl,
      isLeader: this.isLeader,
      rebalancing: !this.#settling.isSettled || isMoving(this.#work.delayMs),
      draining: this.#work.isDraining,
      lostWorkWaitsMs: sessionTimeoutMs + maxDelayMs,
      ...this.#work.all.toWork(),
      ...this.#history.view(),
      requests: this.#membership.figures,
    };
  }

  #requestRejoin(rejoin: Rejoin): void {
    if (this.#listener === undefined || this.#isStopped()) return;
    this.#settling.begin();
    this.#schedule.request(rejoin);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped()) {
      try {
        const reason = await this.#schedule.untilDue(this.#shutdown.signal);
        if (reason === undefined) return;
        this.#history.begin(reason);
        this.#membership.requestRejoin(reason);
        await this.#rebalance();
      } catch (error) {
        if (this.#isStopped()) return;
        this.#logger.error({ err: error }, 'Failed to join the worker group; retrying');
        this.#drop('the group cannot be joined');
        await sleep(AFTER_FAILURE_MS, this.#shutdown.signal).catch(() => undefined);
      }
    }
  }

  /** This is a method, because the compiler would otherwise assume that the value does not change during a loop. */
  #isStopped(): boolean {
    return this.#shutdown.signal.aborted;
  }

  /** Runs one rebalance, from dropping the work that must not run during it to starting the new work. */
  async #rebalance(): Promise<void> {
    const { isLost } = this.#membership;
    // Without a rebalance delay, the work of a lost member has already been assigned to others.
    if (isLost && (this.#watch.isOverdue || this.#settings.maxDelayMs === 0))
      this.#drop('the session of this worker timed out');
    if (this.#settings.protocol.toLowerCase() === 'eager' || this.#work.protocol === 'default')
      this.#dropForEager(false);
    await this.#work.dropped();
    const { drops } = this.#work;
    this.#schedule.reset();
    this.#logger.debug({ generation: this.generation }, 'Joining the worker group');
    const generation = await this.#membership.join();
    if (this.#membership.refusesLeader(generation)) {
      await this.#leave('a worker that is not Sluice leads the group');
      await this.#membership.untilForeignMembersGone(this.#shutdown.signal);
      return;
    }
    await this.#apply(generation, drops);
    if (this.isLeader && (await this.#membership.removeRefused())) this.#requestRejoin({ reason: FOREIGN_REFUSED });
  }

  async #apply(generation: Generation, drops: number): Promise<void> {
    const assignment = assignmentOf(generation, this.#logger);
    if (assignment === undefined) {
      this.#requestRejoin({ reason: 'the leader sent no assignment' });
      await idle(this.#settings.heartbeatIntervalMs);
      return;
    }
    this.#logger.info(joinedLine(generation, assignment));
    if (generation.protocol === 'default' && this.#work.protocol !== 'default') this.#dropForEager(true);
    if (this.#work.hasApplied(generation)) {
      // Other members are still stopping the work that moves, so this worker rejoins a little later.
      if (assignment.delayMs > 0) this.#schedule.rejoinAfter(Math.max(assignment.delayMs, REPEATED_MS));
      this.#settle();
      return;
    }
    const revoked = WorkSet.of(assignment.revoked);
    await this.#work.release(revoked);
    this.#work.accept(generation);
    if (this.#configSync.offset < assignment.configOffset && !(await this.#configSync.readToEnd())) {
      this.#logger.warn('Reading the config topic to its end failed or timed out; leaving the group until it succeeds');
      await this.#leave('the config topic cannot be read');
      await this.#configSync.untilRead(this.#shutdown.signal);
      return;
    }
    if (assignment.error !== 'none') {
      this.#requestRejoin({ reason: 'the leader could not read the config topic to its end' });
      return;
    }
    if (drops !== this.#work.drops || !this.#membership.holds(generation)) {
      this.#requestRejoin({ reason: 'this worker dropped its work during the rebalance' });
      return;
    }
    this.#work.add(assignment);
    this.#schedule.assigned(assignment);
    this.#logger.info(`Starting connectors and tasks using config offset ${String(assignment.configOffset)}`);
    await this.#listener?.assigned(assignment.assigned, assignment.handovers ?? NO_HANDOVERS);
    this.#logger.info('Finished starting connectors and tasks');
    this.#history.complete(generation, assignment, this.#work.all, this.#membership.workers);
    if (!revoked.isEmpty) this.#requestRejoin({ reason: 'this worker released work for other workers' });
    if (this.isLeader && this.#membership.needsReassignment) this.#requestRejoin({ reason: ALL_REASSIGNED });
    this.#settle();
  }

  #settle(): void {
    if (!this.#schedule.isRequested) this.#settling.end();
  }

  async #leave(reason: string): Promise<void> {
    this.#drop(reason);
    await this.#membership.leave();
  }

  /** Stops all work. The next rebalance starts after the work has stopped. */
  #drop(reason: string, isLost = true): void {
    this.#settling.begin();
    this.#work.drop(reason, isLost);
    this.#requestRejoin({ reason });
  }

  #dropForEager(isLost: boolean): void {
    if (!this.#work.all.isEmpty) this.#drop(ALL_REASSIGNED, isLost);
  }
}

/** Returns the assignment of the leader. If it cannot be read, logs a warning and returns `undefined`. */
function assignmentOf({ assignment, generationId }: Generation, logger: Logger): MemberAssignment | undefined {
  try {
    const decoded = decodeAssignment(assignment);
    const { leaderUrl, configOffset, assigned, revoked, delayMs, error } = decoded;
    const work = { assigned: workNames(assigned), revoked: workNames(revoked) };
    logger.debug(
      { generation: generationId, leaderUrl, configOffset, ...work, delayMs, error },
      'Received an assignment',
    );
    return decoded;
  } catch (error) {
    const fields = { generation: generationId, reason: toError(error).message };
    logger.warn(fields, 'Received no valid assignment');
    return undefined;
  }
}
