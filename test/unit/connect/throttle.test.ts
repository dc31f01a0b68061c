import assert from 'node:assert/strict';
import { Throttle } from '../../../src/connect/pipeline/throttle.ts';
import { TokenBucket } from '../../../src/connect/pipeline/token-bucket.ts';

describe('a token bucket', () => {
  it('allows its rate in the mean, whatever is taken at once', () => {
    const bucket = new TokenBucket(100, 0);
    let taken = 0;
    for (let now = 0; now < 10_000; now += bucket.waitMs(now) || 1) {
      if (bucket.waitMs(now) > 0) continue;
      bucket.take(30, now);
      taken += 30;
    }
    assert.ok(taken >= 1000 && taken <= 1030, String(taken));
  });

  it('keeps unused tokens for one second', () => {
    const bucket = new TokenBucket(10, 0);
    assert.equal(bucket.waitMs(60_000), 0);
    bucket.take(10, 60_000);
    assert.equal(bucket.waitMs(60_000), 0);
    bucket.take(1, 60_000);
    assert.equal(bucket.waitMs(60_000), 100);
  });

  it('has no debt of more than a second after its rate has changed', () => {
    const bucket = new TokenBucket(1, 0);
    bucket.take(500, 0);
    assert.equal(bucket.waitMs(0), 500_000);
    bucket.setRate(1000, 0);
    assert.equal(bucket.waitMs(0), 500);
    bucket.setRate(10, 0);
    assert.equal(bucket.waitMs(0), 1000);
  });
});

describe('the throttle of a task', () => {
  let now = 0;
  const throttle = (records?: number, bytes?: number) => {
    now = 0;
    return new Throttle({ records, bytes }, () => now);
  };

  it('does nothing without a limit', () => {
    const free = throttle();
    assert.deepEqual([free.isOn, free.waitMs(), free.pollMax, free.heldLatelyMs()], [false, 0, undefined, 0]);
  });

  it('waits for the slower of records and bytes', () => {
    const both = throttle(100, 1000);
    both.taken(10, 2000);
    assert.equal(both.waitMs(), 2000);
    const byRecords = throttle(100, 1_000_000);
    byRecords.taken(10, 2000);
    assert.equal(byRecords.waitMs(), 100);
  });

  it('wants polls of half a second, by the size that records had, and of one record at least', () => {
    assert.equal(throttle(100).pollMax, 50);
    assert.equal(throttle(0.3).pollMax, 1);
    const byBytes = throttle(undefined, 1000);
    assert.equal(byBytes.pollMax, 10);
    byBytes.taken(10, 1000);
    assert.equal(byBytes.pollMax, 5);
    byBytes.taken(1, 100_000);
    assert.equal(byBytes.pollMax, 1);
  });

  it('reports how long it has paused the task in the last ten seconds, and forgets earlier pauses', () => {
    const held = throttle(10);
    held.taken(30, 0);
    assert.equal(held.waitMs(), 3000);
    now = 1500;
    assert.equal(held.heldLatelyMs(), 1500);
    now = 3000;
    assert.equal(held.waitMs(), 0);
    now = 9000;
    assert.equal(held.heldLatelyMs(), 3000);
    now = 11_500;
    assert.equal(held.heldLatelyMs(), 1000);
    now = 60_000;
    assert.equal(held.heldLatelyMs(), 0);
    assert.equal(held.heldMs(), 3000);
  });

  it('counts all that it has held the task back since the start, also while it does so, and not while it is released', () => {
    const held = throttle(10);
    assert.equal(held.heldMs(), 0);
    held.taken(30, 0);
    held.waitMs();
    now = 1000;
    assert.equal(held.heldMs(), 1000);
    held.released();
    now = 2000;
    assert.equal(held.heldMs(), 1000);
    held.waitMs();
    now = 2500;
    held.set({ records: undefined, bytes: undefined });
    now = 9000;
    assert.equal(held.heldMs(), 1500);
  });

  it('resumes immediately when the limit is removed', () => {
    const changed = throttle(1);
    changed.taken(100, 0);
    assert.equal(changed.waitMs(), 100_000);
    changed.set({ records: undefined, bytes: undefined });
    assert.deepEqual([changed.waitMs(), changed.pollMax], [0, undefined]);
  });
});
