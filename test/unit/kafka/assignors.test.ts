import assert from 'node:assert/strict';
import type { TopicPartition } from '../../../src/data/record.ts';
import type { Assignment, GroupSubscription, PartitionRacks } from '../../../src/kafka/assignors/assignor.ts';
import { createAssignor } from '../../../src/kafka/assignors/assignors.ts';
import { StickyAssignor } from '../../../src/kafka/assignors/sticky-assignor.ts';

const NOTHING_TOLD = {
  instanceId: undefined,
  userData: undefined,
  owned: [],
  generationId: undefined,
  rackId: undefined,
};

const member = (memberId: string, ...topics: string[]): GroupSubscription => ({ ...NOTHING_TOLD, memberId, topics });

function counts(topics: Readonly<Record<string, number>>): PartitionRacks {
  return new Map(
    Object.entries(topics).map(([topic, count]) => [topic, Array.from({ length: count }, () => new Set())]),
  );
}

function show(assignment: Assignment): Record<string, string> {
  const text = (partitions: readonly TopicPartition[]): string =>
    partitions.map(({ topic, partition }) => `${topic}${String(partition)}`).join(' ');
  return Object.fromEntries([...assignment].map(([id, partitions]) => [id, text(partitions)]));
}

describe('range assignment', () => {
  const range = createAssignor('range');

  it('assigns contiguous ranges per topic, one partition more to the first members', () => {
    const members = [member('b', 'x', 'y'), member('a', 'x', 'y')];
    assert.deepEqual(show(range.assign(members, counts({ x: 3, y: 3 }))), { b: 'x2 y2', a: 'x0 x1 y0 y1' });
  });

  it('leaves members without partitions if there are more members than partitions', () => {
    const assignment = range.assign([member('a', 'x'), member('b', 'x'), member('c', 'x')], counts({ x: 2 }));
    assert.deepEqual(show(assignment), { a: 'x0', b: 'x1', c: '' });
  });

  it('ignores topics that do not exist', () => {
    assert.deepEqual(show(range.assign([member('a', 'missing', 'x')], counts({ x: 1 }))), { a: 'x0' });
  });

  it('assigns partitions to subscribers only', () => {
    const assignment = range.assign([member('a', 'x'), member('b', 'x', 'y')], counts({ x: 2, y: 2 }));
    assert.deepEqual(show(assignment), { a: 'x0', b: 'x1 y0 y1' });
  });

  it('orders static members by instance id, before dynamic members', () => {
    const members = [
      member('a', 'x'),
      { ...member('z', 'x'), instanceId: 'i1' },
      { ...member('b', 'x'), instanceId: 'i2' },
    ];
    assert.deepEqual(show(range.assign(members, counts({ x: 3 }))), { a: 'x2', z: 'x0', b: 'x1' });
  });

  it('assigns partitions with a replica in the rack of the member, unless all racks have all partitions', () => {
    const members = [
      { ...member('a', 'x'), rackId: 'r2' },
      { ...member('b', 'x'), rackId: 'r1' },
    ];
    const racks = new Map([['x', [new Set(['r1']), new Set(['r2'])]]]);
    assert.deepEqual(show(range.assign(members, racks)), { a: 'x1', b: 'x0' });
  });
});

describe('round robin assignment', () => {
  const roundRobin = createAssignor('roundrobin');

  it('assigns all partitions in turn', () => {
    const assignment = roundRobin.assign([member('a', 'x', 'y'), member('b', 'x', 'y')], counts({ x: 3, y: 3 }));
    assert.deepEqual(show(assignment), { a: 'x0 x2 y1', b: 'x1 y0 y2' });
  });

  it('skips members that did not subscribe', () => {
    const members = [member('a', 'x'), member('b', 'x', 'y'), member('c', 'x', 'y', 'z')];
    const assignment = roundRobin.assign(members, counts({ x: 1, y: 2, z: 3 }));
    assert.deepEqual(show(assignment), { a: 'x0', b: 'y0', c: 'y1 z0 z1 z2' });
  });

  it('terminates if a topic has no subscriber', () => {
    assert.deepEqual(show(roundRobin.assign([member('a')], counts({ x: 2 }))), { a: '' });
  });
});

describe('sticky assignment', () => {
  const x = (...partitions: number[]): TopicPartition[] => partitions.map((partition) => ({ topic: 'x', partition }));

  it('moves the minimum number of partitions for a balanced assignment', () => {
    const ownedPartitions = (...partitions: number[]): Buffer | undefined => {
      const own = new StickyAssignor();
      own.onAssignment(x(...partitions), 1);
      return own.userData();
    };
    const members = [
      { ...member('a', 'x'), userData: ownedPartitions(0, 2, 4) },
      { ...member('b', 'x'), userData: ownedPartitions(1, 3, 5) },
      member('c', 'x'),
    ];
    const assignment = createAssignor('sticky').assign(members, counts({ x: 6 }));
    assert.deepEqual(show(assignment), { a: 'x0 x2', b: 'x1 x3', c: 'x4 x5' });
  });

  it('treats unreadable user data as no previous assignment', () => {
    for (const userData of [Buffer.alloc(0), Buffer.from('7fffffff', 'hex'), Buffer.from('00000001ffff', 'hex')]) {
      const assignment = createAssignor('sticky').assign([{ ...member('a', 'x'), userData }], counts({ x: 1 }));
      assert.deepEqual(show(assignment), { a: 'x0' });
    }
  });

  it('(cooperative) leaves a partition unassigned until its owner has rejoined without it', () => {
    const leader = createAssignor('cooperative-sticky');
    const first = { ...member('a', 'x'), owned: x(0, 1), generationId: 1 };
    const assignment = show(leader.assign([first, member('b', 'x')], counts({ x: 2 })));
    assert.deepEqual(assignment, { a: 'x0', b: '' });
    const without = { ...first, owned: x(0), generationId: 2 };
    const second = { ...member('b', 'x'), generationId: 2 };
    assert.deepEqual(show(leader.assign([without, second], counts({ x: 2 }))), { a: 'x0', b: 'x1' });
  });

  it('assigns a partition that two members of one generation claim to neither of them', () => {
    const claims = { owned: x(0), generationId: 3 };
    const members = [
      { ...member('a', 'x'), ...claims },
      { ...member('b', 'x'), ...claims },
    ];
    const assignment = createAssignor('cooperative-sticky').assign(members, counts({ x: 2 }));
    const assigned = [...assignment.values()].flat().map(({ partition }) => partition);
    assert.deepEqual(assigned, [1]);
  });
});
