import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms` milliseconds; rejects with an AbortError when the signal comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal === undefined ? {} : { signal });
}

/** For loops that nobody waits for: does not keep the process running. */
export function idle(ms: number): Promise<void> {
  return delay(ms, undefined, { ref: false });
}
