import assert from 'node:assert/strict';
import { ResponseReader } from '../../../src/kafka/protocol/response-reader.ts';
import type { Cluster } from '../../../src/kafka/connections/cluster.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { BrokerUnreachableError } from '../../../src/kafka/errors/kafka-errors.ts';
import type { HeartbeatResponse, PartitionsById } from '../../../src/kafka/group/consumer-heartbeat-protocol.ts';
import { HeartbeatMember, type HeartbeatState } from '../../../src/kafka/group/heartbeat-member.ts';
import type { LibraryCall } from '../../../src/kafka/library/kafkajs-internals.ts';
import type { Call } from '../../../src/kafka/protocol/protocol.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { until } from '../../support/until.ts';

const TOPIC = Buffer.alloc(16, 7).toString('base64url');
const GIVEN: PartitionsById = new Map([[TOPIC, [0, 1]]]);

/** A decoded heartbeat; absent fields have not changed. */
interface Said {
  readonly epoch: number;
  readonly topics: readonly string[] | undefined;
  readonly ownedPartitions: readonly number[] | undefined;
}

function said(bytes: Buffer): Said {
  const reader = new ResponseReader(bytes);
  reader.tags();
  reader.compactString();
  reader.compactString();
  const epoch = reader.int32();
  reader.compactString();
  reader.compactString();
  const isWhole = reader.int32() >= 0;
  const topics = reader.compactList(() => reader.compactString());
  reader.compactString();
  reader.compactString();
  const rest = bytes.subarray(bytes.length - 2).toString('hex');
  const ownedPartitions = reader
    .compactList(() => {
      reader.uuid();
      const partitions = reader.compactList(() => reader.int32());
      reader.tags();
      return partitions;
    })
    .flat();
  // A null list is 00, an empty one 01; the last byte ends the message.
  const hasHeld = ownedPartitions.length > 0 || rest === '0100';
  return {
    epoch,
    topics: isWhole || topics.length > 0 ? topics : undefined,
    ownedPartitions: hasHeld ? ownedPartitions : undefined,
  };
}

/** A coordinator that returns the given responses in turn, and then the current epoch. */
class Coordinator {
  readonly config = { retryBackoffMs: 1, retryBackoffMaxMs: 2 };
  readonly answers: (Partial<HeartbeatResponse> | Error)[] = [];
  readonly said: Said[] = [];
  forgotten = 0;

  async callCoordinator(_group: string, call: Call<HeartbeatResponse>): Promise<HeartbeatResponse> {
    const made: LibraryCall<HeartbeatResponse> =
      typeof call === 'function' ? call({ 68: { minVersion: 0, maxVersion: 1 } }) : call;
    const heard = said((await made.request.encode()).buffer);
    this.said.push(heard);
    const answer = this.answers.shift() ?? {};
    if (answer instanceof Error) throw answer;
    const epoch = { memberEpoch: Math.max(1, heard.epoch), assignment: heard.epoch === 0 ? GIVEN : undefined };
    const common = { clientSideThrottleTime: 0, errorCode: 0, errorMessage: '', heartbeatIntervalMs: 2 };
    return { ...common, ...epoch, ...answer };
  }

  forgetCoordinator(): void {
    this.forgotten += 1;
  }
}

describe('a member of a KIP-848 group', () => {
  let coordinator: Coordinator;
  let member: HeartbeatMember;
  let states: HeartbeatState[];

  function begin(instanceId?: string): void {
    coordinator = new Coordinator();
    states = [];
    const options = { groupId: 'g', instanceId, rackId: undefined, rebalanceTimeoutMs: 1000, assignor: undefined };
    const note = (): void => {
      if (states.at(-1) !== member.state) states.push(member.state);
    };
    member = new HeartbeatMember(coordinator as unknown as Cluster, options, note, silentLogger);
  }
  beforeEach(() => {
    begin();
  });
  afterEach(() => member.leave(1000));

  const join = (): void => {
    member.join({ topics: ['t'], regex: '' });
  };
  const heard = (count: number): Promise<unknown> =>
    until(() => coordinator.said.length >= count, `${String(count)} heartbeats`, { everyMs: 2 });

  it('joins with all fields and later sends only changed ones', async () => {
    join();
    await heard(3);
    assert.deepEqual(coordinator.said.slice(0, 3), [
      { epoch: 0, topics: ['t'], ownedPartitions: [] },
      { epoch: 1, topics: undefined, ownedPartitions: undefined },
      { epoch: 1, topics: undefined, ownedPartitions: undefined },
    ]);
    assert.deepEqual([member.state, member.epoch, member.target], ['stable', 1, GIVEN]);
    member.reportOwned(GIVEN, GIVEN);
    await until(
      () => coordinator.said.some(({ ownedPartitions }) => ownedPartitions?.length === 2),
      'it says what it holds',
      { everyMs: 2 },
    );
    assert.equal(coordinator.said.filter(({ ownedPartitions }) => ownedPartitions?.length === 2).length, 1);
  });

  it('reports the owned partitions after each target, even if they have not changed', async () => {
    join();
    await heard(2);
    const some: PartitionsById = new Map([[TOPIC, [0]]]);
    member.reportOwned(some, member.target);
    const leaving = (): number =>
      coordinator.said.filter(({ ownedPartitions }) => ownedPartitions?.join() === '0').length;
    await until(() => leaving() === 1, 'it has said so once', { everyMs: 2 });
    member.reportOwned(some, member.target);
    await heard(coordinator.said.length + 3);
    assert.equal(leaving(), 1);
    // Another partition was assigned and revoked before it was owned: the coordinator waits for an acknowledgement.
    coordinator.answers.push({ assignment: GIVEN }, { assignment: some });
    await until(() => member.target === some, 'both targets have come', { everyMs: 2 });
    member.reportOwned(some, some);
    await until(() => leaving() === 2, 'it has said so again', { everyMs: 2 });
    await heard(coordinator.said.length + 3);
    assert.equal(leaving(), 2);
  });

  it('does not report partitions as released before they are', async () => {
    join();
    await heard(2);
    member.reportOwned(GIVEN, GIVEN);
    await heard(4);
    coordinator.answers.push({ memberEpoch: 2, assignment: new Map([[TOPIC, [0]]]) });
    await until(() => member.target?.get(TOPIC)?.length === 1, 'the broker wants one back', { everyMs: 2 });
    const count = coordinator.said.length;
    await heard(count + 3);
    assert.ok(coordinator.said.slice(count).every(({ ownedPartitions }) => ownedPartitions === undefined));
    member.reportOwned(new Map([[TOPIC, [0]]]), member.target);
    await until(() => coordinator.said.some(({ ownedPartitions }) => ownedPartitions?.join() === '0'), 'it says so', {
      everyMs: 2,
    });
  });

  for (const code of [ErrorCode.fencedMemberEpoch, ErrorCode.unknownMemberId]) {
    it(`stops if it is fenced (${String(code)}), and joins again with epoch 0`, async () => {
      join();
      await heard(2);
      coordinator.answers.push({ errorCode: code });
      await until(() => member.state === 'fenced', 'it is fenced', { everyMs: 2 });
      assert.equal(member.epoch, undefined);
      const count = coordinator.said.length;
      join();
      await until(() => member.state === 'stable', 'it is a member again', { everyMs: 2 });
      assert.deepEqual(coordinator.said[count], { epoch: 0, topics: ['t'], ownedPartitions: [] });
      assert.deepEqual(states, ['joining', 'stable', 'fenced', 'joining', 'stable']);
    });
  }

  it('resends all fields to a coordinator that has moved, is loading or did not respond, and keeps its epoch', async () => {
    join();
    await heard(2);
    const moved = [ErrorCode.notCoordinator, ErrorCode.coordinatorNotAvailable, ErrorCode.coordinatorLoadInProgress];
    for (const failure of [...moved.map((errorCode) => ({ errorCode })), new BrokerUnreachableError('refused')]) {
      const whole = coordinator.said.filter(({ topics }) => topics !== undefined).length;
      coordinator.answers.push(failure);
      await until(() => coordinator.said.filter(({ topics }) => topics !== undefined).length > whole, 'all again', {
        everyMs: 2,
      });
    }
    assert.deepEqual([member.state, member.epoch, coordinator.forgotten], ['stable', 1, 2]);
  });

  for (const name of ['unsupportedAssignor', 'groupAuthorizationFailed', 'unreleasedInstanceId'] as const) {
    it(`fails with the broker’s message (${name})`, async () => {
      coordinator.answers.push({ errorCode: ErrorCode[name], errorMessage: 'because' });
      join();
      await until(() => member.state === 'failed', 'it has failed', { everyMs: 2 });
      assert.match(member.takeFailure()?.message ?? '', /^Heartbeat of group g: because \(/);
      assert.equal(member.takeFailure(), undefined);
    });
  }

  it('leaves permanently, and temporarily as a static member', async () => {
    for (const [instanceId, epoch] of [
      [undefined, -1],
      ['i', -2],
    ] as const) {
      begin(instanceId);
      join();
      await heard(1);
      await until(() => member.state === 'stable', 'it has joined', { everyMs: 2 });
      await member.leave(1000);
      assert.equal(coordinator.said.at(-1)?.epoch, epoch);
      assert.equal(member.state, 'left');
    }
  });
});
