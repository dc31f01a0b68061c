import assert from 'node:assert/strict';
import { problemOf, type KeptLog } from '../../../../plugins/log-source/wal-guard.ts';

const MIB = 1024 ** 2;
const KEPT: KeptLog = {
  end: 900 * MIB,
  kept: 300 * MIB,
  unconfirmed: MIB,
  status: 'reserved',
  safe: undefined,
  invalidation: undefined,
  inactiveSince: undefined,
  transaction: undefined,
  other: undefined,
};

describe('what the guard says of the log that is kept', () => {
  it('is nothing within the limit, and without one', () => {
    assert.equal(problemOf(KEPT, 0, 1000), undefined);
    assert.equal(problemOf(KEPT, 300 * MIB, 1000), undefined);
  });

  it('names the connector, an open transaction, or neither as the holder', () => {
    const begin = `the server keeps 300.0 MiB of its log for it, more than log.max.lag.bytes=${String(MIB)}: `;
    const cases: [Partial<KeptLog>, string][] = [
      [{ unconfirmed: 200 * MIB }, 'this connector has not confirmed the last 200.0 MiB'],
      [
        { transaction: { pid: '7', seconds: 3600 } },
        'the transaction of process 7, which has been open for 3600 s, holds it',
      ],
      [
        { transaction: { pid: '7', seconds: 1 } },
        'the server has not moved the slot yet, which it does with the next changes',
      ],
      [
        { unconfirmed: 200 * MIB, other: { name: 'backup', kept: 2048 * MIB } },
        'this connector has not confirmed the last 200.0 MiB; slot backup keeps 2.0 GiB',
      ],
    ];
    for (const [more, holder] of cases) assert.equal(problemOf({ ...KEPT, ...more }, MIB, 0), begin + holder);
  });

  it('is said of a slot that is about to be invalidated, and of one that was', () => {
    assert.match(problemOf({ ...KEPT, status: 'unreserved' }, 0, 0) ?? '', /may invalidate it at the next checkpoint/);
    const soon = { ...KEPT, safe: 100 * MIB };
    assert.match(problemOf(soon, 0, MIB) ?? '', /invalidates it in about 100 s if as much is written as now/);
    assert.equal(problemOf(soon, 0, 1000), undefined, 'more than an hour');
    assert.equal(problemOf(soon, 0, 0), undefined, 'nothing is written');
    const lost = { ...KEPT, status: 'lost', invalidation: 'idle_timeout' };
    assert.equal(problemOf(lost, 0, 0), 'it was invalidated (idle_timeout)');
  });
});
