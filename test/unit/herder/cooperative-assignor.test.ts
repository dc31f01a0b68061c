import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CooperativeAssignor, type Distribution } from '../../../src/herder/group/cooperative-assignor.ts';
import { NO_WORK, type Work } from '../../../src/herder/group/group-bytes.ts';

const MAX_DELAY_MS = 300_000;

/** A group of workers that do what the leader says; `join` is one rebalance. */
class Group {
  readonly members = new Map<string, Work>();
  readonly draining = new Set<string>();
  nowMs = 1_000_000;
  configured: Work = NO_WORK;
  #generation = 0;
  #lastCompleted = -1;
  readonly #assignor: CooperativeAssignor;
  last: Distribution | undefined;

  constructor(maxDelayMs = MAX_DELAY_MS) {
    this.#assignor = new CooperativeAssignor(maxDelayMs, () => this.nowMs);
  }

  configure(connectors: Readonly<Record<string, number>>): void {
    this.configured = {
      connectors: Object.keys(connectors),
      tasks: Object.entries(connectors).flatMap(([connector, count]) =>
        Array.from({ length: count }, (_, task) => ({ connector, task })),
      ),
    };
  }

  enter(...members: readonly string[]): void {
    for (const member of members) this.members.set(member, NO_WORK);
  }

  join(): Distribution {
    this.#generation += 1;
    const { configured, members } = this;
    const distribution = this.#assignor.assign({
      configured,
      members,
      generation: this.#generation,
      lastCompletedGeneration: this.#lastCompleted,
      draining: this.draining,
    });
    this.#lastCompleted = this.#generation;
    for (const member of this.members.keys()) {
      const had = textsOf(this.members.get(member));
      for (const gone of textsOf(distribution.revoked.get(member))) had.delete(gone);
      for (const got of textsOf(distribution.assigned.get(member))) had.add(got);
      this.members.set(member, workOf(had));
    }
    this.last = distribution;
    return distribution;
  }

  /** The leader had left the group, so it ignores what it remembers. */
  forget(): void {
    this.#lastCompleted = -1;
  }

  /** Rebalances until nothing is taken away and nobody waits. */
  settle(): number {
    for (let rounds = 1; rounds < 50; rounds++) {
      const { revoked, delayMs } = this.join();
      if (delayMs > 0) this.nowMs += delayMs;
      if (delayMs === 0 && [...revoked.values()].every(isNone)) return rounds;
    }
    throw new Error('the group does not settle');
  }

  count(member: string): [connectors: number, tasks: number] {
    const work = this.members.get(member) ?? NO_WORK;
    return [work.connectors.length, work.tasks.length];
  }
}

function isNone({ connectors, tasks }: Work): boolean {
  return connectors.length + tasks.length === 0;
}

function textsOf(work: Work = NO_WORK): Set<string> {
  return new Set([...work.connectors, ...work.tasks.map(({ connector, task }) => `${connector}/${String(task)}`)]);
}

function workOf(texts: ReadonlySet<string>): Work {
  const tasks = [...texts].filter((text) => text.includes('/')).map((text) => text.split('/'));
  return {
    connectors: [...texts].filter((text) => !text.includes('/')),
    tasks: tasks.map(([connector = '', task]) => ({ connector, task: Number(task) })),
  };
}

describe('work in a worker group', () => {
  it('goes to the only member at once', () => {
    const group = new Group();
    group.enter('a');
    group.configure({ one: 2, two: 1 });
    assert.equal(group.settle(), 1);
    assert.deepEqual(group.count('a'), [2, 3]);
  });

  it('is revoked in one rebalance and assigned in the next when a member joins', () => {
    const group = new Group();
    group.enter('a');
    group.configure({ one: 4, two: 4 });
    group.settle();
    group.enter('b');
    const first = group.join();
    assert.deepEqual(
      [first.revoked.get('a')?.tasks.length, first.assigned.get('b')],
      [4, { connectors: [], tasks: [] }],
    );
    assert.equal(first.delayMs, 20, 'the others join again at once');
    const second = group.join();
    assert.deepEqual([second.assigned.get('b')?.connectors.length, second.assigned.get('b')?.tasks.length], [1, 4]);
    assert.deepEqual(
      [group.count('a'), group.count('b')],
      [
        [1, 4],
        [1, 4],
      ],
    );
  });

  it('waits for a member that left, and goes to the member that comes in its place at once', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 4, two: 4 });
    group.settle();
    const kept = textsOf(group.members.get('a'));
    const lost = textsOf(group.members.get('b'));
    group.members.delete('b');
    assert.equal(group.join().delayMs, MAX_DELAY_MS);
    assert.deepEqual(textsOf(group.members.get('a')), kept);
    group.nowMs += 60_000;
    assert.equal(group.join().delayMs, MAX_DELAY_MS - 60_000);
    group.enter('b2');
    assert.equal(group.join().delayMs, 0);
    assert.deepEqual(textsOf(group.members.get('b2')), lost);
    assert.deepEqual(textsOf(group.members.get('a')), kept);
  });

  it('waits on while some of the members that were lost are missing, and is kept for those that came', () => {
    const group = new Group();
    group.enter('a', 'b', 'c');
    group.configure({ one: 6, two: 3 });
    group.settle();
    const kept = textsOf(group.members.get('a'));
    group.members.delete('b');
    group.join();
    group.members.delete('c');
    group.join();
    group.nowMs += 60_000;
    group.enter('b2');
    assert.equal(group.join().delayMs, MAX_DELAY_MS - 60_000);
    assert.deepEqual(group.count('b2'), [0, 0]);
    group.nowMs += MAX_DELAY_MS - 60_000;
    assert.equal(group.join().delayMs, 20);
    assert.deepEqual(textsOf(group.members.get('a')), kept, 'all of it is for the one that came');
    group.settle();
    assert.deepEqual([group.count('a')[1], group.count('b2')[1]].sort(), [4, 5]);
  });

  it('of a member that came back under another id before the others knew goes to it at once', () => {
    const group = new Group();
    group.enter('a', 'b', 'c');
    group.configure({ one: 6, two: 3 });
    group.settle();
    const lost = textsOf(group.members.get('b'));
    group.members.delete('b');
    group.enter('b2');
    assert.equal(group.join().delayMs, 0);
    assert.deepEqual(textsOf(group.members.get('b2')), lost);
  });

  it('is assigned immediately, in spite of the delay, to a leader that lost its membership and rejoins', () => {
    const group = new Group();
    group.enter('a');
    group.configure({ one: 4 });
    group.settle();
    const all = textsOf(group.members.get('a'));
    group.members.set('a', NO_WORK);
    group.forget();
    assert.equal(group.join().delayMs, 0);
    assert.deepEqual(textsOf(group.members.get('a')), all);
  });

  it('is assigned to others if its member does not return, and immediately without a delay', () => {
    for (const maxDelayMs of [MAX_DELAY_MS, 0]) {
      const group = new Group(maxDelayMs);
      group.enter('a', 'b', 'c');
      group.configure({ one: 5, two: 4 });
      group.settle();
      group.members.delete('b');
      const delayed = group.join().delayMs;
      assert.equal(delayed, maxDelayMs);
      group.nowMs += delayed;
      if (delayed > 0) group.join();
      assert.deepEqual([group.count('a')[1] + group.count('c')[1], group.count('a')[0] + group.count('c')[0]], [9, 2]);
    }
  });

  it('of deleted connectors is stopped, and no other work is disturbed', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 2, two: 2 });
    group.settle();
    group.configure({ one: 2 });
    const { revoked } = group.join();
    const gone = [...revoked.values()].flatMap((work) => [...textsOf(work)]).sort();
    assert.deepEqual(gone, ['two', 'two/0', 'two/1']);
  });

  it('that two members run is revoked from both and assigned again', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 2 });
    group.settle();
    for (const member of ['a', 'b'])
      group.members.set(member, { connectors: ['one'], tasks: [{ connector: 'one', task: 0 }] });
    group.join();
    group.settle();
    assert.deepEqual([group.count('a')[0] + group.count('b')[0], group.count('a')[1] + group.count('b')[1]], [1, 2]);
  });

  it('is revoked after growing delays when successive rebalances would revoke work', () => {
    const group = new Group(10_000);
    group.enter('a');
    group.configure({ one: 12 });
    group.settle();
    group.enter('b');
    assert.equal(group.join().delayMs, 20);
    group.enter('c');
    const delays: number[] = [];
    for (let index = 0; index < 2; index++) delays.push(group.join().delayMs);
    assert.equal(delays[0], 40);
  });

  it('moves from a draining member to the others in parts, regardless of the rebalance delay', () => {
    const group = new Group();
    group.enter('a', 'b', 'c');
    group.configure({ one: 30, two: 30 });
    group.settle();
    group.draining.add('b');
    const kept = { a: textsOf(group.members.get('a')), c: textsOf(group.members.get('c')) };
    let parts = 0;
    for (let had = 20; had > 0; parts++) {
      const { revoked, assigned, delayMs } = group.join();
      const part = revoked.get('b')?.tasks.length ?? 0;
      assert.ok(part > 0 && part <= 12, `${String(part)} tasks stop together`);
      assert.deepEqual(assigned.get('b'), { connectors: [], tasks: [] });
      assert.equal(delayMs, 20, 'the others join again at once');
      had -= part;
      const dealt = group.join();
      assert.deepEqual(dealt.revoked.get('b'), NO_WORK, 'nothing stops while what was dealt out starts');
      assert.equal(dealt.delayMs, had > 0 ? 100 : 0);
    }
    assert.equal(group.join().delayMs, 0);
    assert.ok(parts > 1);
    assert.deepEqual(group.count('b'), [0, 0]);
    assert.deepEqual([group.count('a')[1], group.count('c')[1]], [30, 30]);
    for (const member of ['a', 'c'] as const) {
      for (const text of kept[member]) assert.ok(textsOf(group.members.get(member)).has(text), `${text} does not move`);
    }
    group.members.delete('b');
    const before = new Map(group.members);
    assert.equal(group.join().delayMs, 0, 'nothing waits for a drained member that left');
    assert.deepEqual(group.members, before, 'its end moves nothing');
  });

  it('moves in smaller parts when starts take long, in larger ones when they are quick', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 300 });
    group.settle();
    group.draining.add('b');
    const taken = (startMs: number): number => {
      const { revoked } = group.join();
      group.join();
      group.nowMs += startMs;
      return revoked.get('b')?.tasks.length ?? 0;
    };
    assert.deepEqual([900, 900, 300, 100, 100, 400, 3000, 100].map(taken), [4, 2, 2, 2, 3, 5, 5, 5]);
  });

  it('moves to a new member in parts', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 15, two: 15 });
    group.settle();
    group.enter('c');
    const parts: number[] = [];
    while (group.count('c')[1] < 10) {
      const { revoked } = group.join();
      parts.push([...revoked.values()].reduce((sum, { tasks }) => sum + tasks.length, 0));
      const dealt = group.join();
      assert.ok([...dealt.revoked.values()].every(isNone), 'nothing stops while what was dealt out starts');
    }
    assert.deepEqual(parts, [4, 6]);
    assertBalanced(group);
    assert.equal(group.join().delayMs, 0);
  });

  it('continues to move to the remaining members when a member is lost that had received some of it', () => {
    const group = new Group();
    group.enter('a', 'b', 'c');
    group.configure({ one: 30 });
    group.settle();
    group.draining.add('b');
    group.join();
    group.join();
    const [, ofC] = group.count('c');
    group.members.delete('c');
    for (let rounds = 0; group.count('b')[1] > 0; rounds++) {
      assert.ok(rounds < 50, 'b has nothing left in the end');
      group.join();
    }
    group.join();
    assert.equal(group.count('a')[1], 30 - ofC, 'that of the lost one waits for it');
    assert.ok((group.last?.delayMs ?? 0) > 0);
    group.nowMs += MAX_DELAY_MS;
    group.settle();
    assert.deepEqual([group.count('a'), group.count('b')[1]], [[1, 30], 0]);
  });

  it('comes back to a member that is no longer drained', () => {
    const group = new Group();
    group.enter('a', 'b', 'c');
    group.configure({ one: 12 });
    group.settle();
    group.draining.add('b');
    group.settle();
    assert.equal(group.count('b')[1], 0);
    group.draining.delete('b');
    group.settle();
    assert.equal(group.count('b')[1], 4);
    assertBalanced(group);
  });

  it('continues to move under another leader, which remembers nothing', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 20, two: 4 });
    group.settle();
    group.draining.add('b');
    group.join();
    group.forget();
    group.settle();
    assert.deepEqual(
      [group.count('a'), group.count('b')],
      [
        [2, 24],
        [0, 0],
      ],
    );
  });

  it('does not wait for a draining member that was lost with a part of its work', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 30 });
    group.settle();
    group.draining.add('b');
    group.join();
    group.members.delete('b');
    assert.equal(group.join().delayMs, 0);
    assert.deepEqual(group.count('a'), [1, 30]);
  });

  it('stays with draining members when there are no others', () => {
    const group = new Group();
    group.enter('a', 'b');
    group.configure({ one: 6 });
    group.settle();
    group.draining.add('a').add('b');
    group.settle();
    assertBalanced(group);
  });

  it('runs nowhere twice, is never forgotten, and ends in equal shares, whatever comes and goes', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('enter'), member: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
      fc.record({ kind: fc.constant('drain'), member: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
      fc.record({ kind: fc.constant('leave'), member: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
      fc.record({
        kind: fc.constant('configure'),
        connectors: fc.dictionary(fc.constantFrom('w', 'x', 'y', 'z'), fc.integer({ min: 0, max: 9 })),
      }),
      fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 0, max: 20_000 }) }),
      fc.record({ kind: fc.constant('join') }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 10_000), (steps, maxDelayMs) => {
        const group = new Group(maxDelayMs);
        group.enter('leader');
        const rebalance = (): void => {
          const before = new Map(group.members);
          group.join();
          assertRunsOnce(group, before);
        };
        for (const { kind, ...details } of steps as {
          kind: string;
          member: string;
          connectors: Record<string, number>;
          ms: number;
        }[]) {
          if (kind === 'enter' && !group.members.has(details.member)) group.enter(details.member);
          else if (kind === 'leave') {
            group.members.delete(details.member);
            group.draining.delete(details.member);
          } else if (kind === 'drain' && group.members.has(details.member)) group.draining.add(details.member);
          else if (kind === 'configure') group.configure(details.connectors);
          else if (kind === 'wait') group.nowMs += details.ms;
          else rebalance();
        }
        group.settle();
        assertBalanced(group);
      }),
      { numRuns: 200 },
    );
  });
});

function assertRunsOnce({ members }: Group, before: ReadonlyMap<string, Work>): void {
  const owner = new Map<string, string>();
  for (const [member, work] of members) {
    for (const text of textsOf(work)) {
      assert.equal(owner.get(text), undefined, `${text} runs on ${member} and ${String(owner.get(text))}`);
      owner.set(text, member);
      const old = [...before].find(([, had]) => textsOf(had).has(text))?.[0];
      assert.ok(old === undefined || old === member, `${text} moved from ${String(old)} to ${member} without a stop`);
    }
  }
}

function assertBalanced({ members, draining, configured }: Group): void {
  const all = [...members.values()].flatMap((work) => [...textsOf(work)]).sort();
  assert.deepEqual(all, [...textsOf(configured)].sort());
  const takers = [...members].filter(([member]) => !draining.has(member) || draining.size === members.size);
  for (const kind of ['connectors', 'tasks'] as const) {
    const sizes = takers.map(([, work]) => work[kind].length);
    assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${kind}: ${sizes.join()}`);
  }
}
