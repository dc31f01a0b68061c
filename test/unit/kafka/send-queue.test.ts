import assert from 'node:assert/strict';
import { Delivery, SendQueue, type PendingBatch } from '../../../src/kafka/producer/send-queue.ts';

describe('the send queue of a partition', () => {
  const batch = (): PendingBatch => {
    const delivery = new Delivery();
    delivery.begin();
    return { records: [], packed: undefined, byteLength: 0, deadline: 0, delivery, stamp: undefined, inFlight: false };
  };

  it('clears the last failure once the batch is stored, so that later failures do not report it', async () => {
    const queue = new SendQueue('t', 0);
    const first = batch();
    queue.batches.push(first);
    queue.lastFailure = new Error('the coordinator is loading');
    queue.markSent(first, undefined);
    queue.markCompleted(first);
    queue.stored(first);
    assert.deepEqual([queue.lastFailure, queue.batches.length, await first.delivery.done], [undefined, 0, []]);
  });

  it('keeps the last failure for the batches after a dropped one', () => {
    const queue = new SendQueue('t', 0);
    const first = batch();
    queue.batches.push(first, batch());
    const reason = new Error('no broker answers');
    queue.lastFailure = reason;
    queue.drop(first, reason);
    assert.deepEqual([queue.lastFailure, queue.batches.length], [reason, 1]);
  });
});
