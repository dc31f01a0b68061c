import assert from 'node:assert/strict';
import { StageTracker } from '../../../src/observe/stage.ts';

describe('the stage of the control side', () => {
  it('is the oldest operation in progress, then the last one that ended', async () => {
    const stage = new StageTracker();
    assert.equal(stage.describe(), '');
    let endFirst: () => void = () => undefined;
    const first = stage.during('reading', () => new Promise<void>((resolve) => (endFirst = resolve)));
    await stage.during('writing', () => Promise.resolve());
    assert.match(stage.describe(), /^The worker is currently reading, which began at \d{4}-\d\d-\d\dT[\d:.]+Z\.$/);
    endFirst();
    await first;
    await assert.rejects(stage.during('failing', () => Promise.reject(new Error('no'))));
    assert.match(
      stage.describe(),
      /^The last operation the worker completed was failing, which began at \S+Z and completed at \S+Z\.$/,
    );
  });
});
