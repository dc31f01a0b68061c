import type { TaskId } from '../../connect/tasks/task-assignment.ts';
import { RequestError, toError } from '../../errors.ts';
import {
  idle,
  KafkaGroup,
  Signal,
  within,
  type Generation,
  type GroupMember,
} from '../../kafka/group/group-membership.ts';
import type { ClusterView, Placement, WorkListener } from '../placement.ts';
import { decodeAssignment, NO_WORK, type MemberAssignment } from './group-bytes.ts';
import { removePredecessor } from './predecessor.ts';
import { RebalanceHistory } from './rebalance-history.ts';
import { SessionWatch } from './session-watch.ts';
import { markedClientId, Strangers } from './strangers.ts';
import { taskKey, WorkSet } from './work-set.ts';
import type { WorkerGroupParts } from './worker-group-settings.ts';
import { WorkerProtocol } from './worker-protocol.ts';

interface Rejoin {
  readonly reason: string;
  /** The config record that is the reason: an assignment that knows of it makes the rejoining unnecessary. */
  readonly configOffset?: number;
}

const STRANGER_REFUSED = 'a worker that is not Sluice was refused';
const DEALT_ANEW = 'all work is dealt out anew (eager protocol)';
const LEAVE_MS = 2000;
const AFTER_FAILURE_MS = 5000;

/**
 * This worker's place in a group of workers that share connectors and tasks
 * (org.apache.kafka.connect.runtime.distributed.{WorkerCoordinator,DistributedHerder#handleRebalanceCompleted}).
 *
 *   outside --start--> joining --assignment--> settled
 *   settled --members or work changed--> joining (work goes on) --assignment: revoked work stops, new work starts--> settled
 *   settled --work was revoked--> joining again at once, so that it can be dealt out
 *   any --session lost--> all work stops --> joining
 *   joining --a stranger leads--> out of the group until there is none (Strangers) --> joining
 *   joining --config topic cannot be read as far as the others have--> all work stops, out of the group --> joining
 *   any --stop--> left
 */
export class WorkerGroup implements Placement {
  readonly #parts: WorkerGroupParts;
  readonly #watch: SessionWatch;
  readonly #changed = new Signal();
  #group: KafkaGroup | undefined;
  #protocol: WorkerProtocol | undefined;
  #strangers: Strangers | undefined;
  #member: GroupMember | undefined;
  #listener: WorkListener | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  readonly #owned = new WorkSet();
  #assignment: MemberAssignment | undefined;
  #held: Generation | undefined;
  #generationId = -1;
  /** How often everything was dropped: an assignment that was made before counts for nothing. */
  #drops = 0;
  #dropping: Promise<void> = Promise.resolve();
  #droppingCount = 0;
  #rejoin: Rejoin | undefined;
  #joinAgainAtMs: number | undefined;
  #settled = false;
  readonly #waiters = new Set<{ resolve: () => void; reject: (error: Error) => void }>();
  readonly #known = new Map<string, number>();
  readonly #history: RebalanceHistory;

  constructor(parts: WorkerGroupParts) {
    const { settings, logger } = parts;
    this.#parts = parts;
    this.#history = new RebalanceHistory(logger);
    const member = () => this.#member ?? { lastContactAt: 0, unanswered: false, state: 'joining' };
    this.#watch = new SessionWatch(settings.sessionTimeoutMs, member, (reason) => {
      this.#drop(reason);
    });
  }

  get generation(): number {
    return this.#generationId;
  }

  get isLeader(): boolean {
    return this.#watch.mayWork && this.#assignment !== undefined && this.#assignment.leader === this.#held?.memberId;
  }

  get leaderUrl(): string | undefined {
    return this.#assignment?.leaderUrl;
  }

  get mayWork(): boolean {
    return this.#watch.mayWork && this.#droppingCount === 0;
  }

  ownsConnector(name: string): boolean {
    return this.#owned.connectors.has(name);
  }

  ownsTask(id: TaskId): boolean {
    return this.#owned.tasks.has(taskKey(id));
  }

  ownerUrl(connector: string, task?: number): string | undefined {
    return this.isLeader ? this.#protocol?.ownerUrl(connector, task) : undefined;
  }

  /** Rejects when the group cannot be joined with these settings. */
  async start(listener: WorkListener): Promise<void> {
    const { configured, settings, logger } = this.#parts;
    this.#listener = listener;
    const url = this.#parts.url();
    for (const name of configured.work().connectors) this.#known.set(name, configured.taskCount(name) ?? 0);
    const { host } = new URL(url);
    const clientId = markedClientId(this.#parts.clientId || `connect-${host}`);
    this.#group = new KafkaGroup({ ...this.#parts.client, 'client.id': clientId }, settings, logger);
    const waiting = { pause: (ms: number) => this.#pause(ms), isStopped: () => this.#stopped };
    this.#strangers = new Strangers({ ...settings, ...waiting, group: this.#group, logger });
    this.#protocol = new WorkerProtocol({
      ...settings,
      configured,
      url,
      offer: settings.protocol,
      allocation: () => this.#assignment ?? null,
      // Who was given up does not know what the others have got meanwhile: as a leader it begins anew.
      lastCompletedGeneration: () => (this.#assignment === undefined ? -1 : this.#generationId),
      strangers: this.#strangers,
      logger,
    });
    await removePredecessor(this.#group, url, logger);
    await this.#strangers.untilGone();
    if (this.#stopped) throw new RequestError(500, 'Worker is shutting down');
    this.#member = this.#newMember();
    this.#watch.start();
    await this.#round();
    this.#running = this.#run();
    await this.settled();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#watch.stop();
    this.#changed.notify();
    for (const { reject } of this.#waiters) reject(new RequestError(500, 'Worker is shutting down'));
    this.#waiters.clear();
    await this.#member?.leave(LEAVE_MS);
    await this.#running;
    await this.#group?.close();
  }

  workChanged(connector: string): void {
    const { configured } = this.#parts;
    const count = configured.taskCount(connector);
    const before = this.#known.get(connector);
    if (count === before) return;
    if (count === undefined) this.#known.delete(connector);
    else this.#known.set(connector, count);
    const happened =
      count === undefined ? 'was deleted' : before === undefined ? 'was created' : `has ${String(count)} tasks`;
    this.#requestRejoin({ reason: `connector ${connector} ${happened}`, configOffset: configured.offset });
  }

  async settled(): Promise<void> {
    if (this.#stopped) throw new RequestError(500, 'Worker is shutting down');
    if (this.#settled && this.#member?.state === 'stable') return;
    await new Promise<void>((resolve, reject) => {
      this.#waiters.add({ resolve, reject });
    });
  }

  view(): ClusterView {
    return {
      groupId: this.#parts.settings.groupId,
      protocol: this.#held?.protocol,
      generation: this.#generationId,
      leaderUrl: this.leaderUrl,
      isLeader: this.isLeader,
      rebalancing: !this.#settled,
      ...this.#owned.toWork(),
      completedRebalances: this.#history.completed,
      rebalanceAverageMs: this.#history.averageMs,
      rebalanceMaxMs: this.#history.maxMs,
      lastRebalance: this.#history.last,
      requests: this.#group?.figures,
    };
  }

  #newMember(): GroupMember {
    return required(this.#group).member(required(this.#protocol), (state) => {
      if (state !== 'stable') this.#settled = false;
      this.#changed.notify();
    });
  }

  #requestRejoin(rejoin: Rejoin): void {
    if (this.#listener === undefined || this.#stopped) return;
    this.#rejoin ??= rejoin;
    this.#settled = false;
    this.#changed.notify();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#untilRejoin();
        if (!this.#isStopped()) await this.#round();
      } catch (error) {
        if (this.#isStopped()) return;
        this.#parts.logger.error({ err: error }, 'The worker group cannot be joined; trying again');
        this.#drop('the group cannot be joined');
        await this.#pause(AFTER_FAILURE_MS);
      }
    }
  }

  /** The loops go on while others change this. */
  #isStopped(): boolean {
    return this.#stopped;
  }

  async #untilRejoin(): Promise<void> {
    while (!this.#stopped) {
      const { state } = required(this.#member);
      if (state !== 'stable') {
        this.#history.begin(
          this.#rejoin?.reason ?? (state === 'rebalancing' ? 'a worker joined or left' : 'the membership was lost'),
        );
        return;
      }
      const waitMs = this.#joinAgainAtMs === undefined ? undefined : this.#joinAgainAtMs - Date.now();
      if (waitMs !== undefined && waitMs <= 0) {
        this.#rejoin ??= { reason: 'the delay for work of lost workers is over' };
      }
      if (this.#rejoin !== undefined) {
        this.#history.begin(this.#rejoin.reason);
        required(this.#member).requestRejoin(this.#rejoin.reason);
        return;
      }
      await this.#changed.wait(waitMs);
    }
  }

  /** One rebalance, from giving up what must not run meanwhile to starting what is new. */
  async #round(): Promise<void> {
    const member = required(this.#member);
    const { settings } = this.#parts;
    const isLost = member.state === 'lost' || member.state === 'failed';
    // Nobody holds work back for a lost member when there is no delay: others have it.
    if (isLost && (this.#watch.isOverdue || settings.maxDelayMs === 0)) this.#drop('the group gave this worker up');
    if (settings.protocol.toLowerCase() === 'eager' || this.#held?.protocol === 'default') this.#dropForEager();
    await this.#dropping;
    const drops = this.#drops;
    this.#rejoin = undefined;
    this.#joinAgainAtMs = undefined;
    const strangers = required(this.#strangers);
    const generation = await strangers.join(member);
    if (strangers.refusesLeader(generation.leaderId)) {
      await this.#leave('a worker that is not Sluice leads the group');
      await strangers.untilGone();
      return;
    }
    await this.#apply(generation, drops);
    if (this.isLeader && (await strangers.removeRefused())) this.#requestRejoin({ reason: STRANGER_REFUSED });
  }

  async #apply(generation: Generation, drops: number): Promise<void> {
    const assignment = this.#decode(generation);
    if (assignment === undefined) {
      this.#requestRejoin({ reason: 'the leader gave no assignment' });
      await idle(this.#parts.settings.heartbeatIntervalMs);
      return;
    }
    if (generation.protocol === 'default' && this.#held?.protocol !== 'default') this.#dropForEager();
    const revoked = WorkSet.of(assignment.revoked);
    await this.#giveUp(revoked.shared(this.#owned));
    this.#generationId = generation.generationId;
    this.#held = generation;
    if (!(await this.#hasRead(assignment.configOffset))) {
      await this.#stayOut();
      return;
    }
    if (assignment.error !== 'none') {
      this.#requestRejoin({ reason: 'the leader had not read the config topic to its end' });
      return;
    }
    if (drops !== this.#drops || required(this.#member).generation?.generationId !== generation.generationId) {
      this.#requestRejoin({ reason: 'this worker gave up its work meanwhile' });
      return;
    }
    this.#owned.add(WorkSet.of(assignment.assigned));
    this.#assignment = { ...assignment, assigned: this.#owned.toWork(), revoked: NO_WORK };
    this.#joinAgainAtMs = assignment.delayMs > 0 ? Date.now() + assignment.delayMs : undefined;
    if (this.#knows(assignment)) this.#rejoin = undefined;
    await this.#listener?.assigned(assignment.assigned);
    this.#history.complete(generation, assignment, this.#owned);
    if (!revoked.isEmpty) this.#requestRejoin({ reason: 'this worker gave up work that others are to get' });
    if (this.isLeader && this.#protocol?.dealsAgain === true) this.#requestRejoin({ reason: DEALT_ANEW });
    if (this.#rejoin === undefined) this.#settle();
  }

  #knows({ configOffset }: MemberAssignment): boolean {
    return this.#rejoin?.configOffset !== undefined && this.#rejoin.configOffset <= configOffset;
  }

  #settle(): void {
    this.#settled = true;
    for (const { resolve } of this.#waiters) resolve();
    this.#waiters.clear();
  }

  #decode({ assignment, generationId }: Generation): MemberAssignment | undefined {
    try {
      return decodeAssignment(assignment);
    } catch (error) {
      const fields = { generation: generationId, reason: toError(error).message };
      this.#parts.logger.warn(fields, 'No assignment was received');
      return undefined;
    }
  }

  async #hasRead(configOffset: number): Promise<boolean> {
    return this.#parts.configured.offset >= configOffset || this.#readToEnd();
  }

  async #readToEnd(): Promise<boolean> {
    const { configured, settings, logger } = this.#parts;
    try {
      return await within(settings.syncTimeoutMs, configured.refresh());
    } catch (error) {
      logger.warn({ reason: toError(error).message }, 'The config topic cannot be read');
      return false;
    }
  }

  /** Out of the group until the config topic can be read, so as not to hold the others up. */
  async #stayOut(): Promise<void> {
    const { settings, logger } = this.#parts;
    logger.warn('The end of the config topic was not reached in time; leaving the group until it is');
    await this.#leave('the config topic cannot be read');
    const pauseMs = Math.min(settings.unsyncBackoffMs, Math.max(settings.syncTimeoutMs, settings.maxDelayMs / 10));
    do await this.#pause(pauseMs);
    while (!this.#stopped && !(await this.#readToEnd()));
  }

  async #leave(reason: string): Promise<void> {
    this.#drop(reason);
    await required(this.#member).leave(LEAVE_MS);
    this.#member = this.#newMember();
  }

  /** Ends early when the worker stops. */
  async #pause(ms: number): Promise<void> {
    const until = Date.now() + ms;
    while (!this.#stopped && Date.now() < until) await this.#changed.wait(until - Date.now());
  }

  async #giveUp(work: WorkSet): Promise<void> {
    if (work.isEmpty) return;
    this.#owned.remove(work);
    await this.#listener?.revoked(work.toWork());
  }

  /** Stops everything; the next round waits for that. */
  #drop(reason: string, level: 'warn' | 'info' = 'warn'): void {
    this.#drops += 1;
    this.#assignment = undefined;
    this.#settled = false;
    const all = this.#owned.without();
    if (!all.isEmpty) {
      const count = { connectors: all.connectors.size, tasks: all.tasks.size };
      this.#parts.logger[level](count, `All connectors and tasks of this worker stop: ${reason}`);
      this.#droppingCount += 1;
      const stopped = Promise.all([this.#dropping, this.#giveUp(all)])
        .catch((error: unknown) => {
          this.#parts.logger.error({ err: error }, 'Work that was dropped could not be stopped');
        })
        .finally(() => (this.#droppingCount -= 1));
      this.#dropping = stopped.then(() => undefined);
    }
    this.#requestRejoin({ reason });
  }

  #dropForEager(): void {
    if (!this.#owned.isEmpty) this.#drop(DEALT_ANEW, 'info');
  }
}

function required<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('The worker group has not been started');
  return part;
}
