import assert from 'node:assert/strict';
import { Lanes } from '../../../src/database/lanes.ts';
import { DatabaseError } from '../../../src/errors.ts';

/** Work that ends when it is told to. */
function heldWork<T>(value: T): { work: () => Promise<T>; started: boolean; finish: () => void; fail: () => void } {
  let settle: { resolve: (value: T) => void; reject: (error: Error) => void } | undefined;
  const held = {
    started: false,
    work: () =>
      new Promise<T>((resolve, reject) => {
        held.started = true;
        settle = { resolve, reject };
      }),
    finish: () => settle?.resolve(value),
    fail: () => settle?.reject(new DatabaseError('server gone', { scope: 'infrastructure' })),
  };
  return held;
}

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('lanes', () => {
  it('run the work of one lane one after another, in the order in which it came', async () => {
    const lanes = new Lanes();
    const first = heldWork(1);
    const second = heldWork(2);
    const answers = [lanes.enter('a', first.work), lanes.enter('a', second.work)];
    await turn();
    assert.deepEqual([first.started, second.started], [true, false]);
    first.finish();
    await turn();
    assert.equal(second.started, true);
    second.finish();
    assert.deepEqual(await Promise.all(answers), [1, 2]);
  });

  it('do not make lanes wait for each other', async () => {
    const lanes = new Lanes();
    const first = heldWork(1);
    const waiting = lanes.enter('a', first.work);
    assert.equal(await lanes.enter('b', () => Promise.resolve('done')), 'done');
    first.finish();
    await waiting;
  });

  it('take what waits behind a failure along, and are free for the next try at once', async () => {
    const lanes = new Lanes();
    const first = heldWork(1);
    const second = heldWork(2);
    const failing = lanes.enter('a', first.work);
    const behind = lanes.enter('a', second.work);
    const retried = failing.catch(() => lanes.enter('a', () => Promise.resolve('again')));
    await turn();
    first.fail();
    await assert.rejects(failing, /server gone/);
    await assert.rejects(behind, /a write before this one failed: server gone/);
    assert.equal(second.started, false);
    assert.equal(await retried, 'again');
  });
});
