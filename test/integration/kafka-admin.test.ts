import assert from 'node:assert/strict';
import type { Admin, KafkaClient } from '../../src/kafka/api.ts';
import { ErrorCode } from '../../src/kafka/errors/error-codes.ts';
import { CommitRefusedError, KafkaError } from '../../src/kafka/errors/kafka-errors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, partitionsOf, pollUntil, produceNumbers, rebalanceLog, sharedClient } from './kafka-fixture.ts';

describe('an admin client', () => {
  let client: KafkaClient;
  let admin: Admin;

  before(async () => {
    client = await sharedClient();
    admin = client.admin();
  });
  after(() => admin.close());

  it('creates a topic once, with its settings, and deletes it', async () => {
    const name = uniqueName('kafka-admin');
    const topic = { name, partitions: 3, replicationFactor: 1, settings: { 'retention.ms': '60000' } };
    assert.equal(await admin.createTopic(topic), true);
    assert.equal(await admin.createTopic(topic), false);
    assert.ok((await admin.topics()).includes(name));
    assert.deepEqual([...(await admin.describeTopics([name, `${name}-missing`]))], [[name, 3]]);
    const settings = await admin.topicSettings(name);
    assert.equal(settings.get('retention.ms'), '60000');
    assert.equal(settings.get('cleanup.policy'), 'delete');
    await admin.deleteTopics([name, `${name}-missing`]);
    await until(async () => (await admin.describeTopics([name])).size === 0, 'brokers have heard of the deletion');
  });

  it('gives a topic the broker’s defaults for -1', async () => {
    const name = uniqueName('kafka-admin');
    await admin.createTopic({ name, partitions: -1, replicationFactor: -1, settings: {} });
    assert.equal((await admin.describeTopics([name])).get(name), 1);
    await admin.deleteTopics([name]);
  });

  it('reports the broker’s reason when a topic cannot be created', async () => {
    const name = uniqueName('kafka-admin');
    await assert.rejects(
      admin.createTopic({ name, partitions: 1, replicationFactor: 7, settings: {} }),
      (error: unknown) => {
        assert.ok(error instanceof KafkaError);
        assert.equal(error.code, ErrorCode.invalidReplicationFactor);
        assert.match(error.message, /replication factor of 7/);
        return true;
      },
    );
    const wrong = { name, partitions: 1, replicationFactor: 1, settings: { 'retention.ms': 'soon' } };
    await assert.rejects(admin.createTopic(wrong), /soon/);
  });

  it('says at once that a topic is missing', async () => {
    const name = uniqueName('kafka-admin');
    const startedAt = Date.now();
    await assert.rejects(admin.endOffsets(name), /UNKNOWN_TOPIC_OR_PARTITION/);
    await assert.rejects(admin.topicSettings(name), KafkaError);
    assert.ok(Date.now() - startedAt < 10_000);
  });

  it('knows end offsets, a group’s offsets, and deletes a group without members', async () => {
    const topic = await newTopic(client, 2);
    await produceNumbers(client, topic, { count: 7, partitions: 2 });
    const ends = [...(await admin.endOffsets(topic))].sort((a, b) => a.partition - b.partition);
    assert.deepEqual(ends, [
      { topic, partition: 0, offset: 4 },
      { topic, partition: 1, offset: 3 },
    ]);
    const consumer = client.consumer({ 'group.id': topic, 'auto.offset.reset': 'earliest' });
    consumer.subscribe([topic], rebalanceLog());
    await pollUntil(consumer, (got) => got.length >= 7);
    await consumer.commit(ends);
    const committed = [...(await admin.groupOffsets(topic))].sort((a, b) => a.partition - b.partition);
    assert.deepEqual(committed, ends);
    await assert.rejects(admin.deleteGroup(topic), /NON_EMPTY_GROUP/);
    await consumer.close(5000);
    await admin.deleteGroup(topic);
    assert.deepEqual(await admin.groupOffsets(topic), []);
    await admin.deleteGroup(topic);
    assert.deepEqual(partitionsOf(topic, 2).length, 2);
  });

  it('sets and deletes committed offsets of a group without members, and of no other', async () => {
    const topic = await newTopic(client, 2);
    await produceNumbers(client, topic, { count: 4, partitions: 2 });
    const both = [
      { topic, partition: 0, offset: 1 },
      { topic, partition: 1, offset: 99 },
    ];
    await admin.alterGroupOffsets(topic, both);
    const sorted = async () => [...(await admin.groupOffsets(topic))].sort((a, b) => a.partition - b.partition);
    assert.deepEqual(await sorted(), both);
    await admin.deleteGroupOffsets(topic, [{ topic, partition: 0 }]);
    assert.deepEqual(await sorted(), both.slice(1));
    await admin.deleteGroupOffsets(uniqueName('no-such-group'), [{ topic, partition: 0 }]);
    await assert.rejects(
      admin.alterGroupOffsets(topic, [{ topic: uniqueName('no-such-topic'), partition: 0, offset: 0 }]),
      /UNKNOWN_TOPIC_OR_PARTITION/,
    );
    const consumer = client.consumer({ 'group.id': topic, 'auto.offset.reset': 'earliest' });
    consumer.subscribe([topic], rebalanceLog());
    await pollUntil(consumer, ({ length }) => length > 0);
    await assert.rejects(admin.alterGroupOffsets(topic, both), CommitRefusedError);
    await assert.rejects(admin.deleteGroupOffsets(topic, both), /GROUP_SUBSCRIBED_TO_TOPIC/);
    await consumer.close(5000);
  });

  it('knows the cluster’s id', async () => {
    assert.match(await admin.clusterId(), /^[\w-]{22}$/);
  });
});
