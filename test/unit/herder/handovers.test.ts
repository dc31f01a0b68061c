import assert from 'node:assert/strict';
import { LeftHandovers } from '../../../src/herder/group/handovers.ts';
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

describe('places in consumer groups that tasks leave', () => {
  it('are said again for five seconds, should the round be repeated, the last ones first', () => {
    let nowMs = 0;
    const left = new LeftHandovers(() => nowMs);
    left.add(new Map([['one 0', handover('a')]]));
    nowMs = 3000;
    left.add(new Map());
    left.add(
      new Map([
        ['one 1', handover('b')],
        ['one 0', handover('c')],
      ]),
    );
    const members = (): string[] => [...left.all().values()].map(({ memberId }) => memberId);
    assert.deepEqual(members(), ['b', 'c']);
    nowMs = 7999;
    assert.deepEqual(members(), ['b', 'c']);
    nowMs = 8000;
    assert.deepEqual(members(), []);
  });

  it('are lost when everything stops', () => {
    const left = new LeftHandovers(() => 0);
    left.add(new Map([['one 0', handover('a')]]));
    left.clear();
    assert.equal(left.all().size, 0);
  });
});
