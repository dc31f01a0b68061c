import { RequestQueue, type RequestQueueInsides } from './kafkajs-internals.ts';

/**
 * kafkajs 2.2.4 keeps a timer of 1 ms running per idle connection (its issues 1556, 1704, 1751): `throttledUntil - now`
 * is negative when nothing is throttled, and the timer's own callback starts the next one. For one consumer and one
 * producer that was 5,500 callbacks a second and 3 % of a core; Node 24 also warns about the negative timeout. The check
 * is needed only while a request waits or the broker throttles us.
 * @internal
 */
export function needsCheck(queue: RequestQueueInsides, nowMs: number): boolean {
  return queue.pending.length > 0 || queue.throttledUntil > nowMs;
}

const PATCHED = Symbol.for('sluice.kafka.request-queue-patched');

/** Applied once per process, before the first connection is made. */
export function patchRequestQueue(): void {
  const prototype: RequestQueueInsides & { [PATCHED]?: true } = RequestQueue.prototype;
  if (prototype[PATCHED]) return;
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleWhenNeeded(this: RequestQueueInsides): void {
    if (needsCheck(this, Date.now())) schedule.call(this);
  };
  prototype[PATCHED] = true;
}
