import assert from 'node:assert/strict';
import { BatchRows } from '../../../plugins/db-sink/batch-rows.ts';

/** The batch size that results if full batches are written at this rate, after a fixed time each. */
function settled(rowsPerMs: number, fixedMs: number, batches = 50): number {
  const size = new BatchRows(1000, true);
  for (let batch = 0; batch < batches; batch++) size.recordWrite(size.limit, fixedMs + size.limit / rowsPerMs);
  return size.limit;
}

describe('the rows of a write', () => {
  it('equal the configured number without growth, regardless of the duration of writes', () => {
    const size = new BatchRows(200, false);
    for (const ms of [1, 1000, 1]) size.recordWrite(200, ms);
    assert.equal(size.limit, 200);
  });

  it('are 1,000 at first, and double with fast full batches up to 10,000', () => {
    const size = new BatchRows(1000, true);
    const sizes = [size.limit];
    for (let batch = 0; batch < 5; batch++) {
      size.recordWrite(size.limit, 5);
      sizes.push(size.limit);
    }
    assert.deepEqual(sizes, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('start with a configured number as with an equal default, and keep one above 10,000 (M5)', () => {
    const size = new BatchRows(300, true);
    size.recordWrite(300, 5);
    assert.equal(size.limit, 600);
    size.recordWrite(600, 60_000);
    assert.equal(size.limit, 300);
    const large = new BatchRows(20_000, true);
    for (const ms of [5, 60_000]) large.recordWrite(20_000, ms);
    assert.equal(large.limit, 20_000);
  });

  it('do not change while batches are not full', () => {
    const size = new BatchRows(1000, true);
    size.recordWrite(1000, 5);
    for (let batch = 0; batch < 100; batch++) size.recordWrite(batch, 5);
    assert.equal(size.limit, 2000);
  });

  it('approach the number written in 100 ms', () => {
    assert.equal(settled(40, 0), 4000);
    const withFixedTime = settled(40, 50);
    assert.ok(Math.abs(withFixedTime - 2000) < 50, String(withFixedTime));
  });

  it('do not change while writes take up to twice that', () => {
    const size = new BatchRows(1000, true);
    size.recordWrite(1000, 5);
    for (const ms of [100, 150, 200]) size.recordWrite(2000, ms);
    assert.equal(size.limit, 2000);
    size.recordWrite(2000, 201);
    assert.equal(size.limit, 1000);
  });

  it('shrink when the database becomes slow, by half at most with each write, and never below 1,000', () => {
    const size = new BatchRows(1000, true);
    for (let batch = 0; batch < 5; batch++) size.recordWrite(size.limit, 5);
    const sizes: number[] = [];
    for (let batch = 0; batch < 5; batch++) {
      size.recordWrite(size.limit, 60_000);
      sizes.push(size.limit);
    }
    assert.deepEqual(sizes, [5000, 2500, 1250, 1000, 1000]);
    assert.equal(settled(2, 500), 1000);
  });
});
