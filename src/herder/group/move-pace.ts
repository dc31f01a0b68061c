import { WorkSet } from './work-set.ts';

/** Delay after which all members rejoin, so that revoked work is assigned without waiting for a heartbeat. */
const REVOKED_MS = 20;
/**
 * Delay after which all members rejoin, so that the next part can be revoked. Because of the delay, even a slow member
 * receives its new tasks before the next rebalance begins. A member with new tasks rejoins only when these tasks
 * deliver records.
 */
export const ASSIGNED_MS = 100;
/** Numbers of tasks in a part of the work. */
const FIRST_SIZE = 4;
const SMALLEST_SIZE = 2;
const LARGEST_SIZE = 32;
/**
 * Limits of the time between the revocations of two parts. Below `QUICK_MS`, the next part is larger; between `SLOW_MS`
 * and `HANGING_MS`, it is smaller. Above `HANGING_MS`, the time hardly depends on the size of the part, because its
 * tasks do not start or have nothing to deliver.
 */
const QUICK_MS = 250;
const SLOW_MS = 500;
const HANGING_MS = 2000;

/** Returns true if an assignment with this delay is one of several that move work in parts. */
export function isMoving(delayMs: number): boolean {
  return delayMs > 0 && delayMs <= ASSIGNED_MS;
}

/**
 * Limits how much work moves at the same time. Stopped work stays idle until all work that was moved earlier is running again.
 * Therefore the next part of the work is stopped only when the tasks of the previous part deliver records on their new workers.
 * The time that this takes determines the size of the next part (see `QUICK_MS`).
 */
export class MovePace {
  readonly #now: () => number;
  #size = FIRST_SIZE;
  #begunAtMs: number | undefined;
  #mayRevoke = true;
  #remaining = 0;
  #hasRevoked = false;
  #isMoving = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Starts a rebalance that assigns this number of tasks. If the number is not 0, `take` returns no work. */
  begin(assigned: number): void {
    this.#mayRevoke = assigned === 0;
    this.#remaining = 0;
    this.#hasRevoked = false;
    this.#isMoving = false;
  }

  /** Returns the part of this work that is revoked in this rebalance. */
  take(work: WorkSet): WorkSet {
    if (work.isEmpty) return work;
    this.#isMoving = true;
    if (!this.#mayRevoke) return new WorkSet();
    if (!this.#hasRevoked) this.#beginPart();
    const part = new WorkSet([...work.connectors].slice(0, this.#size), [...work.tasks].slice(0, this.#remaining));
    this.#remaining -= part.tasks.size;
    return part;
  }

  /** Returns the delay in milliseconds after which all members rejoin; 0 if no work is moving. */
  end(): number {
    if (this.#hasRevoked) return REVOKED_MS;
    if (this.#isMoving) return ASSIGNED_MS;
    this.#begunAtMs = undefined;
    this.#size = FIRST_SIZE;
    return 0;
  }

  #beginPart(): void {
    const now = this.#now();
    const tookMs = now - (this.#begunAtMs ?? now - QUICK_MS);
    if (tookMs < QUICK_MS) this.#size = Math.min(Math.ceil(this.#size * 1.5), LARGEST_SIZE);
    else if (tookMs > SLOW_MS && tookMs < HANGING_MS) this.#size = Math.max(SMALLEST_SIZE, this.#size >> 1);
    this.#begunAtMs = now;
    this.#remaining = this.#size;
    this.#hasRevoked = true;
  }
}
