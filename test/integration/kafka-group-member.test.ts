import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { connectionConfig } from '../../src/kafka/config/client-config.ts';
import { Cluster } from '../../src/kafka/connections/cluster.ts';
import { GroupMember } from '../../src/kafka/group/group-member.ts';
import type { GroupProtocol, LeaderView, MemberState } from '../../src/kafka/group/group-protocol.ts';
import { PropertyReader } from '../../src/config/property-reader.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { recordingLogger } from './kafka-fixture.ts';

/** A protocol of another type than the consumers': the leader gives every member its rank among the members' names. */
class RankProtocol implements GroupProtocol {
  readonly type = 'connect';
  readonly views: LeaderView[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[] {
    return [
      { name: 'newer', metadata: Buffer.from(`2:${this.#name}`) },
      { name: 'older', metadata: Buffer.from(`1:${this.#name}`) },
    ];
  }

  async assign(view: LeaderView): Promise<ReadonlyMap<string, Buffer>> {
    this.views.push(view);
    const ranked = [...view.members].sort((a, b) => Buffer.compare(a.metadata, b.metadata));
    return new Map(ranked.map(({ memberId }, rank) => [memberId, Buffer.from(`rank ${String(rank)}`)]));
  }
}

describe('a group member of another protocol type', () => {
  const clusters: Cluster[] = [];

  async function member(
    groupId: string,
    name: string,
    over: { sessionTimeoutMs?: number; rebalanceTimeoutMs?: number } = {},
  ): Promise<{ member: GroupMember; protocol: RankProtocol; states: MemberState[] }> {
    const { bootstrapServers } = await broker();
    const { logger } = recordingLogger();
    const config = connectionConfig(new PropertyReader({ 'bootstrap.servers': bootstrapServers, 'client.id': name }));
    const cluster = new Cluster(config, logger);
    clusters.push(cluster);
    const protocol = new RankProtocol(name);
    const states: MemberState[] = [];
    const options = { groupId, sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 5000, heartbeatIntervalMs: 100, ...over };
    const listener = (state: MemberState): void => void states.push(state);
    return { member: new GroupMember(cluster, options, protocol, listener, logger), protocol, states };
  }

  after(() => Promise.all(clusters.map((cluster) => cluster.close())));

  it('agrees with the others on a protocol, and receives the assignment of the leader', async () => {
    const group = uniqueName('connect-group');
    const first = await member(group, 'a');
    const alone = await first.member.join();
    assert.deepEqual([alone.isLeader, alone.protocol, alone.assignment.toString()], [true, 'newer', 'rank 0']);
    assert.match(alone.memberId, /^a-[0-9a-f-]{36}$/);

    const second = await member(group, 'b');
    const joining = second.member.join();
    await until(() => first.member.state === 'rebalancing', 'the first is notified of the second');
    assert.equal(first.member.generation, alone, 'the generation is held until the next join');
    const [one, two] = await Promise.all([first.member.join(), joining]);
    assert.deepEqual([one.assignment.toString(), two.assignment.toString()], ['rank 0', 'rank 1']);
    assert.equal(one.generationId, two.generationId);
    assert.equal(two.leaderId, one.memberId);
    assert.deepEqual(
      first.protocol.views
        .at(-1)
        ?.members.map(({ metadata }) => metadata.toString())
        .sort(),
      ['2:a', '2:b'],
    );
    assert.deepEqual(first.states, ['joining', 'stable', 'rebalancing', 'joining', 'stable']);

    await second.member.leave(1000);
    await until(() => first.member.state === 'rebalancing', 'the first is notified that the second leaves');
    assert.equal((await first.member.join()).assignment.toString(), 'rank 0');
    await first.member.leave(1000);
  });

  it('rejoins when it asks for it, with the same member id', async () => {
    const { member: only, states } = await member(uniqueName('connect-group'), 'a');
    const before = await only.join();
    only.requestRejoin('a test');
    assert.equal(only.state, 'rebalancing');
    const after = await only.join();
    assert.equal(after.memberId, before.memberId);
    assert.ok(after.generationId > before.generationId);
    only.requestRejoin('once');
    only.requestRejoin('twice');
    assert.deepEqual(states.slice(-1), ['rebalancing']);
    await only.leave(1000);
    assert.equal(only.state, 'left');
    await assert.rejects(only.join(), /has been closed/);
  });

  it('learns that it lost its membership when the others continued without it, and can rejoin', async () => {
    const group = uniqueName('connect-group');
    const slow = await member(group, 'slow', { rebalanceTimeoutMs: 500 });
    await slow.member.join();
    const quick = await member(group, 'quick', { rebalanceTimeoutMs: 500 });
    assert.equal((await quick.member.join()).assignment.toString(), 'rank 0');
    await until(() => slow.member.state === 'lost', 'the slow one is notified');
    assert.equal(slow.member.generation, undefined);
    const again = slow.member.join();
    await until(() => quick.member.state === 'rebalancing', 'the quick one is notified of the slow one');
    const [back] = await Promise.all([again, quick.member.join()]);
    assert.match(back.assignment.toString(), /^rank [01]$/);
    await Promise.all([slow.member.leave(1000), quick.member.leave(1000)]);
  });

  it('does not delay the others when it leaves during a join', async () => {
    const group = uniqueName('connect-group');
    const patient = { rebalanceTimeoutMs: 30_000 };
    const { member: other } = await member(group, 'other', patient);
    await other.join();
    let longestMs = 0;
    for (const afterMs of [0, 2, 4, 6, 8, 10, 12, 15, 20, 30]) {
      const { member: fickle } = await member(group, 'fickle', patient);
      const joining = fickle.join().catch(() => undefined);
      await delay(afterMs);
      await fickle.leave(2000);
      await joining;
      other.requestRejoin('the test wants to know whether it has to wait');
      const startedAt = Date.now();
      await other.join();
      longestMs = Math.max(longestMs, Date.now() - startedAt);
    }
    assert.ok(longestMs < 8000, `it had to wait ${String(longestMs)} ms`);
    await other.leave(1000);
  });

  it('keeps its session without anyone asking, and knows when it last had contact', async () => {
    const { member: only } = await member(uniqueName('connect-group'), 'a', { sessionTimeoutMs: 6000 });
    await only.join();
    for (let beat = 0; beat < 3; beat++) {
      const { lastContactAt } = only;
      await until(() => only.lastContactAt > lastContactAt, 'a heartbeat was answered', { everyMs: 10 });
    }
    assert.equal(only.state, 'stable');
    await only.leave(1000);
  });
});
