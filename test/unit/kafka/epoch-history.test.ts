import assert from 'node:assert/strict';
import { EpochHistory } from '../../../src/kafka/consumer/epoch-history.ts';
import { BatchField, writeInt64 } from '../../../src/kafka/records/record-batch.ts';
import { writeBatch } from '../../../src/kafka/records/record-batch-writer.ts';

/** A batch with one record. */
function batch(offset: number, epoch: number): Buffer {
  const record = { topic: 't', partition: 0, key: null, value: Buffer.from('x'), timestamp: null, headers: [] };
  const bytes = writeBatch([record], {
    topic: 't',
    compression: 'none',
    nowMs: 0,
    producerId: -1,
    producerEpoch: -1,
    baseSequence: -1,
  });
  writeInt64(bytes, offset, BatchField.baseOffset);
  bytes.writeInt32BE(epoch, BatchField.leaderEpoch);
  return bytes;
}

describe('the leader epochs of the records of a partition', () => {
  it('are known by offset, from the position of the last seek on', () => {
    const history = new EpochHistory();
    history.reset(1);
    for (const epoch of [2, 5]) history.add(batch(epoch * 10, epoch));
    assert.deepEqual(
      [20, 21, 50, 51].map((offset) => history.epochBefore(offset)),
      [1, 2, 2, 5],
    );
    history.truncateAt(50);
    assert.equal(history.epochBefore(51), 2);
  });

  it('are unknown for offsets before those epochs that are kept', () => {
    const history = new EpochHistory();
    history.reset(1);
    for (let epoch = 2; epoch <= 70; epoch++) history.add(batch(epoch * 10, epoch));
    assert.equal(history.epochBefore(701), 70);
    assert.equal(history.epochBefore(25), undefined);
  });
});
