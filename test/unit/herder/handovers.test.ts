import assert from 'node:assert/strict';
import { RecentHandovers } from '../../../src/herder/group/handovers.ts';
import type { Handover } from '../../../src/kafka/api.ts';

function handover(memberId: string): Handover {
  return {
    groupId: 'connect-one',
    memberId,
    generationId: 3,
    isLeader: false,
    protocol: 'range',
    assignment: '',
    topics: ['one'],
    partitions: {},
  };
}

describe('handovers of released tasks', () => {
  it('are repeated for five seconds, in case the rebalance is, and the newest of a task wins', () => {
    let nowMs = 0;
    const recent = new RecentHandovers(() => nowMs);
    recent.add(new Map([['one 0', handover('a')]]));
    nowMs = 3000;
    recent.add(new Map());
    recent.add(
      new Map([
        ['one 1', handover('b')],
        ['one 0', handover('c')],
      ]),
    );
    const members = (): string[] => [...recent.all().values()].map(({ memberId }) => memberId);
    assert.deepEqual(members(), ['b', 'c']);
    nowMs = 7999;
    assert.deepEqual(members(), ['b', 'c']);
    nowMs = 8000;
    assert.deepEqual(members(), []);
  });

  it('are lost when everything stops', () => {
    const recent = new RecentHandovers(() => 0);
    recent.add(new Map([['one 0', handover('a')]]));
    recent.clear();
    assert.equal(recent.all().size, 0);
  });
});
