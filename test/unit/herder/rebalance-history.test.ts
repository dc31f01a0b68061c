import assert from 'node:assert/strict';
import { NO_WORK, type MemberAssignment } from '../../../src/herder/group/group-bytes.ts';
import { RebalanceHistory } from '../../../src/herder/group/rebalance-history.ts';
import { WorkSet } from '../../../src/herder/group/work-set.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

describe('the history of rebalances', () => {
  const generation = (generationId: number) => ({
    generationId,
    memberId: 'm',
    leaderId: 'm',
    isLeader: true,
    protocol: 'sessioned',
    assignment: Buffer.alloc(0),
  });
  const assignment = (tasks: number): MemberAssignment => ({
    error: 'none',
    leader: 'm',
    leaderUrl: 'http://127.0.0.1:8083/',
    configOffset: 1,
    assigned: {
      connectors: [],
      tasks: Array.from({ length: tasks }, (_, task) => ({ connector: 'orders', task })),
    },
    revoked: NO_WORK,
    delayMs: 0,
  });

  it('has the last 50, each with its reason and its work', () => {
    const history = new RebalanceHistory(silentLogger);
    for (let number = 1; number <= 60; number++) {
      history.begin(`reason ${String(number)}`);
      history.complete(generation(number), assignment(2), new WorkSet());
    }
    const { rebalances, completedRebalances } = history.view();
    assert.equal(completedRebalances, 60);
    assert.equal(rebalances.length, 50);
    assert.deepEqual([rebalances[0]?.generation, rebalances.at(-1)?.reason], [11, 'reason 60']);
    assert.deepEqual(rebalances.at(-1)?.assigned, ['orders-0', 'orders-1']);
    assert.equal(rebalances.at(-1)?.led, true);
  });

  it('knows who joined and left while this worker leads', () => {
    const history = new RebalanceHistory(silentLogger);
    const round = (number: number, workers: readonly string[]) => {
      const members = workers.map((workerId) => ({ workerId }));
      history.complete(generation(number), assignment(1), new WorkSet(), members);
      const { joined, left } = history.view().rebalances.at(-1) ?? {};
      return [joined, left];
    };
    assert.deepEqual(round(1, ['a', 'b']), [undefined, undefined]);
    assert.deepEqual(round(2, ['a', 'c']), [['c'], ['b']]);
    assert.deepEqual(round(3, []), [undefined, undefined]);
    assert.deepEqual(round(4, ['a']), [undefined, undefined]);
  });

  it('names the first 20 of many tasks, and counts them all', () => {
    const history = new RebalanceHistory(silentLogger);
    history.complete(generation(1), assignment(3000), new WorkSet());
    const { rebalances, lastRebalance } = history.view();
    assert.deepEqual([rebalances[0]?.assigned.length, rebalances[0]?.assignedCount], [20, 3000]);
    assert.equal(lastRebalance?.assigned.length, 3000);
  });
});
