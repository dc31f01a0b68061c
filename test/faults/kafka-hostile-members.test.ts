import assert from 'node:assert/strict';
import type { TopicPartition } from '../../src/data/record.ts';
import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';
import { encodeAssignment, encodeSubscription } from '../../src/kafka/consumer/consumer-protocol.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { HostileMember } from '../support/hostile-member.ts';
import { broker } from '../support/services.ts';
import { until } from '../support/until.ts';
import { GroupReader } from '../integration/group-reader.ts';
import {
  newTopic,
  produceNumbers,
  recordingLogger,
  sharedClient,
  values,
  type LogLine,
} from '../integration/kafka-fixture.ts';

const CLASSES = 'org.apache.kafka.clients.consumer.';
const STRATEGIES: Readonly<Record<string, string>> = {
  range: `${CLASSES}RangeAssignor`,
  roundrobin: `${CLASSES}RoundRobinAssignor`,
  sticky: `${CLASSES}StickyAssignor`,
  'cooperative-sticky': `${CLASSES}CooperativeStickyAssignor`,
};
const PARTITIONS = 4;
const RECORDS = 40;

describe('a consumer in a group with a hostile member', () => {
  let client: KafkaClient;
  let topic: string;
  let secret: string;
  let bootstrap: string;
  let reader: GroupReader | undefined;
  let hostile: HostileMember | undefined;

  before(async () => {
    client = await sharedClient();
    bootstrap = (await broker()).bootstrapServers;
  });
  beforeEach(async () => {
    topic = await newTopic(client, PARTITIONS);
    secret = await newTopic(client, 1);
    await produceNumbers(client, topic, { count: RECORDS, partitions: PARTITIONS });
    await produceNumbers(client, secret, { from: 1_000_000, count: 5 });
  });
  afterEach(async () => {
    // A commit at the end is refused where the group is being divided.
    await reader?.close().catch(() => undefined);
    await hostile?.end();
    reader = undefined;
    hostile = undefined;
  });

  function read(assignor: string, properties: ClientProperties = {}): readonly LogLine[] {
    const { logger, lines } = recordingLogger();
    const strategy = { 'partition.assignment.strategy': STRATEGIES[assignor] ?? '' };
    const reading = createKafkaClient({ 'bootstrap.servers': bootstrap, ...strategy, ...properties }, logger);
    reader = new GroupReader(reading, topic, topic, { ...strategy, ...properties });
    return lines;
  }

  function intruder(
    assignor: string,
    metadata: () => Buffer,
    assignment?: (memberId: string) => Buffer,
    protocols = [assignor],
  ): HostileMember {
    hostile = new HostileMember({
      ...{ bootstrap, groupId: topic, type: 'consumer', clientId: 'hostile', protocols, metadata },
      assign: ({ members }) =>
        Promise.resolve(new Map(members.map(({ memberId }) => [memberId, assignment?.(memberId) ?? Buffer.alloc(0)]))),
    });
    return hostile;
  }

  const subscription = (topics: readonly string[], owned: readonly TopicPartition[] = [], generationId = 1): Buffer =>
    encodeSubscription({ topics, userData: undefined, owned, generationId, rackId: undefined });
  const numbers = (): number[] => [...new Set(values(reader?.records ?? []).map(Number))].sort((a, b) => a - b);
  const refusals = (lines: readonly LogLine[]): number => lines.filter(({ msg }) => msg.endsWith('rejoining')).length;
  const readAll = () => until(() => numbers().length >= RECORDS, 'all records were read');

  /** Assignments that a hostile leader sends to this member. */
  const assignments: readonly (readonly [what: string, bytes: () => Buffer, isRefused: boolean])[] = [
    ['a topic that was not subscribed to', () => encodeAssignment([{ topic: secret, partition: 0 }]), true],
    [
      'such a topic beside its own',
      () =>
        encodeAssignment([
          { topic, partition: 0 },
          { topic: secret, partition: 0 },
        ]),
      true,
    ],
    ['a topic that does not exist', () => encodeAssignment([{ topic: `${secret}-none`, partition: 0 }]), true],
    ['the topic of offsets', () => encodeAssignment([{ topic: '__consumer_offsets', partition: 0 }]), true],
    [
      'partitions that do not exist',
      () => encodeAssignment([-1, 0, 4, 2 ** 31 - 1].map((partition) => ({ topic, partition }))),
      false,
    ],
    [
      '20,000 partitions',
      () => encodeAssignment(Array.from({ length: 20_000 }, (_, partition) => ({ topic, partition }))),
      false,
    ],
    ['garbage', () => Buffer.from('0000000000017fffffff', 'hex'), true],
    ['a list longer than its bytes', () => Buffer.from('00007fffffff', 'hex'), true],
  ];

  for (const assignor of ['range', 'cooperative-sticky']) {
    for (const [what, bytes, isRefused] of assignments) {
      it(`reads nothing but its topic when that member leads and assigns ${what}, and everything when it is gone (${assignor})`, async () => {
        const leader = intruder(assignor, () => subscription([topic]), bytes);
        await leader.join();
        assert.ok(leader.isLeading);
        let isOver = false;
        const staying = leader.stay(() => isOver);
        const lines = read(assignor);
        await until(() => lines.some(({ msg }) => msg === 'Joined the group'), 'it has joined');
        await until(() => leader.state === 'stable', 'the leader has assigned');
        if (isRefused) await until(() => refusals(lines) === 1, 'it has refused the assignment');
        isOver = true;
        await staying;
        await leader.leave();
        await readAll();
        assert.deepEqual(
          numbers(),
          Array.from({ length: RECORDS }, (_, index) => index),
        );
        assert.equal(refusals(lines), isRefused ? 1 : 0, 'one line per interval');
      });
    }
  }

  /** Metadata that a hostile member sends to this one, which is the leader. */
  const lies: readonly (readonly [what: string, said: () => Buffer])[] = [
    ['nothing', () => Buffer.alloc(0)],
    ['5,000 topics', () => subscription(Array.from({ length: 5_000 }, (_, index) => `${secret}-${String(index)}`))],
    ['topics whose names are not allowed', () => subscription(['a b', '..', 'x'.repeat(300), ''])],
    [
      'that it owns everything, since a late generation',
      () =>
        subscription(
          [topic],
          Array.from({ length: PARTITIONS }, (_, partition) => ({ topic, partition })),
          2 ** 31 - 1,
        ),
    ],
    [
      'that it owns 20,000 partitions',
      () =>
        subscription(
          [topic],
          Array.from({ length: 20_000 }, (_, partition) => ({ topic, partition })),
        ),
    ],
  ];

  for (const assignor of Object.keys(STRATEGIES)) {
    for (const [what, said] of lies) {
      it(`remains the leader when that member sends ${what}, and reads everything when it is gone (${assignor})`, async () => {
        const lines = read(assignor, { 'allow.auto.create.topics': 'false' });
        await until(() => reader?.owned().length === PARTITIONS, 'it has all partitions');
        const member = intruder(assignor, said);
        await member.join();
        await member.leave();
        await produceNumbers(client, topic, { from: RECORDS, count: RECORDS, partitions: PARTITIONS });
        await until(() => numbers().length >= 2 * RECORDS, 'all records were read');
        assert.equal(numbers().length, 2 * RECORDS);
        assert.ok(
          lines.filter(
            ({ msg }) => msg === 'Cannot read the subscription of a group member; assigning no partitions to it',
          ).length <= 1,
        );
      });
    }
  }
});
