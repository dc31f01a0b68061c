import { WorkSet } from './work-set.ts';

/** After it all members join again, for what was taken away to be dealt out. They need not wait for a heartbeat to hear of it. */
const TAKEN_MS = 20;
/**
 * After it all members join again for the next part to be taken away; who was given tasks joins when they deliver. Who comes too soon
 * begins the next round before a slow one has its tasks.
 */
export const DEALT_MS = 100;
const FIRST_SIZE = 4;
const SMALLEST_SIZE = 2;
const LARGEST_SIZE = 32;
/** From one part to the next. What takes longer has little to do with the size: tasks that do not start, or have nothing to deliver. */
const QUICK_MS = 250;
const SLOW_MS = 500;
const HANGING_MS = 2000;

/** Whether an assignment with this delay is one of several by which work moves part by part. */
export function isMoving(delayMs: number): boolean {
  return delayMs > 0 && delayMs <= DEALT_MS;
}

/**
 * How much work moves at the same time, as long as it was not lost: what is stopped waits for the starts in front of it, so the next
 * part is stopped when the last one delivers on its new workers. A part is the smaller, the longer that takes.
 */
export class MovePace {
  readonly #now: () => number;
  #size = FIRST_SIZE;
  #begunAtMs: number | undefined;
  #mayTake = true;
  #left = 0;
  #hasTaken = false;
  #isMoving = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A rebalance. `dealt`: so many tasks are dealt out in it, and are to deliver before others stop. */
  begin(dealt: number): void {
    this.#mayTake = dealt === 0;
    this.#left = 0;
    this.#hasTaken = false;
    this.#isMoving = false;
  }

  /** What of it is taken away in this rebalance. */
  take(work: WorkSet): WorkSet {
    if (work.isEmpty) return work;
    this.#isMoving = true;
    if (!this.#mayTake) return new WorkSet();
    if (!this.#hasTaken) this.#beginPart();
    const part = new WorkSet([...work.connectors].slice(0, this.#size), [...work.tasks].slice(0, this.#left));
    this.#left -= part.tasks.size;
    return part;
  }

  /** After how many milliseconds all members join again; 0: nothing moves. */
  end(): number {
    if (this.#hasTaken) return TAKEN_MS;
    if (this.#isMoving) return DEALT_MS;
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
    this.#left = this.#size;
    this.#hasTaken = true;
  }
}
