import assert from 'node:assert/strict';
import { OptimisticPath } from '../../../../../plugins/database/executor/optimistic-path.ts';

describe('the optimistic path', () => {
  const batchesUntilNextTry = (path: OptimisticPath): number => {
    let batches = 0;
    while (!path.shouldTry()) batches++;
    return batches;
  };

  it('is tried at first, and while attempts succeed', () => {
    const path = new OptimisticPath();
    for (let batch = 0; batch < 3; batch++) {
      assert.equal(path.shouldTry(), true);
      path.succeeded();
    }
  });

  it('doubles the pause after every failed attempt, up to a limit, and recovers', () => {
    const path = new OptimisticPath();
    const pauses = Array.from({ length: 9 }, () => {
      path.failed();
      return batchesUntilNextTry(path);
    });
    assert.deepEqual(pauses, [8, 16, 32, 64, 128, 256, 512, 1024, 1024]);
    for (let batch = 0; batch < 20; batch++) path.succeeded();
    path.failed();
    assert.equal(batchesUntilNextTry(path), 8);
  });
});
