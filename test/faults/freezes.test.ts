import assert from 'node:assert/strict';
import { judgeAll, type Judged } from '../freezes/watch.ts';

/** Some of what `npm run soak -- freezes` tries, which reads more and longer texts. */
describe('texts from outside, and those that regular expressions of the code nearly match', () => {
  let judged: Judged;

  before('read them in a thread that is ended when one takes too long', async function () {
    this.timeout(600_000);
    judged = await judgeAll('short');
  });

  it('are read in a time that grows with their length and not faster (S1, S3, S4, S5, S12)', () => {
    assert.ok(judged.cases > 2_000, `only ${String(judged.cases)} cases`);
    assert.deepEqual(
      judged.findings.filter(({ problem }) => problem !== undefined),
      [],
    );
  });
});
