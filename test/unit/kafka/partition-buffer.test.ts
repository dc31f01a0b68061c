import assert from 'node:assert/strict';
import type { ProducedRecord } from '../../../src/kafka/api.ts';
import { PartitionBuffer, type TakenRecords } from '../../../src/kafka/consumer/partition-buffer.ts';
import { BatchField, writeInt64 } from '../../../src/kafka/records/record-batch.ts';
import { writeBatch } from '../../../src/kafka/records/record-batch-writer.ts';

const PLACE = { topic: 't', nowMs: 5000, producerId: -1, producerEpoch: 0, baseSequence: 0 };

function recordOf(text: string): ProducedRecord {
  return { topic: 't', partition: 0, key: null, value: Buffer.from(text), timestamp: 1000, headers: [] };
}

function offsetsOf({ block }: TakenRecords): number[] {
  return block === undefined ? [] : [...block.offsets.subarray(0, block.count)];
}

describe('the buffer of a partition', () => {
  let buffer: PartitionBuffer;

  beforeEach(() => {
    buffer = new PartitionBuffer('t', 0);
    buffer.seek(5, 2, { topicId: 'id', leaderEpoch: 2 });
  });

  it('is kept by a seek to the current position', () => {
    assert.deepEqual([buffer.isAt(5, 2, 'id'), buffer.isAt(5, undefined, undefined)], [true, true]);
  });

  it('is dropped by a seek to another offset, a recreated topic, or another epoch', () => {
    assert.deepEqual(
      [buffer.isAt(4, 2, 'id'), buffer.isAt(5, 2, 'other'), buffer.isAt(5, 1, 'id')],
      [false, false, false],
    );
  });

  it('is dropped by a seek while the position is being validated or out of range', () => {
    buffer.markOutOfRange();
    assert.equal(buffer.isAt(5, 2, 'id'), false);
    buffer.seek(5, 2, { topicId: 'id', leaderEpoch: 2 });
    buffer.updateLeader({ topicId: 'id', leaderEpoch: 3 });
    assert.equal(buffer.isAt(5, 2, 'id'), false);
  });

  it('is decompressed again after a pause, from the next record on (S1)', () => {
    const records = ['a', 'b', 'c'].map((text) => recordOf(text));
    const packed = writeBatch(records, { ...PLACE, compression: 'gzip' });
    writeInt64(packed, 5, BatchField.baseOffset);
    buffer.add(packed, { checkCrcs: true, aborted: undefined, maxUnpackedBytes: 1000 });
    const first = buffer.take(2);
    buffer.freeDecompressed();
    const second = buffer.take(2);
    assert.deepEqual([offsetsOf(first), first.finished], [[5, 6], false]);
    assert.deepEqual([offsetsOf(second), second.finished], [[7], true]);
    assert.ok(first.openedBytes > 0 && second.openedBytes === first.openedBytes);
    assert.deepEqual([buffer.hasBuffered, buffer.bufferedBytes], [false, 0]);
  });
});
