import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { goneSignal } from '../../../src/rest/client-gone.ts';

function contextOf(isDestroyed: boolean) {
  const res = Object.assign(new EventEmitter(), { destroyed: false });
  const req = { socket: { destroyed: isDestroyed } };
  return { res, context: { res, req } as unknown as Parameters<typeof goneSignal>[0] };
}

describe('a client that goes away', () => {
  it('is noticed when its answer is closed', () => {
    const { res, context } = contextOf(false);
    const signal = goneSignal(context);
    assert.equal(signal.aborted, false);
    res.emit('close');
    assert.equal(signal.aborted, true);
  });

  it('is noticed also where it had gone before', () => {
    assert.equal(goneSignal(contextOf(true).context).aborted, true);
  });
});
