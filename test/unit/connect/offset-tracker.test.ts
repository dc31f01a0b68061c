import assert from 'node:assert/strict';
import { coordinatesKey, OffsetTracker } from '../../../src/connect/source/offset-tracker.ts';
import type { SourceCoordinates, SourceRecord } from '../../../src/data/record.ts';

function source(sourcePartition: SourceCoordinates, n: number): SourceRecord {
  return {
    sourcePartition,
    sourceOffset: { n },
    topic: 't',
    partition: null,
    keySchema: null,
    key: null,
    valueSchema: null,
    value: null,
    timestamp: null,
    headers: [],
  };
}

describe('OffsetTracker', () => {
  const partition = { table: 't' };
  const at = (n: number) => source(partition, n);

  it('gives the newest acknowledged offset of each partition, once', () => {
    const tracker = new OffsetTracker();
    assert.deepEqual(tracker.takeCommittable(), []);
    tracker.acknowledge([at(1), source({ table: 'u' }, 7), at(2)]);
    assert.deepEqual(tracker.takeCommittable(), [
      { partition, offset: { n: 2 } },
      { partition: { table: 'u' }, offset: { n: 7 } },
    ]);
    assert.deepEqual(tracker.takeCommittable(), []);
    tracker.acknowledge([at(3)]);
    assert.deepEqual(tracker.takeCommittable(), [{ partition, offset: { n: 3 } }]);
  });

  it('stops before the first lost record of a partition, and of that alone', () => {
    const tracker = new OffsetTracker();
    const lost = at(2);
    tracker.acknowledge([at(1), source({ table: 'u' }, 1), lost, at(3), source({ table: 'u' }, 2)], new Set([lost]));
    assert.deepEqual(tracker.takeCommittable(), [
      { partition, offset: { n: 1 } },
      { partition: { table: 'u' }, offset: { n: 2 } },
    ]);
  });

  it('knows partitions by content, whatever the order of keys', () => {
    const tracker = new OffsetTracker();
    tracker.acknowledge([source({ a: 1, b: 'x' }, 1), source({ b: 'x', a: 1 }, 2)]);
    assert.deepEqual(tracker.takeCommittable(), [{ partition: { a: 1, b: 'x' }, offset: { n: 2 } }]);
  });

  it('takes a failed commit back unless something newer has come', () => {
    const tracker = new OffsetTracker();
    tracker.acknowledge([at(1)]);
    const failed = tracker.takeCommittable();
    tracker.restore(failed);
    assert.deepEqual(tracker.takeCommittable(), failed);
    tracker.acknowledge([at(2)]);
    tracker.restore(failed);
    assert.deepEqual(tracker.takeCommittable(), [{ partition, offset: { n: 2 } }]);
  });

  it('distinguishes texts, numbers and null in keys', () => {
    const keys = [{ a: '1' }, { a: 1 }, { a: null }, { a: true }, { a: 'true' }].map(coordinatesKey);
    assert.equal(new Set(keys).size, keys.length);
  });
});
