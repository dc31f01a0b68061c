import assert from 'node:assert/strict';
import { FirstTryHope } from '../../../src/database/first-try-hope.ts';

describe('the hope that no row is there yet', () => {
  const batchesUntilNextTry = (hope: FirstTryHope): number => {
    let batches = 0;
    while (!hope.isThere) batches++;
    return batches;
  };

  it('is there at first, and stays while tries succeed', () => {
    const hope = new FirstTryHope();
    for (let batch = 0; batch < 3; batch++) {
      assert.equal(hope.isThere, true);
      hope.succeeded();
    }
  });

  it('pauses twice as long after every try that fails, up to a limit, and recovers', () => {
    const hope = new FirstTryHope();
    const pauses = Array.from({ length: 9 }, () => {
      hope.failed();
      return batchesUntilNextTry(hope);
    });
    assert.deepEqual(pauses, [8, 16, 32, 64, 128, 256, 512, 1024, 1024]);
    for (let batch = 0; batch < 20; batch++) hope.succeeded();
    hope.failed();
    assert.equal(batchesUntilNextTry(hope), 8);
  });
});
