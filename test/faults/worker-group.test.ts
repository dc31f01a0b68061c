import assert from 'node:assert/strict';
import { mayWork } from '../../src/herder/group/placement.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { ownBroker } from '../support/services.ts';
import { until } from '../support/until.ts';
import { TestWorkers } from '../integration/worker-group-fixture.ts';

describe('the group of workers', () => {
  let workers: TestWorkers;

  beforeEach(async () => (workers = await TestWorkers.create()));
  afterEach(() => workers.stop());

  it('gives a sole member that did not run for longer than its session its work back, without waiting for the delay', async () => {
    const sole = await workers.enter('one', { maxDelayMs: 300_000, sessionTimeoutMs: 6000 });
    assert.equal(sole.count, workers.scene.size);
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
    await until(() => least === 0 && sole.count === workers.scene.size, 'it has stopped and started everything', {
      everyMs: 10,
    });
    await until(() => mayWork(sole.group), 'it may write again');
    console.log(`      a sole worker that was suspended has its work again after ${String(Date.now() - wokenAt)} ms`);
    assert.deepEqual(workers.scene.twice, []);
  });

  it('loses a member that the network has cut off, which stops its work on its own and returns', async () => {
    const proxy = await KafkaProxy.start(workers.bootstrap);
    try {
      const first = await workers.enter('one', { sessionTimeoutMs: 6000 });
      const direct = workers.bootstrap;
      workers.bootstrap = proxy.bootstrapServers;
      const second = await workers.enter('two', { sessionTimeoutMs: 6000 });
      workers.bootstrap = direct;
      await workers.untilShared([4, 5]);
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
      await workers.stop();
      await proxy.close();
    }
  });

  it('outlives its coordinator being killed and started again: no work is lost, and the group continues', async () => {
    const kafka = await ownBroker();
    workers.bootstrap = kafka.bootstrapServers;
    // The broker may be away for long on a busy machine.
    const patient = { sessionTimeoutMs: 60_000 };
    try {
      await workers.enter('one', patient);
      await workers.enter('two', patient);
      await workers.enter('three', patient);
      await workers.untilShared([3, 3, 3]);
      const before = new Map(workers.scene.running);
      let revocations = 0;
      for (const each of workers.members) {
        const revoked = each.revoked.bind(each);
        each.revoked = (work) => ((revocations += 1), revoked(work));
      }
      const generation = workers.members[0]?.group.generation ?? 0;
      await kafka.kill();
      await kafka.start();
      workers.scene.configure({ d: 2 });
      for (const { group } of workers.members) group.workChanged('d');
      await until(() => workers.scene.running.size === workers.scene.size, 'new work is dealt out', { everyMs: 10 });
      await Promise.all(workers.members.map(({ group }) => group.settled()));
      for (const [each, owner] of before) assert.equal(workers.scene.running.get(each), owner, each);
      assert.deepEqual(
        workers.members.map(({ group }) => [group.generation, mayWork(group)]),
        workers.members.map(() => [generation + 1, true]),
        'the new work was the only reason to rebalance',
      );
      assert.deepEqual([revocations, workers.scene.twice], [0, []]);
      await workers.stop();
    } finally {
      await kafka.discard();
    }
  });
});
