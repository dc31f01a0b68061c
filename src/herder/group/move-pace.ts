import { WorkSet } from './work-set.ts';

/** After this delay all members rejoin, so that revoked work is assigned without waiting for a heartbeat. */
const REVOKED_MS = 20;
/**
 * After this delay all members rejoin, so that the next part is revoked. A member with new tasks rejoins when they deliver. A member
 * that rejoins too early starts the next rebalance before a slow member has its tasks.
 */
export const ASSIGNED_MS = 100;
const FIRST_SIZE = 4;
const SMALLEST_SIZE = 2;
const LARGEST_SIZE = 32;
/** Time from one part to the next. A longer time hardly depends on the size: tasks do not start or have nothing to deliver. */
const QUICK_MS = 250;
const SLOW_MS = 500;
const HANGING_MS = 2000;

/** Whether an assignment with this delay is one of several by which work moves in parts. */
export function isMoving(delayMs: number): boolean {
  return delayMs > 0 && delayMs <= ASSIGNED_MS;
}

/**
 * Limits how much work moves at the same time. Stopped work waits until the work before it has started, so the next part is stopped
 * only when the previous one delivers on its new workers. The longer that takes, the smaller are the parts.
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

  /** Starts a rebalance that assigns this number of tasks, which must deliver before others stop. */
  begin(assigned: number): void {
    this.#mayRevoke = assigned === 0;
    this.#remaining = 0;
    this.#hasRevoked = false;
    this.#isMoving = false;
  }

  /** The part of this work that is revoked in this rebalance. */
  take(work: WorkSet): WorkSet {
    if (work.isEmpty) return work;
    this.#isMoving = true;
    if (!this.#mayRevoke) return new WorkSet();
    if (!this.#hasRevoked) this.#beginPart();
    const part = new WorkSet([...work.connectors].slice(0, this.#size), [...work.tasks].slice(0, this.#remaining));
    this.#remaining -= part.tasks.size;
    return part;
  }

  /** After how many milliseconds all members rejoin; 0: nothing moves. */
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
