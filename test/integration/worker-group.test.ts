import assert from 'node:assert/strict';
import { decodeAssignment, encodeMetadata, NO_WORK } from '../../src/herder/group/group-bytes.ts';
import { KafkaGroup, type GroupMember } from '../../src/kafka/group/group-membership.ts';
import { until } from '../support/until.ts';
import { recordingLogger } from './kafka-fixture.ts';
import { TestWorkers, texts } from './worker-group-fixture.ts';

describe('the group of workers', () => {
  let workers: TestWorkers;

  beforeEach(async () => (workers = await TestWorkers.create()));
  afterEach(() => workers.stop());

  it('assigns all work, revokes surplus before another worker gets it, and runs nothing twice', async () => {
    const first = await workers.enter('one');
    assert.deepEqual([first.count, first.group.isLeader, first.group.leaderUrl], [9, true, 'http://one:8083/']);
    const second = await workers.enter('two');
    await workers.untilShared([4, 5]);
    await workers.enter('three');
    await workers.untilShared([3, 3, 3]);
    assert.deepEqual([second.group.isLeader, second.group.leaderUrl], [false, 'http://one:8083/']);
    assert.equal(first.group.ownerUrl('a') === undefined, false, 'the leader knows who has what');
    assert.deepEqual(workers.scene.twice, []);
    assert.equal(second.group.view().protocol, 'sessioned');
  });

  it('assigns new connectors and tasks, and nothing else moves', async () => {
    const first = await workers.enter('one');
    await workers.enter('two');
    await workers.untilShared([4, 5]);
    const before = new Map(workers.scene.running);
    workers.scene.configure({ d: 2 });
    for (const { group } of workers.members) group.workChanged('d');
    await workers.untilShared([6, 6]);
    for (const [each, owner] of before) assert.equal(workers.scene.running.get(each), owner, each);
    workers.scene.tasks.delete('d');
    workers.scene.configure({});
    for (const { group } of workers.members) group.workChanged('d');
    await workers.untilShared([4, 5]);
    await first.group.settled();
    assert.deepEqual(workers.scene.twice, []);
  });

  it('assigns work that is created during a rebalance, both before and after the leader has computed the assignment', async () => {
    const sole = await workers.enter('one');
    const { generation } = sole.group;
    const create = (name: string): void => {
      workers.scene.configure({ [name]: 0 });
      sole.group.workChanged(name);
    };
    create('first');
    sole.onOffset = () => {
      queueMicrotask(() => {
        create('while-it-joins');
      });
    };
    sole.onWork = () => {
      queueMicrotask(() => {
        create('right-after-the-division');
      });
    };
    await until(() => sole.count === workers.scene.size && workers.scene.tasks.size === 6, 'all of it runs', {
      everyMs: 10,
    });
    await sole.group.settled();
    assert.equal(sole.group.generation, generation + 2);
    assert.deepEqual(workers.scene.twice, []);
  });

  it('falls back to the eager protocol when an old member knows no other', async () => {
    await workers.enter('one');
    const old = await workers.enter('two', { protocol: 'eager' });
    await workers.untilShared([4, 5]);
    assert.equal(old.group.view().protocol, 'default');
    assert.deepEqual(workers.scene.twice, [], 'nobody starts what the other has not stopped yet');
    for (const [each, owner] of workers.scene.running) if (owner === 'one') workers.scene.running.delete(each);
    await workers.members.shift()?.group.stop();
    await workers.untilShared([9]);
    assert.deepEqual(workers.scene.twice, []);
  });

  it('lets tasks deliver and commit their records when the eager protocol stops them', async () => {
    const first = await workers.enter('one', { protocol: 'eager' });
    const second = await workers.enter('two', { protocol: 'eager' });
    await workers.untilShared([4, 5]);
    await workers.enter('three', { protocol: 'eager' });
    await workers.untilShared([3, 3, 3]);
    const stops = [...first.mightWrite, ...second.mightWrite];
    assert.ok(stops.length >= 2);
    assert.ok(
      stops.every((mightWrite) => mightWrite),
      'nobody has the work before its member joins again',
    );
    assert.deepEqual(workers.scene.twice, []);
  });

  it('passes the work of a member that leaves on at its next heartbeat', async () => {
    const first = await workers.enter('one');
    const second = await workers.enter('two');
    await workers.untilShared([4, 5]);
    await second.revoked(workers.scene.work());
    workers.scene.running.clear();
    for (const each of texts({ ...workers.scene.work() }))
      if (first.group.ownsConnector(each)) workers.scene.running.set(each, 'one');
    workers.members.splice(workers.members.indexOf(first), 1);
    workers.scene.running.clear();
    await first.group.stop();
    const leftAt = Date.now();
    await until(() => second.group.isLeader, 'the other one leads', { everyMs: 10 });
    await until(() => second.group.view().tasks.length === 6, 'it has everything', { everyMs: 10 });
    assert.ok(Date.now() - leftAt < 8000);
  });

  it('does not wait for a stale member of an earlier worker at the same address', async () => {
    const ghosts = new KafkaGroup(
      { 'bootstrap.servers': workers.bootstrap },
      workers.settings,
      recordingLogger().logger,
    );
    const metadata = encodeMetadata({ url: 'http://one:8083/', configOffset: 1, allocation: null }, 'sessioned');
    const protocol = {
      type: 'connect',
      protocols: () => [{ name: 'sessioned', metadata }],
      assign: () => Promise.resolve(new Map<string, Buffer>()),
    };
    await ghosts.member(protocol, () => undefined).join();
    await ghosts.close();
    const startedAt = Date.now();
    const worker = await workers.enter('one');
    assert.equal(worker.count, 9);
    assert.ok(Date.now() - startedAt < 8000, `it took ${String(Date.now() - startedAt)} ms`);
  });

  /** A worker as Java's, which knows Connect's protocols only. */
  const foreign = (): { readonly member: GroupMember; readonly leave: () => Promise<void> } => {
    const { logger } = recordingLogger();
    const group = new KafkaGroup(
      { 'bootstrap.servers': workers.bootstrap, 'client.id': 'connect-java' },
      workers.settings,
      logger,
    );
    const metadata = encodeMetadata({ url: 'http://java:8083/', configOffset: 1, allocation: null }, 'sessioned');
    const protocol = {
      type: 'connect',
      protocols: () => [{ name: 'sessioned', metadata }],
      assign: () => Promise.resolve(new Map<string, Buffer>()),
    };
    const joined = group.member(protocol, () => undefined);
    return {
      member: joined,
      leave: async () => {
        await joined.leave(1000);
        await group.close();
      },
    };
  };

  it('removes a worker that is not Sluice and keeps it out; its own work continues', async () => {
    const first = await workers.enter('one');
    await workers.enter('two');
    await workers.untilShared([4, 5]);
    const before = new Map(workers.scene.running);
    const { member: outsider, leave } = foreign();
    const { assigned, revoked } = decodeAssignment((await outsider.join()).assignment);
    assert.deepEqual([assigned, revoked], [NO_WORK, NO_WORK]);
    await until(() => outsider.state === 'lost', 'it is taken out');
    await until(() => first.group.view().lastRebalance?.reason === 'a worker that is not Sluice was refused', 'shut');
    await assert.rejects(outsider.join(), { code: 23 });
    await leave();
    await workers.enter('three');
    await workers.untilShared([3, 3, 3]);
    assert.deepEqual(first.group.view().protocol, 'sessioned');
    assert.deepEqual(workers.scene.twice, []);
    const moved = [...before].filter(([each, owner]) => workers.scene.running.get(each) !== owner);
    assert.equal(moved.length, 3, 'nothing but what the third worker got has moved');
    const [line] = first.log.filter(({ msg }) => msg.startsWith('Refused the worker at http://java:8083/'));
    assert.ok(line?.msg.includes('because it is not Sluice') === true);
  });

  it('waits outside a group of workers that are not Sluice until they have gone', async () => {
    const { member: outsider, leave } = foreign();
    await outsider.join();
    const worker = workers.member('one');
    const starting = worker.group.start(worker);
    await until(() => worker.log.some(({ msg }) => msg.startsWith('Not joining the worker group')), 'it says so');
    assert.equal(outsider.state, 'stable', 'they are not disturbed');
    await leave();
    await starting;
    assert.equal(worker.count, 9);
  });

  it('assigns work to workers that are not Sluice if that is allowed', async () => {
    await workers.enter('one', { mixed: 'allow' });
    const { member: other, leave } = foreign();
    await other.join();
    await until(() => workers.shares().join() === '5', 'surplus is taken away', { everyMs: 10 });
    const { assigned } = decodeAssignment((await other.join()).assignment);
    assert.equal(assigned.connectors.length + assigned.tasks.length, 4);
    await leave();
  });

  it('assigns nothing until its leader has read as far as the others, and everything then', async () => {
    const leader = workers.member('one');
    leader.readTo = 1;
    await leader.group.start(leader);
    workers.scene.configure({ d: 0 });
    const second = workers.member('two');
    const starting = second.group.start(second);
    await until(
      () => leader.log.some(({ msg }) => msg.includes('no work is assigned until it has')),
      'the leader says so',
    );
    leader.readTo = undefined;
    await starting;
    await workers.untilShared([5, 5]);
    assert.deepEqual(workers.scene.twice, []);
  });

  it('lets a member go that cannot read the config topic, and back in when it can', async () => {
    const first = await workers.enter('one');
    const second = workers.member('two');
    second.readTo = 0;
    const starting = second.group.start(second);
    await until(() => second.log.some(({ msg }) => msg.includes('leaving the group until it succeeds')), 'it leaves');
    await until(() => first.count === 9, 'the other one has everything meanwhile');
    second.readTo = undefined;
    await starting;
    await workers.untilShared([4, 5]);
    assert.deepEqual(workers.scene.twice, []);
  });

  it('keeps the work of a lost member for it, as long as the delay says', async () => {
    const first = await workers.enter('one', { maxDelayMs: 1500 });
    const second = await workers.enter('two', { maxDelayMs: 1500 });
    await workers.untilShared([4, 5]);
    workers.members.splice(workers.members.indexOf(second), 1);
    const lost = texts(workers.scene.work()).filter((each) => workers.scene.running.get(each) === 'two');
    for (const each of lost) workers.scene.running.delete(each);
    await second.group.stop();
    await until(() => (first.group.view().lastRebalance?.delayMs ?? 0) > 0, 'it has to wait', { everyMs: 10 });
    assert.equal(first.count, workers.scene.size - lost.length);
    const waitedFrom = Date.now();
    await until(() => first.count === workers.scene.size, 'it gets the rest', { everyMs: 10 });
    assert.ok(Date.now() - waitedFrom > 1000);
    assert.deepEqual(first.group.view().lastRebalance?.reason, 'the rebalance delay is over');
  });

  it('gives the work of a member that left to the one that comes in its place, without waiting for the delay', async () => {
    const first = await workers.enter('one', { maxDelayMs: 300_000 });
    const second = await workers.enter('two', { maxDelayMs: 300_000 });
    await workers.untilShared([4, 5]);
    workers.members.splice(workers.members.indexOf(second), 1);
    const lost = texts(workers.scene.work()).filter((each) => workers.scene.running.get(each) === 'two');
    const kept = texts(workers.scene.work()).filter((each) => workers.scene.running.get(each) === 'one');
    for (const each of lost) workers.scene.running.delete(each);
    await second.group.stop();
    await until(() => (first.group.view().lastRebalance?.delayMs ?? 0) > 0, 'it has to wait', { everyMs: 10 });
    await workers.enter('two-again', { maxDelayMs: 300_000 });
    await until(() => workers.scene.running.size === workers.scene.size, 'all runs again', { everyMs: 10 });
    assert.ok(lost.every((each) => workers.scene.running.get(each) === 'two-again'));
    assert.ok(kept.every((each) => workers.scene.running.get(each) === 'one'));
    assert.deepEqual(workers.scene.twice, []);
  });

  it('is refused to a group that is not a worker group, with the reason', async () => {
    const consumers = new KafkaGroup(
      { 'bootstrap.servers': workers.bootstrap },
      workers.settings,
      recordingLogger().logger,
    );
    const protocol = {
      type: 'consumer',
      protocols: () => [{ name: 'range', metadata: Buffer.alloc(0) }],
      assign: () => Promise.resolve(new Map<string, Buffer>()),
    };
    const other = consumers.member(protocol, () => undefined);
    await other.join();
    const worker = workers.member('one');
    await assert.rejects(worker.group.start(worker), /Joining group .*INCONSISTENT_GROUP_PROTOCOL/);
    await other.leave(1000);
    await consumers.close();
    assert.deepEqual(NO_WORK, { connectors: [], tasks: [] });
  });
});
