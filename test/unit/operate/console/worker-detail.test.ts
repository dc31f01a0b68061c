import assert from 'node:assert/strict';
import { isWorkerDetail } from '../../../../src/operate/console/worker-detail.ts';

const DETAIL = {
  worker: 'w:8083',
  version: '1',
  startedAt: 1,
  memoryBytes: 1,
  cpuCores: null,
  loopDelayMs: 1,
  isRebalancing: false,
  threads: [{ thread: 1, purpose: 'tasks', loopDelayMs: 1, taskCount: 1, tasks: ['a-0'] }],
  rebalances: [],
};

describe('what another worker says of itself', () => {
  it('goes to a browser, also where it says more than is known', () => {
    assert.ok(isWorkerDetail({ ...DETAIL, more: 1 }));
  });

  it('goes to no browser where it is anything else', () => {
    const { threads: _none, ...without } = DETAIL;
    const wrong = [null, [], '<html>', {}, without, { ...DETAIL, threads: null }, { ...DETAIL, threads: [null] }];
    const more = [
      { ...DETAIL, threads: [{ ...DETAIL.threads[0], tasks: [{}] }] },
      { ...DETAIL, loopDelayMs: 'x' },
    ];
    for (const each of [...wrong, ...more, { ...DETAIL, rebalances: [{}] }]) assert.ok(!isWorkerDetail(each));
  });
});
