import { Backoff } from '../../async/backoff.ts';
import { sleep } from '../../async/sleep.ts';
import type { Cluster } from './cluster.ts';
import { TimeoutError, isRetriable } from '../errors/kafka-errors.ts';

/** Returns an exponential back-off from `retry.backoff.ms` to `retry.backoff.max.ms`. */
export function backoffOf({ config }: Cluster): Backoff {
  return new Backoff(config.retryBackoffMs, config.retryBackoffMaxMs);
}

/**
 * Repeats an action while it fails with retriable errors, for at most `timeoutMs` and until `stop` returns true. `what`
 * names the action in the message of the TimeoutError.
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
