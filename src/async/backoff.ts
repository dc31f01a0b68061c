/** Each wait is multiplied by a random factor between these two, so that concurrent waits for the same event do not end together. */
export type Jitter = readonly [least: number, most: number];

export const NO_JITTER: Jitter = [1, 1];
const A_FIFTH: Jitter = [0.8, 1.2];

export interface BackoffPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Factor by which each wait exceeds the previous one. Default: 2. */
  readonly factor?: number;
  /** Default: up to a fifth shorter or longer, the longest wait too. */
  readonly jitter?: Jitter;
  /** For waits that have grown beyond `maxMs`. Default: that of the others. */
  readonly jitterAtMax?: Jitter;
}

/** Milliseconds to wait after a failure, when there were `attempts` before it. `random`: from 0 to 1. */
export function backoffMs(attempts: number, policy: BackoffPolicy, random = Math.random()): number {
  const { firstMs, maxMs, factor = 2, jitter = A_FIFTH, jitterAtMax = jitter } = policy;
  const grownMs = firstMs === 0 ? 0 : firstMs * factor ** attempts;
  const [least, most] = grownMs > maxMs ? jitterAtMax : jitter;
  return Math.min(maxMs, grownMs) * (least + random * (most - least));
}

/** Waits that grow from the first to the longest with each attempt. */
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

  /** The next wait is the first one again. */
  reset(): void {
    this.#attempts = 0;
  }
}
