import assert from 'node:assert/strict';
import type { WorkerGroupSettings } from '../../src/herder/group/worker-group-settings.ts';
import { mayWork } from '../../src/herder/placement.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { broker, ownBroker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { Member, Scene } from '../integration/worker-group-fixture.ts';

describe('the group of workers', () => {
  const members: Member[] = [];
  let scene: Scene;
  let settings: WorkerGroupSettings;
  let bootstrap: string;

  beforeEach(async () => {
    bootstrap = (await broker()).bootstrapServers;
    scene = new Scene();
    scene.configure({ a: 3, b: 2, c: 1 });
    settings = {
      groupId: uniqueName('workers'),
      sessionTimeoutMs: 10_000,
      rebalanceTimeoutMs: 10_000,
      heartbeatIntervalMs: 100,
      protocol: 'sessioned',
      mixed: 'refuse',
      maxDelayMs: 0,
      syncTimeoutMs: 300,
      unsyncBackoffMs: 200,
    };
  });

  afterEach(async () => {
    await Promise.all(members.splice(0).map(({ group }) => group.stop()));
  });

  const member = (name: string, more: Partial<WorkerGroupSettings> = {}): Member => {
    const created = new Member(scene, name, bootstrap, { ...settings, ...more });
    members.push(created);
    return created;
  };
  const enter = async (name: string, more: Partial<WorkerGroupSettings> = {}): Promise<Member> => {
    const entered = member(name, more);
    await entered.group.start(entered);
    return entered;
  };
  const shares = () => members.map(({ count }) => count).sort();
  const untilShared = (expected: readonly number[]) =>
    until(() => scene.running.size === scene.size && shares().join() === expected.join(), `shares ${expected.join()}`, {
      everyMs: 10,
    });

  it('gives a sole member that did not run for longer than its session its work back, without waiting for the delay', async () => {
    const sole = await enter('one', { maxDelayMs: 300_000, sessionTimeoutMs: 6000 });
    assert.equal(sole.count, scene.size);
    let least = sole.count;
    const revoked = sole.revoked.bind(sole);
    sole.revoked = async (work) => {
      const left = await revoked(work);
      least = Math.min(least, sole.count);
      return left;
    };
    // As SIGSTOP does: nothing of this process runs, timers and answers included.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6500);
    const wokenAt = Date.now();
    assert.equal(mayWork(sole.group), false, 'nothing is written from the first moment on');
    await until(() => least === 0 && sole.count === scene.size, 'it has stopped and started everything', {
      everyMs: 10,
    });
    await until(() => mayWork(sole.group), 'it may write again');
    console.log(`      a sole worker that was suspended has its work again after ${String(Date.now() - wokenAt)} ms`);
    assert.deepEqual(scene.twice, []);
  });

  it('loses a member that the network has cut off, which stops its work by itself and comes back', async () => {
    const proxy = await KafkaProxy.start(bootstrap);
    try {
      const first = await enter('one', { sessionTimeoutMs: 6000 });
      const direct = bootstrap;
      bootstrap = proxy.bootstrapServers;
      const second = await enter('two', { sessionTimeoutMs: 6000 });
      bootstrap = direct;
      await untilShared([4, 5]);
      // Once all of its work has stopped it may write again, which says nothing then.
      const writes = () => mayWork(second.group) && second.group.view().tasks.length > 0;
      let besideMs = 0;
      const assigned = first.assigned.bind(first);
      first.assigned = (work) => {
        if (work.tasks.length > 0 && writes()) besideMs = Date.now() - cutAt;
        return assigned(work);
      };
      proxy.silence();
      const cutAt = Date.now();
      await until(() => !writes(), 'it may not write any more', { everyMs: 5 });
      const stoppedMs = Date.now() - cutAt;
      if (besideMs > 0) besideMs = stoppedMs - besideMs;
      await until(() => first.group.view().tasks.length === 6, 'the other one has everything', { everyMs: 5 });
      const takenMs = Date.now() - cutAt;
      console.log(
        `      cut off with a session of 6000 ms: it stops after ${String(stoppedMs)} ms, the other one takes over after ${String(takenMs)} ms`,
      );
      // The broker's clock is another one.
      assert.ok(besideMs < 500, `both of them could write for ${String(besideMs)} ms`);
      await until(() => second.count === 0, 'all of it has stopped');
      proxy.pass();
      proxy.cut();
      await until(
        () => [4, 5].includes(second.group.view().tasks.length + second.group.view().connectors.length),
        'it has its share again',
      );
    } finally {
      await Promise.all(members.splice(0).map(({ group }) => group.stop()));
      await proxy.close();
    }
  });

  it('outlives its coordinator being killed and started again: nobody loses anything, and the group goes on', async () => {
    const kafka = await ownBroker();
    bootstrap = kafka.bootstrapServers;
    // The broker may be away for long on a busy machine.
    const patient = { sessionTimeoutMs: 60_000 };
    try {
      await enter('one', patient);
      await enter('two', patient);
      await enter('three', patient);
      await untilShared([3, 3, 3]);
      const before = new Map(scene.running);
      let revocations = 0;
      for (const each of members) {
        const revoked = each.revoked.bind(each);
        each.revoked = (work) => ((revocations += 1), revoked(work));
      }
      const generation = members[0]?.group.generation ?? 0;
      await kafka.kill();
      await kafka.start();
      scene.configure({ d: 2 });
      for (const { group } of members) group.workChanged('d');
      await until(() => scene.running.size === scene.size, 'new work is dealt out', { everyMs: 10 });
      await Promise.all(members.map(({ group }) => group.settled()));
      for (const [each, owner] of before) assert.equal(scene.running.get(each), owner, each);
      assert.deepEqual(
        members.map(({ group }) => [group.generation, mayWork(group)]),
        members.map(() => [generation + 1, true]),
        'the new work was the only reason to rebalance',
      );
      assert.deepEqual([revocations, scene.twice], [0, []]);
      await Promise.all(members.splice(0).map(({ group }) => group.stop()));
    } finally {
      await kafka.discard();
    }
  });
});
