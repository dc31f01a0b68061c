import assert from 'node:assert/strict';
import { Delivery, SendQueue, type PendingBatch } from '../../../src/kafka/producer/send-queue.ts';

describe('what waits for a partition', () => {
  const batch = (): PendingBatch => {
    const delivery = new Delivery();
    delivery.begin();
    return { records: [], packed: undefined, byteLength: 0, deadline: 0, delivery, stamp: undefined, inFlight: false };
  };

  it('forgets why a batch was not stored once it is: later failures do not name it as their cause', async () => {
    const queue = new SendQueue('t', 0);
    const first = batch();
    queue.batches.push(first);
    queue.lastFailure = new Error('the coordinator is loading');
    queue.depart(first, undefined);
    queue.arrive(first);
    queue.stored(first);
    assert.deepEqual([queue.lastFailure, queue.batches.length, await first.delivery.done], [undefined, 0, []]);
  });

  it('keeps the reason for those behind a batch that is given up', () => {
    const queue = new SendQueue('t', 0);
    const first = batch();
    queue.batches.push(first, batch());
    const reason = new Error('no broker answers');
    queue.lastFailure = reason;
    queue.drop(first, reason);
    assert.deepEqual([queue.lastFailure, queue.batches.length], [reason, 1]);
  });
});
