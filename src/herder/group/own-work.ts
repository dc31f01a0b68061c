import type { TaskId } from '../../connect/task-assignment.ts';
import type { Generation } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import { LeftHandovers, NO_HANDOVERS, type Handovers } from './handovers.ts';
import { NO_WORK, workNames, type MemberAssignment, type Work } from './group-bytes.ts';
import { taskKey } from './task-key.ts';
import { WorkSet } from './work-set.ts';

/**
 * The work of this worker by its last assignment, and what of it has to stop.
 *
 *   nothing --add--> work --giveUp--> less work, the rest goes on
 *   any --drop--> nothing; `dropped` resolves when everything has stopped
 */
export class OwnWork {
  /** This worker wants no work, from the next join on. */
  isDraining = false;
  readonly #owned = new WorkSet();
  readonly #stop: (work: Work, handsOver: boolean) => Promise<Handovers>;
  readonly #logger: Logger;
  /** Handovers of the tasks that were given up last, for the workers that get them. */
  readonly #handovers = new LeftHandovers();
  #generation: Generation | undefined;
  #assignment: MemberAssignment | undefined;
  /** Member and generation of the last assignment. */
  #taken: string | undefined;
  #drops = 0;
  #dropping: Promise<void> = Promise.resolve();
  #lossCount = 0;

  /** `stop` resolves when this work has been stopped here, with what it leaves to the workers that get it. */
  constructor(stop: (work: Work, handsOver: boolean) => Promise<Handovers>, logger: Logger) {
    this.#stop = stop;
    this.#logger = logger;
  }

  /** What tasks that this worker gave up leave to the workers that get them. */
  get handovers(): Handovers {
    return this.#handovers.all();
  }

  get all(): WorkSet {
    return this.#owned;
  }

  /** Of the last generation that was accepted. */
  get protocol(): string | undefined {
    return this.#generation?.protocol;
  }

  /** Of the last generation that was accepted; -1 before the first. */
  get generationId(): number {
    return this.#generation?.generationId ?? -1;
  }

  /** A worker that was given up does not know what the others have got meanwhile: as a leader it begins anew, with -1. */
  get lastCompletedGeneration(): number {
    return this.#assignment === undefined ? -1 : this.generationId;
  }

  /** `undefined` while this worker has no part in the division of work. */
  get assignment(): MemberAssignment | undefined {
    return this.#assignment;
  }

  get isAssignedAsLeader(): boolean {
    return this.#assignment !== undefined && this.#assignment.leader === this.#generation?.memberId;
  }

  /** How often everything was dropped: an assignment that was made before counts for nothing. */
  get drops(): number {
    return this.#drops;
  }

  /** Work that others may have already is being stopped here. */
  get isLosing(): boolean {
    return this.#lossCount > 0;
  }

  ownsConnector(name: string): boolean {
    return this.#owned.connectors.has(name);
  }

  ownsTask(id: TaskId): boolean {
    return this.#owned.tasks.has(taskKey(id));
  }

  /** The assignment of the generation is this worker's work already: the coordinator answers so while no rebalance is due. */
  hasTaken({ generationId, memberId }: Generation): boolean {
    return this.#assignment !== undefined && this.#taken === `${memberId} ${String(generationId)}`;
  }

  accept(generation: Generation): void {
    this.#generation = generation;
    this.#taken = undefined;
  }

  add(assignment: MemberAssignment): void {
    if (this.#generation !== undefined)
      this.#taken = `${this.#generation.memberId} ${String(this.#generation.generationId)}`;
    this.#owned.add(WorkSet.of(assignment.assigned));
    const { handovers: _taken, ...lasting } = assignment;
    this.#assignment = { ...lasting, assigned: this.#owned.toWork(), revoked: NO_WORK };
  }

  /** Resolves when what this worker has of it has been stopped, for others to get it. */
  async giveUp(work: WorkSet): Promise<void> {
    this.#handovers.add(await this.#end(work, true));
  }

  /**
   * Stops everything, in the background. `isLost`: others may have it already, so that it may not write any more. Otherwise nobody gets
   * it before this worker joins the group again, and tasks deliver and commit what they have taken.
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
        this.#logger.error({ err: error }, 'Work that was dropped could not be stopped');
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

  /** Resolves when everything that was dropped has been stopped. */
  async dropped(): Promise<void> {
    await this.#dropping;
  }
}
