import assert from 'node:assert/strict';
import { coordinatesKey, OffsetTracker } from '../../../src/connect/offset-tracker.ts';

describe('OffsetTracker', () => {
  const partition = { table: 't' };

  it('gives the newest offset before the first record that is not acknowledged', () => {
    const tracker = new OffsetTracker();
    const done = [1, 2, 3].map((position) => tracker.submit(partition, { position }));
    done[1]?.();
    assert.deepEqual(tracker.takeCommittable(), []);
    done[0]?.();
    assert.deepEqual(tracker.takeCommittable(), [{ partition, offset: { position: 2 } }]);
    assert.deepEqual(tracker.takeCommittable(), []);
    assert.equal(tracker.pending, 1);
  });

  it('goes on past thousands of records that are acknowledged in any order', () => {
    const tracker = new OffsetTracker();
    const offset = (position: number) => [{ partition, offset: { position } }];
    const done = Array.from({ length: 10_000 }, (_, position) => tracker.submit(partition, { position }));
    for (const acknowledge of done.slice(5_000).reverse()) acknowledge();
    assert.deepEqual(tracker.takeCommittable(), []);
    for (const acknowledge of done.slice(0, 3_000)) acknowledge();
    assert.deepEqual(tracker.takeCommittable(), offset(2_999));
    for (const acknowledge of done.slice(3_000, 5_000).reverse()) acknowledge();
    assert.deepEqual(tracker.takeCommittable(), offset(9_999));
    tracker.submit(partition, { position: 10_000 })();
    assert.deepEqual(tracker.takeCommittable(), offset(10_000));
    assert.equal(tracker.pending, 0);
  });

  it('keeps partitions apart and knows them by content, whatever the order of keys', () => {
    const tracker = new OffsetTracker();
    tracker.submit({ a: 1, b: 'x' }, { n: 1 })();
    tracker.submit({ b: 'x', a: 1 }, { n: 2 })();
    const waiting = tracker.submit({ a: 2, b: 'x' }, { n: 9 });
    assert.deepEqual(tracker.takeCommittable(), [{ partition: { a: 1, b: 'x' }, offset: { n: 2 } }]);
    waiting();
    assert.deepEqual(tracker.takeCommittable(), [{ partition: { a: 2, b: 'x' }, offset: { n: 9 } }]);
  });

  it('takes a failed commit back unless something newer has come', () => {
    const tracker = new OffsetTracker();
    tracker.submit(partition, { n: 1 })();
    const failed = tracker.takeCommittable();
    tracker.restore(failed);
    assert.deepEqual(tracker.takeCommittable(), failed);
    tracker.submit(partition, { n: 2 })();
    tracker.restore(failed);
    assert.deepEqual(tracker.takeCommittable(), [{ partition, offset: { n: 2 } }]);
  });

  it('counts an acknowledgement once', () => {
    const tracker = new OffsetTracker();
    const done = tracker.submit(partition, { n: 1 });
    done();
    done();
    assert.equal(tracker.pending, 0);
  });

  it('tells text from numbers and null in keys', () => {
    const keys = [{ a: '1' }, { a: 1 }, { a: null }, { a: true }, { a: 'true' }].map(coordinatesKey);
    assert.equal(new Set(keys).size, keys.length);
  });
});
