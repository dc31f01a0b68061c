import assert from 'node:assert/strict';
import { isObsolete, mergeRejoins } from '../../../src/herder/group/rejoin.ts';

describe('why the worker group is joined again', () => {
  const created = (configOffset: number) => ({ reason: `record ${String(configOffset)}`, configOffset });

  it('is answered only by an assignment that knows of every record that was a reason', () => {
    const both = mergeRejoins(mergeRejoins(undefined, created(10)), created(11));
    assert.deepEqual(both, { reason: 'record 10', configOffset: 11 });
    assert.deepEqual(
      [10, 11, 12].map((configOffset) => isObsolete(both, configOffset)),
      [false, true, true],
    );
  });

  it('is not answered by any assignment when one of the reasons is no record', () => {
    const other = { reason: 'the leader sent no assignment' };
    assert.equal(isObsolete(other, 99), false);
    assert.equal(isObsolete(mergeRejoins(other, created(10)), 99), false);
    assert.equal(isObsolete(mergeRejoins(created(10), other), 99), false);
  });
});
