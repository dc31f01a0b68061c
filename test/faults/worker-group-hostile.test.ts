import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { encodeAssignment, encodeMetadata, NO_WORK, type Work } from '../../src/herder/group/group-bytes.ts';
import { HostileMember } from '../support/hostile-member.ts';
import { until } from '../support/until.ts';
import { TestWorkers } from '../integration/worker-group-fixture.ts';

const CONNECT = ['sessioned', 'compatible', 'default'];
/** Protocols of a Sluice worker: those of Connect and its own. */
const MARKED = [...CONNECT, ...CONNECT.map((name) => `sluice-${name}`)];

interface Claims {
  readonly url?: string;
  readonly configOffset?: number;
  readonly assigned?: Work;
}

/** Metadata of a worker that claims to have all this. */
function metadata({ url = 'http://evil:8083/', configOffset = 1, assigned }: Claims): Buffer {
  const rest = { error: 'none', leader: 'x', leaderUrl: url, configOffset: 1, revoked: NO_WORK, delayMs: 0 } as const;
  return encodeMetadata(
    { url, configOffset, allocation: assigned === undefined ? null : { ...rest, assigned } },
    'sessioned',
  );
}

function withOffset(offset: bigint): Buffer {
  const bytes = metadata({ url: 'http://evil:8083/' });
  bytes.writeBigInt64BE(offset, 2 + 2 + 'http://evil:8083/'.length);
  return bytes;
}

const thousands: Work = {
  connectors: Array.from({ length: 2_000 }, (_, index) => `claimed-${String(index)}`),
  tasks: Array.from({ length: 20_000 }, (_, index) => ({ connector: `claimed-${String(index % 2_000)}`, task: index })),
};

describe('a group of workers with a hostile member', () => {
  const hostile: HostileMember[] = [];
  let workers: TestWorkers;

  beforeEach(async () => (workers = await TestWorkers.create('hostile')));
  afterEach(async () => {
    await Promise.all(hostile.splice(0).map((each) => each.end()));
    await workers.stop();
  });

  function intruder(clientId: string, protocols: readonly string[], said: () => Buffer): HostileMember {
    const created = new HostileMember({
      ...{ bootstrap: workers.bootstrap, groupId: workers.settings.groupId, type: 'connect', clientId, protocols },
      metadata: said,
    });
    hostile.push(created);
    return created;
  }

  const lies: readonly (readonly [what: string, said: () => Buffer])[] = [
    ['nothing', () => Buffer.alloc(0)],
    ['garbage', () => randomBytes(200)],
    ['a version that does not exist', () => Buffer.from('ffff', 'hex')],
    ['an offset that no topic has', () => withOffset(2n ** 63n - 1n)],
    ['a large offset', () => withOffset(2n ** 50n)],
    ['an invalid address', () => metadata({ url: 'not an address' })],
    ['an address of a file', () => metadata({ url: 'file:///etc/passwd' })],
    ['an address with 30,000 characters', () => metadata({ url: `http://${'a'.repeat(30_000)}/` })],
    ['thousands of connectors and tasks', () => metadata({ assigned: thousands })],
    ['all that the others have', () => metadata({ assigned: workers.scene.work() })],
    ['lengths beyond its bytes', () => Buffer.concat([withOffset(1n), Buffer.from('7fffffff', 'hex')])],
  ];

  it('that is not Sluice keeps its work, whatever that member claims, and removes it', async () => {
    const [first] = [await workers.enter('one'), await workers.enter('two')];
    await workers.untilShared([4, 5], 'both have their shares');
    const before = new Map(workers.scene.running);
    for (const [what, said] of lies) {
      const member = intruder('kafkajs', CONNECT, said);
      await member.join().catch(() => undefined);
      await until(() => member.state !== 'stable', `${what}: it is removed`);
      await member.end();
      hostile.pop();
      await until(
        () => workers.members.every(({ group }) => !group.view().rebalancing),
        `${what}: the group is settled`,
      );
      assert.deepEqual(workers.scene.running, before, what);
    }
    assert.deepEqual(workers.scene.twice, []);
    const refusals = first.log.filter(({ msg }) => msg.startsWith('Refused the worker at '));
    assert.equal(refusals.length, 1, 'one line per interval');
    assert.equal(first.log.filter(({ msg }) => msg.includes('Failed to join the worker group')).length, 0);
    await workers.enter('three');
    await workers.untilShared([3, 3, 3], 'a third worker gets its share');
  });

  it('that imitates Sluice recovers when that member is gone, whatever it claimed', async () => {
    const [first] = [await workers.enter('one'), await workers.enter('two')];
    await workers.untilShared([4, 5], 'both have their shares');
    for (const [what, said] of lies) {
      const member = intruder('sluice-evil', MARKED, said);
      await member.join();
      await member.leave();
      await workers.untilShared([4, 5], `${what}: both have their shares again`);
    }
    assert.equal(first.log.filter(({ msg }) => msg.includes('Failed to join the worker group')).length, 0);
    assert.deepEqual(workers.scene.twice, []);
  });

  it('starts new work as long as that member claims an offset beyond all records', async () => {
    await workers.enter('one');
    const member = intruder('sluice-evil', MARKED, () => withOffset(2n ** 50n));
    let isOver = false;
    const staying = member.stay(() => isOver);
    await until(() => workers.scene.running.size < workers.scene.size, 'the hostile member got a share');
    workers.scene.configure({ d: 4 });
    for (const { group } of workers.members) group.workChanged('d');
    await until(
      () => [...workers.scene.running.keys()].some((key) => key.startsWith('d')),
      'some of the new work runs',
    );
    isOver = true;
    await staying;
    await member.leave();
    await workers.untilShared([14], 'all of it runs');
  });

  it('survives one that joins and leaves again and again, with a line in the log per interval', async () => {
    const first = await workers.enter('one');
    for (let round = 0; round < 15; round++) {
      const member = intruder(round % 2 === 0 ? 'kafkajs' : 'sluice-evil', MARKED, () => randomBytes(50));
      await member.join().catch(() => undefined);
      await member.end();
      hostile.pop();
    }
    await workers.untilShared([9], 'all of it runs');
    assert.equal(first.log.filter(({ msg }) => msg.includes('gets no work')).length <= 2, true);
  });

  const assignments: readonly (readonly [what: string, bytes: () => Buffer])[] = [
    ['nothing', () => Buffer.alloc(0)],
    ['garbage', () => randomBytes(100)],
    [
      'work that does not exist',
      () =>
        encodeAssignment(
          {
            ...{ error: 'none', leader: 'x', leaderUrl: 'not an address', configOffset: 2 ** 50 },
            ...{ assigned: thousands, revoked: NO_WORK, delayMs: 2 ** 31 - 1 },
          },
          'sessioned',
        ),
    ],
  ];

  for (const [what, bytes] of assignments) {
    it(`works again when a leader that imitates Sluice, and assigns ${what}, is gone`, async () => {
      const leader = new HostileMember({
        ...{
          bootstrap: workers.bootstrap,
          groupId: workers.settings.groupId,
          type: 'connect',
          clientId: 'sluice-evil',
          protocols: MARKED,
        },
        metadata: () => metadata({}),
        assign: ({ members: all }) => Promise.resolve(new Map(all.map(({ memberId }) => [memberId, bytes()]))),
      });
      hostile.push(leader);
      await leader.join();
      assert.ok(leader.isLeading);
      let isOver = false;
      const staying = leader.stay(() => isOver);
      const worker = workers.member('one');
      const starting = worker.group.start(worker);
      await until(
        () => worker.log.some(({ msg }) => /Received no valid assignment|Joined group/.test(msg)),
        'it joined',
      );
      isOver = true;
      await staying;
      await leader.leave();
      await starting;
      await until(() => workers.scene.work().tasks.every((id) => worker.group.ownsTask(id)), 'it has all of the work');
      assert.ok(worker.group.isLeader);
    });
  }

  it('waits for a leader that never assigns anything no longer than its session, and works then', async () => {
    const leader = new HostileMember({
      ...{
        bootstrap: workers.bootstrap,
        groupId: workers.settings.groupId,
        type: 'connect',
        clientId: 'sluice-evil',
        protocols: MARKED,
      },
      sessionTimeoutMs: 6_000,
      metadata: () => metadata({}),
      assign: () => new Promise(() => undefined),
    });
    hostile.push(leader);
    // It never ends, as the leader never answers.
    void leader.join().catch(() => undefined);
    await until(() => leader.isLeading, 'it leads');
    await workers.enter('one');
    await workers.untilShared([9], 'all of it runs');
  });
});
