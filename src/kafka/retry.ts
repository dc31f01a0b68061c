import type { Cluster } from './cluster.ts';
import { TimeoutError, isRetriable } from './errors.ts';

/** Doubles from `retry.backoff.ms` to `retry.backoff.max.ms`, each a fifth shorter or longer so that clients spread. */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #attempts = 0;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  static of({ config }: Cluster): Backoff {
    return new Backoff(config.retryBackoffMs, config.retryBackoffMaxMs);
  }

  nextMs(): number {
    const baseMs = Math.min(this.#maxMs, this.#firstMs * 2 ** this.#attempts);
    this.#attempts += 1;
    return baseMs * (0.8 + Math.random() * 0.4);
  }

  reset(): void {
    this.#attempts = 0;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** For loops that nobody waits for: does not keep the process running once the client has been closed. */
export function idle(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/**
 * Repeats an action while its failure is one that waiting can mend, for at most `timeoutMs`
 * (`default.api.timeout.ms`); `what` names it in the timeout's message.
 */
export async function retry<T>(
  what: string,
  backoff: Backoff,
  timeoutMs: number,
  action: () => Promise<T>,
  stop: () => boolean = () => false,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!isRetriable(error) || stop()) throw error;
      const waitMs = backoff.nextMs();
      if (Date.now() + waitMs > deadline) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new TimeoutError(`${what} did not succeed within ${String(timeoutMs)} ms: ${reason}`, { cause: error });
      }
      await sleep(waitMs);
    }
  }
}

/** True when the outcome came in time, false when it did not; rejects as it does. The timer does not outlive it. */
export async function within(timeoutMs: number, outcome: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  try {
    return await Promise.race([outcome.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
