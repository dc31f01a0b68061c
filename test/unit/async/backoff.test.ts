import assert from 'node:assert/strict';
import { Backoff, backoffMs, NO_JITTER } from '../../../src/async/backoff.ts';

const TEN_TIMES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

describe('a back-off', () => {
  it('doubles up to the longest wait, each a fifth shorter or longer', () => {
    const backoff = new Backoff(100, 1_000);
    for (const base of [100, 200, 400, 800, 1_000, 1_000]) {
      const ms = backoff.nextMs();
      assert.ok(ms >= base * 0.8 && ms <= base * 1.2, `${String(ms)} for ${String(base)}`);
    }
    backoff.reset();
    assert.ok(backoff.nextMs() <= 120);
  });

  it('grows by its factor, without jitter exactly', () => {
    const policy = { firstMs: 1, maxMs: 300_000, factor: 40, jitter: NO_JITTER };
    assert.deepEqual(
      [0, 1, 2, 3, 4, 500].map((attempts) => backoffMs(attempts, policy)),
      [1, 40, 1600, 64_000, 300_000, 300_000],
    );
  });

  it('draws a wait between the bounds of its jitter', () => {
    const policy = { firstMs: 100, maxMs: 1000, jitter: [0.5, 1] } as const;
    assert.deepEqual([backoffMs(1, policy, 0), backoffMs(1, policy, 0.5), backoffMs(1, policy, 1)], [100, 150, 200]);
    for (const attempts of TEN_TIMES) {
      const ms = backoffMs(attempts, { firstMs: 100, maxMs: 100, jitter: [1, 1.5] });
      assert.ok(ms >= 100 && ms <= 150, String(ms));
    }
  });

  it('can have another jitter once it has grown beyond the longest wait, as the retries of Connect', () => {
    const policy = { firstMs: 300, maxMs: 1200, jitter: NO_JITTER, jitterAtMax: [0, 1] } as const;
    assert.deepEqual(
      [0, 1, 2, 3, 2000].map((attempts) => backoffMs(attempts, policy, 0.25)),
      [300, 600, 1200, 300, 300],
    );
  });

  it('does not wait where the first or the longest wait is 0', () => {
    assert.equal(backoffMs(5000, { firstMs: 0, maxMs: 1000 }), 0);
    assert.equal(backoffMs(5000, { firstMs: 1, maxMs: 0 }), 0);
  });
});
