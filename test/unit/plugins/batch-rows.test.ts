import assert from 'node:assert/strict';
import { BatchRows } from '../../../plugins/db-sink/batch-rows.ts';

/** What it comes to when full batches are written at this rate, after a fixed time each. */
function settled(rowsPerMs: number, fixedMs: number, batches = 50): number {
  const size = new BatchRows(1000, true);
  for (let batch = 0; batch < batches; batch++) size.wrote(size.most, fixedMs + size.most / rowsPerMs);
  return size.most;
}

describe('the rows of a write', () => {
  it('are those that were set without growth, however fast or slow writes are', () => {
    const size = new BatchRows(200, false);
    for (const ms of [1, 1000, 1]) size.wrote(200, ms);
    assert.equal(size.most, 200);
  });

  it('are 1,000 at first, and grow twofold with full batches that take little time, up to 10,000', () => {
    const size = new BatchRows(1000, true);
    const sizes = [size.most];
    for (let batch = 0; batch < 5; batch++) {
      size.wrote(size.most, 5);
      sizes.push(size.most);
    }
    assert.deepEqual(sizes, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('begin with a number that was set as with an equal default, and a larger one than 10,000 stays (M5)', () => {
    const size = new BatchRows(300, true);
    size.wrote(300, 5);
    assert.equal(size.most, 600);
    size.wrote(600, 60_000);
    assert.equal(size.most, 300);
    const large = new BatchRows(20_000, true);
    for (const ms of [5, 60_000]) large.wrote(20_000, ms);
    assert.equal(large.most, 20_000);
  });

  it('stay as they are while batches are not full', () => {
    const size = new BatchRows(1000, true);
    size.wrote(1000, 5);
    for (let batch = 0; batch < 100; batch++) size.wrote(batch, 5);
    assert.equal(size.most, 2000);
  });

  it('come to what is written in 100 ms', () => {
    assert.equal(settled(40, 0), 4000);
    const withFixedTime = settled(40, 50);
    assert.ok(Math.abs(withFixedTime - 2000) < 50, String(withFixedTime));
  });

  it('stay as they are while writes take up to twice that', () => {
    const size = new BatchRows(1000, true);
    size.wrote(1000, 5);
    for (const ms of [100, 150, 200]) size.wrote(2000, ms);
    assert.equal(size.most, 2000);
    size.wrote(2000, 201);
    assert.equal(size.most, 1000);
  });

  it('shrink when the database becomes slow, by half at most with each write, and never below 1,000', () => {
    const size = new BatchRows(1000, true);
    for (let batch = 0; batch < 5; batch++) size.wrote(size.most, 5);
    const sizes: number[] = [];
    for (let batch = 0; batch < 5; batch++) {
      size.wrote(size.most, 60_000);
      sizes.push(size.most);
    }
    assert.deepEqual(sizes, [5000, 2500, 1250, 1000, 1000]);
    assert.equal(settled(2, 500), 1000);
  });
});
