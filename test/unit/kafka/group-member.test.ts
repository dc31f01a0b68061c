import assert from 'node:assert/strict';
import type { Cluster } from '../../../src/kafka/connections/cluster.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { BrokerUnreachableError } from '../../../src/kafka/errors/kafka-errors.ts';
import { GroupCoordinatorMetrics } from '../../../src/kafka/group/group-coordinator-metrics.ts';
import { GroupMember } from '../../../src/kafka/group/group-member.ts';
import type { MemberState } from '../../../src/kafka/group/group-protocol.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';
import { until } from '../../support/until.ts';

type Outcome = number | Error;

/** A coordinator that returns the given outcomes in turn, and then success. */
class Coordinator {
  readonly outcomes: Record<string, Outcome[]> = {};
  readonly requested: string[] = [];
  forgotten = 0;
  readonly config = { retryBackoffMs: 1, retryBackoffMaxMs: 2 };

  async callCoordinator(_group: string, { request }: { request: { apiName: string } }): Promise<unknown> {
    await Promise.resolve();
    this.requested.push(request.apiName);
    const outcome = this.outcomes[request.apiName]?.shift() ?? 0;
    if (outcome instanceof Error) throw outcome;
    const answer = { errorCode: outcome };
    if (request.apiName !== 'JoinGroup') return { ...answer, memberAssignment: Buffer.from('mine') };
    return { ...answer, memberId: 'm', leaderId: 'other', generationId: 7, groupProtocol: 'p', members: [] };
  }

  forgetCoordinator(): void {
    this.forgotten += 1;
  }

  dropCoordinatorConnection(): void {
    // There is no connection to drop.
  }
}

describe('a group member of the classic protocol', () => {
  let coordinator: Coordinator;
  let member: GroupMember;
  let states: MemberState[];
  let metrics: GroupCoordinatorMetrics;

  beforeEach(() => {
    coordinator = new Coordinator();
    states = [];
    metrics = new GroupCoordinatorMetrics(DEFAULT_WINDOW);
    const protocol = {
      type: 'connect',
      protocols: () => [{ name: 'p', metadata: Buffer.alloc(0) }],
      assign: () => Promise.resolve(new Map<string, Buffer>()),
    };
    const options = { groupId: 'g', sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 1000, heartbeatIntervalMs: 2 };
    const cluster = coordinator as unknown as Cluster;
    member = new GroupMember(cluster, options, protocol, (state) => states.push(state), silentLogger, metrics);
  });
  afterEach(() => member.leave(1000));

  const away = new BrokerUnreachableError('connect ECONNREFUSED');
  const moved = [ErrorCode.coordinatorLoadInProgress, ErrorCode.coordinatorNotAvailable, ErrorCode.notCoordinator];

  for (const request of ['JoinGroup', 'SyncGroup'] as const) {
    it(`joins eventually if ${request} finds the coordinator moved, loading or unavailable`, async () => {
      coordinator.outcomes[request] = [...moved, away];
      const { generationId, assignment } = await member.join();
      assert.deepEqual([generationId, assignment.toString()], [7, 'mine']);
      assert.ok(coordinator.forgotten > 0, 'it is looked up again');
    });
  }

  it('counts each failed attempt to join, as Java does', async () => {
    coordinator.outcomes['JoinGroup'] = [...moved, away];
    coordinator.outcomes['SyncGroup'] = [ErrorCode.rebalanceInProgress];
    await member.join();
    assert.equal(metrics.values()['failed-rebalance-total'], 5);
    coordinator.outcomes['JoinGroup'] = [ErrorCode.groupAuthorizationFailed];
    await assert.rejects(member.join());
    assert.equal(metrics.values()['failed-rebalance-total'], 6);
  });

  it('uses the assigned member id, and a new one if the coordinator no longer knows it', async () => {
    coordinator.outcomes['JoinGroup'] = [ErrorCode.memberIdRequired, ErrorCode.unknownMemberId, 0];
    coordinator.outcomes['SyncGroup'] = [ErrorCode.unknownMemberId, 0];
    assert.equal((await member.join()).memberId, 'm');
    assert.deepEqual(
      coordinator.requested.filter((name) => name !== 'Heartbeat'),
      ['JoinGroup', 'JoinGroup', 'JoinGroup', 'SyncGroup', 'JoinGroup', 'SyncGroup'],
    );
  });

  it('restarts the rebalance if another member has already started the next one', async () => {
    coordinator.outcomes['JoinGroup'] = [ErrorCode.rebalanceInProgress];
    coordinator.outcomes['SyncGroup'] = [ErrorCode.rebalanceInProgress, ErrorCode.illegalGeneration];
    assert.equal((await member.join()).generationId, 7);
  });

  const hopeless = [
    'inconsistentGroupProtocol',
    'invalidSessionTimeout',
    'groupAuthorizationFailed',
    'groupMaxSizeReached',
  ];
  for (const name of hopeless as (keyof typeof ErrorCode)[]) {
    it(`fails to join with ${name}, and may try again`, async () => {
      coordinator.outcomes['JoinGroup'] = [ErrorCode[name]];
      await assert.rejects(member.join(), /^KafkaError: Joining group g: /);
      assert.equal(member.state, 'failed');
      assert.equal((await member.join()).generationId, 7);
    });
  }

  it('keeps its generation while the coordinator has moved, is loading or is unavailable', async () => {
    coordinator.outcomes['Heartbeat'] = [...moved, away];
    await member.join();
    await until(() => coordinator.requested.filter((name) => name === 'Heartbeat').length > 6, 'heartbeats continue', {
      everyMs: 2,
    });
    assert.deepEqual([member.state, member.generation?.generationId, member.unanswered], ['stable', 7, false]);
  });

  const verdicts = [
    ['rebalanceInProgress', 'rebalancing', 7],
    ['unknownMemberId', 'lost', undefined],
    ['illegalGeneration', 'lost', undefined],
    ['groupAuthorizationFailed', 'failed', undefined],
    ['fencedInstanceId', 'failed', undefined],
  ] as const;
  for (const [name, state, generationId] of verdicts) {
    it(`is ${state} after a heartbeat response with ${name}, and rejoins`, async () => {
      coordinator.outcomes['Heartbeat'] = [ErrorCode[name]];
      await member.join();
      await until(() => member.state !== 'stable', 'it is notified', { everyMs: 2 });
      assert.deepEqual([member.state, member.generation?.generationId], [state, generationId]);
      assert.equal((await member.join()).generationId, 7);
      assert.deepEqual(states, ['joining', 'stable', state, 'joining', 'stable']);
    });
  }
});
