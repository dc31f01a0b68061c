import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms` milliseconds. Rejects with an AbortError if the signal aborts first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal === undefined ? {} : { signal });
}

/** Sleeps without keeping the process running, for background loops. */
export function idle(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}
