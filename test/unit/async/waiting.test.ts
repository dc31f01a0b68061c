import assert from 'node:assert/strict';
import { Backoff } from '../../../src/async/backoff.ts';
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

  it('for a promise that rejects too late fails nobody', async () => {
    let fail: (error: Error) => void = () => undefined;
    const late = new Promise((_, reject) => {
      fail = reject;
    });
    assert.equal(await within(late, 1), false);
    fail(new Error('late'));
    await idle(1);
  });

  it('doubles up to the longest wait, each a fifth shorter or longer', () => {
    const backoff = new Backoff(100, 1_000);
    for (const base of [100, 200, 400, 800, 1_000, 1_000]) {
      const ms = backoff.nextMs();
      assert.ok(ms >= base * 0.8 && ms <= base * 1.2, `${String(ms)} for ${String(base)}`);
    }
    backoff.reset();
    assert.ok(backoff.nextMs() <= 120);
  });

  it('ends at once when it is aborted', async () => {
    const abort = new AbortController();
    const sleeping = sleep(60_000, abort.signal);
    abort.abort();
    await assert.rejects(sleeping, { name: 'AbortError' });
  });
});
