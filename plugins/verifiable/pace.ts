import { setTimeout as delay } from 'node:timers/promises';
import { Turn } from '../../src/index.ts';

/** Maximum time for which one call of `isDue` waits. */
const MAX_WAIT_MS = 250;
/** Assumed size of a record in bytes. It determines after how many records the event loop may run other work. */
const RECORD_BYTES = 200;

/** Spaces records evenly (org.apache.kafka.common.utils.ThroughputThrottler). */
export class Pace {
  readonly #perSecond: number;
  readonly #signal: AbortSignal;
  readonly #startedAtMs = performance.now();
  readonly #turn = new Turn();
  #count = 0;

  constructor(perSecond: number, signal: AbortSignal) {
    this.#perSecond = perSecond;
    this.#signal = signal;
  }

  /**
   * Resolves with `true` when the next record is due; `false` if it is not due within MAX_WAIT_MS, or if the task
   * stops.
   */
  async isDue(): Promise<boolean> {
    if (this.#perSecond >= 0) {
      const dueMs = this.#startedAtMs + (this.#count * 1000) / this.#perSecond;
      const waitMs = this.#perSecond === 0 ? Infinity : dueMs - performance.now();
      if (waitMs > 0) await pause(Math.min(waitMs, MAX_WAIT_MS), this.#signal);
      if (waitMs > MAX_WAIT_MS) return false;
    }
    if (this.#turn.isOver(RECORD_BYTES)) await this.#turn.next();
    if (this.#signal.aborted) return false;
    this.#count += 1;
    return true;
  }
}

/** Waits for `ms` milliseconds. The wait ends early, without an error, when the task stops. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
