import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { RequestQueue, type RequestQueueInsides } from '../../../src/kafka/library/kafkajs-internals.ts';
import { needsCheck, patchRequestQueue } from '../../../src/kafka/library/request-queue-patch.ts';

interface QueueOptions {
  readonly maxInFlightRequests: number;
  readonly requestTimeout: number;
  readonly enforceRequestTimeout: boolean;
  readonly clientId: string;
  readonly broker: string;
  readonly logger: { debug(): void };
}
interface Queue extends RequestQueueInsides {
  throttledUntil: number;
  pending: unknown[];
  throttleCheckTimeoutId: unknown;
  checkPendingRequests(): void;
  destroy(): void;
}

function newQueue(): Queue {
  const Constructor = RequestQueue as unknown as new (options: QueueOptions) => Queue;
  return new Constructor({
    maxInFlightRequests: 1,
    requestTimeout: 1000,
    enforceRequestTimeout: false,
    clientId: 'test',
    broker: 'nowhere',
    logger: { debug: () => undefined },
  });
}

describe('the patch of kafkajs’ request queue', () => {
  before(patchRequestQueue);

  it('is for the version that is installed', () => {
    const { version } = createRequire(import.meta.url)('kafkajs/package.json') as { version: string };
    assert.equal(version, '2.2.4');
    const queue = newQueue();
    assert.ok(Array.isArray(queue.pending));
    assert.equal(queue.throttledUntil, -1);
    assert.equal(queue.throttleCheckTimeoutId, null);
  });

  it('sets no timer on an idle connection', () => {
    const queue = newQueue();
    queue.checkPendingRequests();
    assert.equal(queue.throttleCheckTimeoutId, null);
  });

  it('keeps the timer while the broker throttles', () => {
    const queue = newQueue();
    queue.throttledUntil = Date.now() + 60_000;
    queue.checkPendingRequests();
    assert.notEqual(queue.throttleCheckTimeoutId, null);
    queue.destroy();
  });

  it('checks while requests wait and not otherwise', () => {
    const queue = { scheduleCheckPendingRequests: () => undefined };
    assert.equal(needsCheck({ ...queue, pending: [], throttledUntil: -1 }, 1000), false);
    assert.equal(needsCheck({ ...queue, pending: ['request'], throttledUntil: -1 }, 1000), true);
    assert.equal(needsCheck({ ...queue, pending: [], throttledUntil: 1001 }, 1000), true);
  });
});
