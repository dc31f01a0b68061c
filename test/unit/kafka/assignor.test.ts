import assert from 'node:assert/strict';
import { assignRange, assignRoundRobin, type GroupSubscription } from '../../../src/kafka/consumer/assignor.ts';
import type { TopicPartition } from '../../../src/data/record.ts';

const member = (memberId: string, ...topics: string[]): GroupSubscription => ({ memberId, topics });

function show(assignment: ReadonlyMap<string, readonly TopicPartition[]>): Record<string, string> {
  const text = (partitions: readonly TopicPartition[]): string =>
    partitions.map(({ topic, partition }) => `${topic}${String(partition)}`).join(' ');
  return Object.fromEntries([...assignment].map(([id, partitions]) => [id, text(partitions)]));
}

describe('range assignment', () => {
  it('gives contiguous runs per topic, the first members one more', () => {
    const members = [member('b', 'x', 'y'), member('a', 'x', 'y')];
    const partitions = new Map([
      ['x', 3],
      ['y', 3],
    ]);
    assert.deepEqual(show(assignRange(members, partitions)), { b: 'x2 y2', a: 'x0 x1 y0 y1' });
  });

  it('leaves members without partitions when there are too few', () => {
    const assignment = assignRange([member('a', 'x'), member('b', 'x'), member('c', 'x')], new Map([['x', 2]]));
    assert.deepEqual(show(assignment), { a: 'x0', b: 'x1', c: '' });
  });

  it('passes over topics that do not exist', () => {
    assert.deepEqual(show(assignRange([member('a', 'missing', 'x')], new Map([['x', 1]]))), { a: 'x0' });
  });

  it('gives partitions only to who subscribed', () => {
    const partitions = new Map([
      ['x', 2],
      ['y', 2],
    ]);
    assert.deepEqual(show(assignRange([member('a', 'x'), member('b', 'x', 'y')], partitions)), {
      a: 'x0',
      b: 'x1 y0 y1',
    });
  });
});

describe('round robin assignment', () => {
  it('deals all partitions out in turn', () => {
    const partitions = new Map([
      ['x', 3],
      ['y', 3],
    ]);
    const assignment = assignRoundRobin([member('a', 'x', 'y'), member('b', 'x', 'y')], partitions);
    assert.deepEqual(show(assignment), { a: 'x0 x2 y1', b: 'x1 y0 y2' });
  });

  it('passes over members who did not subscribe', () => {
    const partitions = new Map([
      ['x', 1],
      ['y', 2],
      ['z', 3],
    ]);
    const members = [member('a', 'x'), member('b', 'x', 'y'), member('c', 'x', 'y', 'z')];
    assert.deepEqual(show(assignRoundRobin(members, partitions)), { a: 'x0', b: 'y0', c: 'y1 z0 z1 z2' });
  });

  it('ends when a topic has no subscriber that exists', () => {
    assert.deepEqual(show(assignRoundRobin([member('a')], new Map([['x', 2]]))), { a: '' });
  });
});
