import assert from 'node:assert/strict';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { ClientProperties, Consumer, KafkaClient } from '../../src/kafka/api.ts';
import { broker, uniqueName } from '../support/services.ts';
import {
  newTopic,
  pollUntil,
  produceNumbers,
  rebalanceLog,
  recordingLogger,
  sharedClient,
  values,
  type LogLine,
} from './kafka-fixture.ts';

const OLD = 607;
const NEW = 1249;

describe('a topic that is deleted and created again (L1)', () => {
  let client: KafkaClient;
  const open: Consumer[] = [];

  before(async () => {
    client = await sharedClient();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((consumer) => consumer.close(5000)));
  });

  async function member(
    topic: string,
    groupId: string,
    properties: ClientProperties = {},
  ): Promise<{ consumer: Consumer; lines: LogLine[] }> {
    const { lines, logger } = recordingLogger();
    const { bootstrapServers } = await broker();
    const settings = { 'bootstrap.servers': bootstrapServers, 'group.id': groupId, 'auto.offset.reset': 'earliest' };
    const consumer = createKafkaClient({ ...settings, ...properties }, logger).consumer();
    consumer.subscribe([topic], rebalanceLog());
    open.push(consumer);
    return { consumer, lines };
  }

  /** Under its name, and filled before anybody has seen that it is another. */
  async function createAgain(topic: string, count = NEW): Promise<void> {
    const admin = client.admin();
    await admin.deleteTopics([topic]);
    for (;;) {
      if (await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings: {} })) break;
    }
    await admin.close();
    await produceNumbers(client, topic, { count });
  }

  const warnings = (lines: readonly LogLine[]): string[] =>
    lines.filter(({ level, msg }) => level >= 40 && msg.includes('recreated')).map(({ msg }) => msg);
  const all = (count: number): string[] => Array.from({ length: count }, (_none, n) => String(n));

  for (const reset of ['earliest', 'latest']) {
    it(`is read from its beginning by a consumer that runs, with auto.offset.reset=${reset}`, async () => {
      const topic = await newTopic(client);
      const { consumer, lines } = await member(topic, uniqueName('group'), { 'auto.offset.reset': reset });
      await pollUntil(consumer, () => consumer.assignment().length > 0);
      await produceNumbers(client, topic, { count: OLD });
      await pollUntil(consumer, (records) => records.length >= OLD);
      await consumer.commit([{ topic, partition: 0, offset: OLD }]);
      await createAgain(topic);
      const again = await pollUntil(consumer, (records) => records.length >= NEW);
      assert.deepEqual(values(again), all(NEW));
      await consumer.commit([{ topic, partition: 0, offset: NEW }]);
      assert.ok(warnings(lines).length <= 1, String(warnings(lines)));
    });
  }

  it('is read from its beginning where the group kept an offset of the topic before, with one warning', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: OLD });
    const groupId = uniqueName('group');
    const first = await member(topic, groupId);
    await pollUntil(first.consumer, (records) => records.length >= OLD);
    const kept = first.consumer.identified({ topic, partition: 0, offset: OLD });
    assert.match(kept.topicId ?? '', /^[\w-]{22}$/);
    await first.consumer.close(5000);
    await createAgain(topic);
    // A broker has this state if it was not notified of the deletion in time.
    const { bootstrapServers } = await broker();
    const setter = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, recordingLogger().logger).admin();
    await setter.alterGroupOffsets(groupId, [kept]);
    await setter.close();
    const { consumer, lines } = await member(topic, groupId, { 'auto.offset.reset': 'latest' });
    assert.deepEqual(values(await pollUntil(consumer, (records) => records.length >= NEW)), all(NEW));
    assert.deepEqual(warnings(lines), [
      `Topic ${topic} has been deleted and recreated since it was read; reading the new topic from its beginning`,
    ]);
  });

  it('is not read where auto.offset.reset=none', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 2 });
    const groupId = uniqueName('group');
    const setter = client.admin();
    await setter.alterGroupOffsets(groupId, [{ topic, partition: 0, offset: 1, topicId: 'A'.repeat(21) + 'B' }]);
    await setter.close();
    const { consumer } = await member(topic, groupId, { 'auto.offset.reset': 'none' });
    await assert.rejects(
      pollUntil(consumer, () => false),
      { message: `Topic ${topic} has been recreated, and auto.offset.reset is none` },
    );
  });

  it('is read from its beginning by a consumer without a group', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: OLD });
    const { lines, logger } = recordingLogger();
    const { bootstrapServers } = await broker();
    const properties = { 'bootstrap.servers': bootstrapServers, 'auto.offset.reset': 'earliest' };
    const consumer = createKafkaClient(properties, logger).consumer();
    open.push(consumer);
    consumer.assign([{ topic, partition: 0 }]);
    await pollUntil(consumer, (records) => records.length >= OLD);
    await createAgain(topic);
    assert.deepEqual(values(await pollUntil(consumer, (records) => records.length >= NEW)), all(NEW));
    assert.equal(warnings(lines).length, 1);
  });
});
