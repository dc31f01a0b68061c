import assert from 'node:assert/strict';
import { DeadLetterQueue } from '../../../src/connect/pipeline/dead-letter-queue.ts';
import type { Admin, Producer } from '../../../src/kafka/api.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

describe('the queue of dead letters', () => {
  it('closes its producer if the producer cannot connect', async () => {
    let closed = 0;
    const producer = {
      connect: () => Promise.reject(new Error('SASL authentication failed')),
      close: () => Promise.resolve(void closed++),
    } as unknown as Producer;
    const admin = { describeTopics: () => Promise.resolve(new Map([['dead', 1]])) } as unknown as Admin;
    const options = { topic: 'dead', replicationFactor: 1, contextHeaders: true, hide: (text: string) => text };
    const opening = DeadLetterQueue.open({ connector: 'c', task: 0 }, options, { admin, producer }, silentLogger);
    await assert.rejects(opening, /SASL authentication failed/);
    assert.equal(closed, 1);
  });
});
