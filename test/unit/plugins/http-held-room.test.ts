import assert from 'node:assert/strict';
import { HeldRoom } from '../../../plugins/database-http/statements/held-room.ts';

const never = new AbortController().signal;

function room({ answers = 4, waitMs = 60_000 } = {}): HeldRoom {
  return new HeldRoom({ totalBytes: 100 * answers, claimBytes: 100, waitMs });
}

/** M3. */
describe('the memory for held answers', () => {
  it('is granted in whole claims, in order', async () => {
    const held = room();
    const claims = await Promise.all(['a', 'b', 'a', 'b'].map((user) => held.claim(user, never)));
    assert.equal(held.bytes, 400);
    const order: string[] = [];
    const waiting = ['c', 'd'].map(async (user) => {
      const claim = await held.claim(user, never);
      order.push(user);
      return claim;
    });
    claims[1]?.shrink(60);
    claims[0]?.shrink(61);
    assert.deepEqual([held.bytes, order], [321, []]);
    claims[0]?.release();
    claims[0]?.release();
    const first = await waiting[0];
    assert.deepEqual([held.bytes, order], [360, ['c']]);
    first?.release();
    await waiting[1];
    assert.deepEqual(order, ['c', 'd']);
    for (const claim of claims) claim.release();
    (await waiting[1])?.release();
    assert.equal(held.bytes, 0);
  });

  it('is limited to half for one user, who does not delay others that wait after him', async () => {
    const held = room();
    const own = await Promise.all([held.claim('a', never), held.claim('a', never)]);
    let isServed = false;
    const third = held.claim('a', never).then((claim) => {
      isServed = true;
      return claim;
    });
    const others = await Promise.all([held.claim('b', never), held.claim('b', never)]);
    assert.equal(isServed, false);
    const last = held.claim('b', never);
    own[0]?.release();
    (await third).release();
    others[0]?.release();
    (await last).release();
    own[1]?.release();
    others[1]?.release();
    assert.equal(held.bytes, 0);
  });

  it('suffices for one answer of a user, however small it is', async () => {
    const held = room({ answers: 1 });
    const claim = await held.claim('a', never);
    assert.equal(held.bytes, 100);
    claim.release();
  });

  it('is refused with 503 after the wait, and no request waits any longer', async () => {
    const held = room({ answers: 1, waitMs: 5 });
    const claim = await held.claim('a', never);
    await assert.rejects(held.claim('b', never), { name: 'ApiFailure', status: 503, retryAfterSeconds: 1 });
    claim.release();
    assert.equal(held.bytes, 0);
  });

  it('is not awaited by an abandoned request', async () => {
    const held = room({ answers: 1 });
    const claim = await held.claim('a', never);
    const controller = new AbortController();
    const waiting = held.claim('b', controller.signal);
    controller.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    await assert.rejects(held.claim('b', controller.signal), /gone/);
    claim.release();
    assert.equal(held.bytes, 0);
  });
});
