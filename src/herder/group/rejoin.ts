import { Signal } from '../../async/signal.ts';
import type { TaskId } from '../../connect/task-assignment.ts';
import type { MemberState } from '../../kafka/group/group-membership.ts';
import { Arrivals } from './arrivals.ts';
import type { MemberAssignment } from './group-bytes.ts';
import { ASSIGNED_MS, isMoving } from './move-pace.ts';

/** A request to rejoin the worker group. */
export interface Rejoin {
  readonly reason: string;
  /**
   * Offset after the config record that caused the request. An assignment that is based on this offset or a later one
   * makes the rejoin unnecessary.
   */
  readonly configOffset?: number;
}

/**
 * Combines two requests: the first reason is reported. Only an assignment that is based on the config records of both
 * makes the rejoin unnecessary. If one of them was not caused by a config record, no assignment does.
 * @internal
 */
export function mergeRejoins(first: Rejoin | undefined, second: Rejoin): Rejoin {
  if (first === undefined) return second;
  const { reason } = first;
  if (first.configOffset === undefined || second.configOffset === undefined) return { reason };
  return { reason, configOffset: Math.max(first.configOffset, second.configOffset) };
}

/**
 * Returns true if an assignment that is based on the config topic up to `configOffset` makes the rejoin unnecessary.
 * @internal
 */
export function isObsolete(rejoin: Rejoin, configOffset: number): boolean {
  return rejoin.configOffset !== undefined && rejoin.configOffset <= configOffset;
}

/** The state of the membership and the delay of the last assignment. */
interface GroupState {
  readonly state: MemberState | undefined;
  readonly delayMs: number;
}

/**
 * Decides when and why this worker rejoins its group: after a rebalance of the group has started or the membership was
 * lost, on request, or after the delay of the last assignment. While work moves in parts, the rejoin waits until the
 * new tasks of this worker deliver records.
 */
export class RejoinSchedule {
  readonly #group: () => GroupState;
  readonly #arrivals: Arrivals;
  readonly #changed = new Signal();
  #request: Rejoin | undefined;
  /** End of the delay, in milliseconds since the epoch. */
  #delayEndMs: number | undefined;

  constructor(group: () => GroupState) {
    this.#group = group;
    this.#arrivals = new Arrivals(() => {
      this.#changed.notify();
    });
  }

  /** True if a request is pending. */
  get isRequested(): boolean {
    return this.#request !== undefined;
  }

  request(rejoin: Rejoin): void {
    this.#request = mergeRejoins(this.#request, rejoin);
    this.#changed.notify();
  }

  /** Called when the state of the membership has changed. */
  groupChanged(): void {
    this.#changed.notify();
  }

  /** See `Placement.arrived`. */
  arrived(id: TaskId): void {
    this.#arrivals.note(id);
  }

  /** Discards requests and the delay, because the worker rejoins now. */
  reset(): void {
    this.#request = undefined;
    this.#delayEndMs = undefined;
  }

  /** Called when an assignment was applied. It may make a pending request obsolete. */
  assigned({ assigned, delayMs, configOffset }: MemberAssignment): void {
    this.#arrivals.expect(assigned.tasks);
    if (delayMs > 0) this.rejoinAfter(delayMs);
    if (this.#request !== undefined && isObsolete(this.#request, configOffset)) this.#request = undefined;
  }

  rejoinAfter(delayMs: number): void {
    this.#delayEndMs = Date.now() + delayMs;
  }

  /** Resolves with the reason when a rejoin is due. Resolves with `undefined` if the signal aborts before that. */
  async untilDue(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const { state, delayMs } = this.#group();
      const isStarting = this.#arrivals.count > 0 && delayMs === ASSIGNED_MS;
      if (isStarting && (state === 'stable' || state === 'rebalancing')) {
        // The next part of the work is revoked when all members have rejoined. By then, the new tasks of this worker
        // must deliver records.
        await this.#changed.wait();
        continue;
      }
      if (state !== 'stable') {
        const reason = state === 'rebalancing' ? 'a worker joined or left' : 'the membership was lost';
        return this.#request?.reason ?? reason;
      }
      const waitMs = this.#delayEndMs === undefined ? undefined : this.#delayEndMs - Date.now();
      if (waitMs !== undefined && waitMs <= 0) {
        const reason = isMoving(delayMs) ? 'work moves in parts' : 'the rebalance delay is over';
        this.#request = mergeRejoins(this.#request, { reason });
      }
      if (this.#request !== undefined) return this.#request.reason;
      await this.#changed.wait(waitMs);
    }
    return undefined;
  }

  /** Wakes `untilDue`. The caller must have aborted its signal. */
  close(): void {
    this.#arrivals.close();
    this.#changed.notify();
  }
}
