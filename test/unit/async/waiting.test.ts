import assert from 'node:assert/strict';
import { idle, sleep } from '../../../src/async/sleep.ts';
import { within } from '../../../src/async/within.ts';
import { openTimers } from '../../support/open-timers.ts';

describe('waiting', () => {
  it('for a promise ends in time, rejects as it does, and leaves no timer', async () => {
    const before = openTimers();
    assert.equal(await within(Promise.resolve(1), 60_000), true);
    await assert.rejects(within(Promise.reject(new Error('no')), 60_000), /^Error: no$/);
    assert.equal(await within(new Promise(() => undefined), 1), false);
    assert.deepEqual(openTimers(), before);
  });

  it('for a promise that rejects too late has no effect', async () => {
    let fail: (error: Error) => void = () => undefined;
    const late = new Promise((_, reject) => {
      fail = reject;
    });
    assert.equal(await within(late, 1), false);
    fail(new Error('late'));
    await idle(1);
  });

  it('ends at once when it is aborted', async () => {
    const abort = new AbortController();
    const sleeping = sleep(60_000, abort.signal);
    abort.abort();
    await assert.rejects(sleeping, { name: 'AbortError' });
  });
});
