import assert from 'node:assert/strict';
import { PartitionBuffer } from '../../../src/kafka/consumer/partition-buffer.ts';

describe('what is read ahead of a partition', () => {
  let buffer: PartitionBuffer;

  beforeEach(() => {
    buffer = new PartitionBuffer('t', 0);
    buffer.positionAt(5, 2, { topicId: 'id', leaderEpoch: 2 });
  });

  it('is good for a seek to the record that comes next anyway', () => {
    assert.deepEqual([buffer.isAt(5, 2, 'id'), buffer.isAt(5, undefined, undefined)], [true, true]);
  });

  it('is dropped by a seek to another offset, another topic of the name, and another epoch', () => {
    assert.deepEqual(
      [buffer.isAt(4, 2, 'id'), buffer.isAt(5, 2, 'other'), buffer.isAt(5, 1, 'id')],
      [false, false, false],
    );
  });

  it('is not to be relied on where the log is in doubt, or has no such offset', () => {
    buffer.loseRange();
    assert.equal(buffer.isAt(5, 2, 'id'), false);
    buffer.positionAt(5, 2, { topicId: 'id', leaderEpoch: 2 });
    buffer.leaderIs({ topicId: 'id', leaderEpoch: 3 });
    assert.equal(buffer.isAt(5, 2, 'id'), false);
  });
});
