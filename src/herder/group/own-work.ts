import type { TaskId } from '../../connect/task-assignment.ts';
import type { Generation } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import { NO_HANDOVERS, RecentHandovers, type Handovers } from './handovers.ts';
import { NO_WORK, workNames, type MemberAssignment, type Work } from './group-bytes.ts';
import { taskKey } from './task-key.ts';
import { WorkSet } from './work-set.ts';

/**
 * The work that is assigned to this worker, and its revocation.
 *
 *   nothing --add--> work --release--> less work, the rest continues
 *   any --drop--> nothing; `dropped` resolves when all work has stopped
 */
export class OwnWork {
  /** If set, this worker joins as a draining member from the next join on. */
  isDraining = false;
  readonly #owned = new WorkSet();
  readonly #stop: (work: Work, handsOver: boolean) => Promise<Handovers>;
  readonly #logger: Logger;
  /** Handovers of recently released tasks, for their next workers. */
  readonly #handovers = new RecentHandovers();
  #generation: Generation | undefined;
  #assignment: MemberAssignment | undefined;
  /** Member id and generation of the last assignment that was applied. */
  #applied: string | undefined;
  #drops = 0;
  #dropping: Promise<void> = Promise.resolve();
  #lossCount = 0;

  /** `stop` stops this work on this worker, and resolves with the handovers for the next workers. */
  constructor(stop: (work: Work, handsOver: boolean) => Promise<Handovers>, logger: Logger) {
    this.#stop = stop;
    this.#logger = logger;
  }

  get handovers(): Handovers {
    return this.#handovers.all();
  }

  get all(): WorkSet {
    return this.#owned;
  }

  /** Protocol of the last accepted generation. */
  get protocol(): string | undefined {
    return this.#generation?.protocol;
  }

  /** Id of the last accepted generation; -1 before the first. */
  get generationId(): number {
    return this.#generation?.generationId ?? -1;
  }

  /**
   * Id of the last accepted generation; -1 while this worker has no assignment, for example because it lost its
   * membership and dropped all work. This worker then does not know what was assigned to the others in the meantime, so
   * as a leader it starts without a previous assignment.
   */
  get lastCompletedGeneration(): number {
    return this.#assignment === undefined ? -1 : this.generationId;
  }

  /** `undefined` while this worker has no assignment. */
  get assignment(): MemberAssignment | undefined {
    return this.#assignment;
  }

  /** Delay of the last assignment; 0 if there is none. */
  get delayMs(): number {
    return this.#assignment?.delayMs ?? 0;
  }

  get isAssignedAsLeader(): boolean {
    return this.#assignment !== undefined && this.#assignment.leader === this.#generation?.memberId;
  }

  /** The number of times that all work was dropped. An assignment that was received before a drop is stale. */
  get drops(): number {
    return this.#drops;
  }

  /** True while work that other workers may already run is being stopped here. */
  get isLosing(): boolean {
    return this.#lossCount > 0;
  }

  ownsConnector(name: string): boolean {
    return this.#owned.connectors.has(name);
  }

  ownsTask(id: TaskId): boolean {
    return this.#owned.tasks.has(taskKey(id));
  }

  /**
   * Returns true if the assignment of this generation has already been applied. The coordinator repeats an assignment if the
   * worker rejoins while no rebalance is due.
   */
  hasApplied({ generationId, memberId }: Generation): boolean {
    return this.#assignment !== undefined && this.#applied === `${memberId} ${String(generationId)}`;
  }

  accept(generation: Generation): void {
    this.#generation = generation;
    this.#applied = undefined;
  }

  add(assignment: MemberAssignment): void {
    if (this.#generation !== undefined)
      this.#applied = `${this.#generation.memberId} ${String(this.#generation.generationId)}`;
    this.#owned.add(WorkSet.of(assignment.assigned));
    const { handovers: _used, ...lasting } = assignment;
    this.#assignment = { ...lasting, assigned: this.#owned.toWork(), revoked: NO_WORK };
  }

  /** Stops the given work. Resolves when other workers can run it. */
  async release(work: WorkSet): Promise<void> {
    this.#handovers.add(await this.#end(work, true));
  }

  /**
   * Stops all work in the background. If `isLost` is set, other workers may already run it, so it must not write any more.
   * Otherwise no other worker receives this work before this worker rejoins the group, so tasks deliver and commit their
   * pending records.
   */
  drop(reason: string, isLost: boolean): void {
    this.#drops += 1;
    this.#assignment = undefined;
    this.#handovers.clear();
    const all = this.#owned.without();
    if (all.isEmpty) return;
    const count = { connectors: all.connectors.size, tasks: all.tasks.size };
    this.#logger[isLost ? 'warn' : 'info'](count, `All connectors and tasks of this worker stop: ${reason}`);
    if (isLost) this.#lossCount += 1;
    const stopped = Promise.all([this.#dropping, this.#end(all, false)])
      .catch((error: unknown) => {
        this.#logger.error({ err: error }, 'Failed to stop dropped work');
      })
      .finally(() => {
        if (isLost) this.#lossCount -= 1;
      });
    this.#dropping = stopped.then(() => undefined);
  }

  async #end(revoked: WorkSet, handsOver: boolean): Promise<Handovers> {
    const own = revoked.shared(this.#owned);
    if (own.isEmpty) return NO_HANDOVERS;
    this.#owned.remove(own);
    const work = own.toWork();
    const fields = { generation: this.generationId, work: workNames(work), handsOver };
    this.#logger.debug(fields, 'Stopping revoked work');
    const handovers = await this.#stop(work, handsOver);
    this.#logger.debug(fields, 'Stopped revoked work');
    return handovers;
  }

  /** Resolves when all dropped work has been stopped. */
  async dropped(): Promise<void> {
    await this.#dropping;
  }
}
