/**
 * Range of a random factor by which each wait is multiplied, so that several callers that wait for the same event do not all
 * retry at the same moment.
 */
export type Jitter = readonly [least: number, most: number];

export const NO_JITTER: Jitter = [1, 1];
const A_FIFTH: Jitter = [0.8, 1.2];

export interface BackoffPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Each wait is this many times as long as the previous one. Default: 2. */
  readonly factor?: number;
  /** Default: a random factor from 0.8 to 1.2, so a wait may exceed `maxMs` by a fifth. */
  readonly jitter?: Jitter;
  /** Jitter of waits that are limited by `maxMs`. Default: `jitter`. */
  readonly jitterAtMax?: Jitter;
}

/** Milliseconds to wait after a failure that followed `attempts` earlier ones. `random` is a number from 0 to 1. */
export function backoffMs(attempts: number, policy: BackoffPolicy, random = Math.random()): number {
  const { firstMs, maxMs, factor = 2, jitter = A_FIFTH, jitterAtMax = jitter } = policy;
  const grownMs = firstMs === 0 ? 0 : firstMs * factor ** attempts;
  const [least, most] = grownMs > maxMs ? jitterAtMax : jitter;
  return Math.min(maxMs, grownMs) * (least + random * (most - least));
}

/** Waits that grow with each attempt, from `firstMs` to `maxMs`. */
export class Backoff {
  readonly #policy: BackoffPolicy;
  #attempts = 0;

  constructor(firstMs: number, maxMs: number, jitter?: Jitter) {
    this.#policy = { firstMs, maxMs, ...(jitter && { jitter }) };
  }

  /** Milliseconds to wait before the next attempt. */
  nextMs(): number {
    return backoffMs(this.#attempts++, this.#policy);
  }

  /** Resets the attempts, so that the next wait is the first one again. */
  reset(): void {
    this.#attempts = 0;
  }
}
