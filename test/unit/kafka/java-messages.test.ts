import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fetchCall } from '../../../src/kafka/consumer/fetch-protocol.ts';
import { offsetCommitCall, offsetFetchByMemberCall } from '../../../src/kafka/consumer/offset-protocol.ts';
import { MalformedResponseError } from '../../../src/kafka/errors/kafka-errors.ts';
import { consumerHeartbeatCall, type MemberHeartbeat } from '../../../src/kafka/group/consumer-heartbeat-protocol.ts';
import { consumerDescribeCall } from '../../../src/kafka/group/consumer-describe-protocol.ts';
import { joinGroupCall } from '../../../src/kafka/group/join-protocol.ts';
import { apiKeys, type ApiRanges, type LibraryCall } from '../../../src/kafka/library/kafkajs-internals.ts';
import type { Call } from '../../../src/kafka/protocol/protocol.ts';

/** Bodies as kafka-clients 4.3.1 writes them, by message and version. */
const java = JSON.parse(readFileSync(new URL('./java-messages.json', import.meta.url), 'utf8')) as Record<
  string,
  string
>;

/** Headers of flexible versions end with an empty list of tagged fields. */
const HEADER_END = '00';

/** A broker that supports every version. */
const ALL: ApiRanges = Object.fromEntries(
  Array.from({ length: 100 }, (_none, key) => [key, { minVersion: 0, maxVersion: 99 }]),
);

function made<A>(call: Call<A>): LibraryCall<A> {
  return typeof call === 'function' ? call(ALL) : call;
}

async function isWrittenAs<A>(name: string, call: Call<A>, isFlexible = true): Promise<void> {
  const { request } = made(call);
  assert.equal(String(request.apiVersion), /\d+/.exec(name)?.[0] ?? String(request.apiVersion));
  const bytes = (await request.encode()).buffer.toString('hex');
  assert.equal(bytes, `${isFlexible ? HEADER_END : ''}${java[name] ?? ''}`);
}

/** Decodes the bytes, and checks that truncated and corrupted bytes cause a MalformedResponseError. */
async function read<A>(name: string, call: Call<A>, isFlexible = true): Promise<A> {
  const { decode } = made(call).response;
  const payload = Buffer.from(`${isFlexible ? HEADER_END : ''}${java[name] ?? ''}`, 'hex');
  for (let length = 0; length < payload.length; length++) {
    await assert.rejects(
      async () => decode(payload.subarray(0, length)),
      (error: unknown) => error instanceof MalformedResponseError,
      `cut at ${String(length)}`,
    );
  }
  for (const at of payload.keys()) {
    for (const byte of [0x00, 0x7f, 0x80, 0xff]) {
      const damaged = Buffer.from(payload);
      damaged[at] = byte;
      try {
        await decode(damaged);
      } catch (error) {
        assert.ok(error instanceof MalformedResponseError, `byte ${String(at)}`);
      }
    }
  }
  return decode(payload);
}

describe('messages of a static member', () => {
  const join = {
    groupId: 'g',
    memberId: '',
    instanceId: 'i-1',
    sessionTimeout: 45_000,
    rebalanceTimeout: 300_000,
    protocolType: 'consumer',
    groupProtocols: [{ name: 'range', metadata: Buffer.from([1, 2]) }],
  };

  it('JoinGroup', async () => {
    const call = joinGroupCall(join, 1000);
    assert.equal(made(call).request.apiVersion, 9);
    await isWrittenAs('join request 9', call);
    assert.deepEqual(await read('join answer 9', call), {
      clientSideThrottleTime: 0,
      errorCode: 0,
      generationId: 7,
      groupProtocol: 'range',
      leaderId: 'm',
      skipsAssignment: true,
      memberId: 'm',
      members: [
        { memberId: 'm', groupInstanceId: 'i-1', memberMetadata: Buffer.from([3]) },
        { memberId: 'n', groupInstanceId: null, memberMetadata: Buffer.from([4, 5]) },
      ],
    });
    assert.equal((await read('join answer 9 refused', call)).errorCode, 82);
  });

  it('JoinGroup in kafkajs’ version for dynamic members and for brokers before Kafka 3.2', () => {
    const old = { [apiKeys['JoinGroup'] ?? -1]: { minVersion: 0, maxVersion: 8 } };
    const call = joinGroupCall(join, 1000);
    assert.equal(typeof call === 'function' ? call(old).request.apiVersion : -1, 5);
    assert.equal(made(joinGroupCall({ ...join, instanceId: undefined }, 1000)).request.apiVersion, 5);
  });

  it('OffsetCommit', async () => {
    const committer = { groupId: 'g', memberId: 'm', generationId: 7, instanceId: 'i-1' };
    const offsets = [{ topic: 't', partition: 2, offset: 11, leaderEpoch: 4, metadata: 'x' }];
    await isWrittenAs('commit request 7', offsetCommitCall(committer, offsets), false);
  });
});

describe('messages of a consumer in a rack', () => {
  const position = { partition: 2, fetchOffset: 11, leaderEpoch: 4 };
  const limits = {
    maxWaitMs: 500,
    minBytes: 1,
    maxBytes: 1000,
    maxPartitionBytes: 500,
    readCommitted: true,
    rackId: 'r1',
  };
  const answered = {
    topic: 't',
    partition: 2,
    errorCode: 0,
    highWatermark: 20,
    lastStableOffset: 19,
    aborted: [],
    preferredReplica: 3,
    records: Buffer.alloc(0),
  };

  it('Fetch by names', async () => {
    const call = fetchCall({ ...limits, topics: new Map([['t', { id: undefined, positions: [position] }]]) });
    await isWrittenAs('fetch request 11', call, false);
    assert.deepEqual((await read('fetch answer 11', call, false)).partitions, [answered]);
  });

  it('Fetch by ids', async () => {
    const [id = ''] = (java['topic ids'] ?? '').split(' ');
    const call = fetchCall({ ...limits, topics: new Map([['t', { id, positions: [position] }]]) });
    await isWrittenAs('fetch request 13', call);
    assert.deepEqual((await read('fetch answer 13', call)).partitions, [answered]);
  });
});

describe('messages of a member with an epoch (KIP-848)', () => {
  const [first = '', second = ''] = (java['topic ids'] ?? '').split(' ');
  const unchanged: MemberHeartbeat = {
    groupId: 'g',
    memberId: 'm',
    memberEpoch: 5,
    instanceId: undefined,
    rackId: undefined,
    rebalanceTimeoutMs: undefined,
    topics: undefined,
    regex: undefined,
    assignor: undefined,
    owned: undefined,
  };
  const joining = { ...unchanged, memberEpoch: 0, rebalanceTimeoutMs: 300_000, owned: new Map() };
  const heartbeat = (over: Partial<MemberHeartbeat>) => consumerHeartbeatCall({ ...unchanged, ...over });

  it('ConsumerGroupHeartbeat', async () => {
    const named = { instanceId: 'i-1', rackId: 'r1', topics: ['t', 'u'], regex: '', assignor: 'uniform' };
    await isWrittenAs('heartbeat request full', heartbeat({ ...joining, ...named }));
    await isWrittenAs('heartbeat request regex', heartbeat({ ...joining, topics: [], regex: 't.*' }));
    await isWrittenAs('heartbeat request small', heartbeat({}));
    const owned = new Map([
      [first, [0, 2]],
      [second, [1]],
    ]);
    await isWrittenAs('heartbeat request held', heartbeat({ owned }));
  });

  it('ConsumerGroupHeartbeat responses', async () => {
    const answer = {
      clientSideThrottleTime: 3,
      errorCode: 0,
      errorMessage: '',
      memberEpoch: 5,
      heartbeatIntervalMs: 5000,
    };
    const call = heartbeat({});
    assert.deepEqual(await read('heartbeat answer', call), { ...answer, assignment: new Map([[first, [0, 2]]]) });
    const same = { ...answer, clientSideThrottleTime: 0, assignment: undefined };
    assert.deepEqual(await read('heartbeat answer unchanged', call), same);
    const refused = { ...same, errorCode: 110, errorMessage: 'fenced', memberEpoch: 0, heartbeatIntervalMs: 0 };
    assert.deepEqual(await read('heartbeat answer refused', call), refused);
  });

  it('ConsumerGroupHeartbeat fails with Java’s message for brokers before Kafka 4.0', () => {
    const call = heartbeat({});
    assert.throws(() => typeof call === 'function' && call({ 68: { minVersion: 0, maxVersion: 0 } }), {
      message: /^The cluster does not support the new CONSUMER group protocol\. Set group\.protocol=classic/,
    });
  });

  it('OffsetCommit', async () => {
    const committer = { groupId: 'g', memberId: 'm', generationId: 7, isEpochMember: true };
    const offsets = [{ topic: 't', partition: 2, offset: 11, leaderEpoch: 4, metadata: 'x' }];
    await isWrittenAs('commit request 9', offsetCommitCall({ ...committer, instanceId: 'i-1' }, offsets));
    const call = offsetCommitCall(committer, offsets);
    await isWrittenAs('commit request 9 dynamic', call);
    const partitions = [{ topic: 't', partition: 2, errorCode: 113 }];
    assert.deepEqual(await read('commit answer 9', call), { clientSideThrottleTime: 3, partitions });
  });

  it('OffsetFetch', async () => {
    const wanted = [2, 3].map((partition) => ({ topic: 't', partition }));
    const call = offsetFetchByMemberCall({ groupId: 'g', memberId: 'm', generationId: 7, isEpochMember: true }, wanted);
    await isWrittenAs('offsets request 9', call);
    const partitions = [{ topic: 't', partition: 2, offset: 11, leaderEpoch: 4, metadata: 'x', errorCode: 0 }];
    assert.deepEqual(await read('offsets answer 9', call), { clientSideThrottleTime: 3, errorCode: 0, partitions });
    assert.equal((await read('offsets answer 9 refused', call)).errorCode, 113);
  });

  it('ConsumerGroupDescribe', async () => {
    const call = consumerDescribeCall('g');
    await isWrittenAs('describe request 0', call);
    const members = [
      { memberId: 'm', clientId: 'c' },
      { memberId: 'n', clientId: 'd' },
    ];
    assert.deepEqual(await read('describe answer 0', call), { clientSideThrottleTime: 3, errorCode: 0, members });
    assert.equal((await read('describe answer 0 refused', call)).errorCode, 69);
  });
});
