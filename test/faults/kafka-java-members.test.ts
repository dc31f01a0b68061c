import assert from 'node:assert/strict';
import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';
import { JavaMembers } from '../support/java-members.ts';
import { broker } from '../support/services.ts';
import { until } from '../support/until.ts';
import { GroupReader } from '../integration/group-reader.ts';
import { newTopic, produceNumbers, sharedClient, values } from '../integration/kafka-fixture.ts';

const CLASSES = 'org.apache.kafka.clients.consumer.';
const PARTITIONS = 6;

/** Client properties of both sides. */
const PROTOCOLS: Readonly<Record<string, ClientProperties>> = {
  defaults: {},
  range: { 'partition.assignment.strategy': `${CLASSES}RangeAssignor` },
  roundrobin: { 'partition.assignment.strategy': `${CLASSES}RoundRobinAssignor` },
  sticky: { 'partition.assignment.strategy': `${CLASSES}StickyAssignor` },
  'cooperative-sticky': { 'partition.assignment.strategy': `${CLASSES}CooperativeStickyAssignor` },
  consumer: { 'group.protocol': 'consumer' },
};

describe('groups with members of Java', function () {
  let client: KafkaClient;
  let java: JavaMembers;
  const topics = new Map<string, string>();
  const readers = new Map<string, GroupReader>();

  before(async function () {
    client = await sharedClient();
    for (const [protocol, properties] of Object.entries(PROTOCOLS)) {
      const topic = await newTopic(client, PARTITIONS);
      topics.set(protocol, topic);
      await produceNumbers(client, topic, { count: 120, partitions: PARTITIONS });
      readers.set(protocol, new GroupReader(client, topic, topic, properties));
    }
    const ofJava = Object.entries(PROTOCOLS).map(([protocol, properties]): [string, ClientProperties] => {
      const isClassic = properties['group.protocol'] === undefined;
      return [topics.get(protocol) ?? '', { ...properties, ...(isClassic ? { 'heartbeat.interval.ms': '100' } : {}) }];
    });
    const started = await JavaMembers.start((await broker()).bootstrapServers, Object.fromEntries(ofJava));
    if (typeof started === 'string') this.skip();
    java = started;
  });

  after(async () => {
    await Promise.all([...readers.values()].map((reader) => reader.close()));
    await java?.end();
  });

  for (const protocol of Object.keys(PROTOCOLS)) {
    it(`share partitions, and read each record once (${protocol}), no matter which one leads`, async () => {
      const topic = topics.get(protocol) ?? '';
      const reader = readers.get(protocol);
      assert.ok(reader !== undefined);
      const all = (): number[] => [...values(reader.records), ...java.values(topic)].map(Number).sort((a, b) => a - b);
      const read = (count: number): Promise<unknown> =>
        until(() => all().length >= count, `${String(count)} records were read`);
      const shared = (): boolean => reader.owned().length === 3 && java.partitions(topic) === 3;
      // The first to join leads: this side, until it leaves.
      await until(shared, 'both have three partitions', { timeoutMs: 60_000 });
      await produceNumbers(client, topic, { from: 120, count: 120, partitions: PARTITIONS });
      await read(240);
      await reader.close();
      await until(() => java.partitions(topic) === PARTITIONS, 'Java has all');
      const again = new GroupReader(client, topic, topic, PROTOCOLS[protocol]);
      readers.set(protocol, again);
      await until(() => again.owned().length === 3 && java.partitions(topic) === 3, 'both have three again');
      await produceNumbers(client, topic, { from: 240, count: 120, partitions: PARTITIONS });
      await until(() => all().length + again.records.length >= 360, '360 records were read');
      const numbers = [...all(), ...values(again.records).map(Number)].sort((a, b) => a - b);
      assert.deepEqual(
        numbers,
        Array.from({ length: 360 }, (_none, index) => index),
      );
      assert.deepEqual(java.errors, []);
    });
  }
});
