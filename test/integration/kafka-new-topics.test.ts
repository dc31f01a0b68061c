import assert from 'node:assert/strict';
import type { CompactedTopicOptions, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { broker, uniqueName } from '../support/services.ts';
import { pollUntil, rebalanceLog, record, sharedClient, values } from './kafka-fixture.ts';

const KEY = { produce: 0, listOffsets: 2, metadata: 3, addPartitions: 24, describeConfigs: 32 } as const;

/** L8: brokers learn of a topic one after the other, so each of them may answer that it does not exist. */
describe('a topic that a broker does not know yet', function () {
  let proxy: KafkaProxy;
  let client: KafkaClient;
  let direct: KafkaClient;

  before(async () => {
    proxy = await KafkaProxy.start((await broker()).bootstrapServers);
    client = createKafkaClient({ 'bootstrap.servers': proxy.bootstrapServers }, silentLogger);
    direct = await sharedClient();
  });
  after(() => proxy.close());

  function compacted(topic: string): CompactedTopicOptions {
    return {
      topic,
      property: 'status.storage.topic',
      purpose: 'connector and task statuses',
      partitions: 2,
      replicationFactor: 1,
      settings: {},
      onRecord: () => undefined,
    };
  }

  it('L8: is taken as created by the worker that lost the race to create it', async () => {
    const name = uniqueName('new-topic');
    const winner = direct.compactedTopic(compacted(name));
    await winner.start();
    proxy.hideTopic(name, { [KEY.metadata]: 1, [KEY.describeConfigs]: 3, [KEY.listOffsets]: 2, [KEY.produce]: 2 });
    const loser = client.compactedTopic(compacted(name));
    await loser.start();
    await loser.send('k', Buffer.from('1'));
    await loser.readToEnd();
    assert.equal(proxy.hidings, 0);
    await Promise.all([winner.stop(), loser.stop()]);
  });

  it('L8: is awaited by clients that have created or seen it', async () => {
    const admin = client.admin();
    const name = uniqueName('new-topic');
    proxy.hideTopic(name, { [KEY.metadata]: 3, [KEY.describeConfigs]: 2, [KEY.listOffsets]: 2 });
    assert.equal(await admin.createTopic({ name, partitions: 2, replicationFactor: 1, settings: {} }), true);
    assert.equal((await admin.topicSettings(name)).get('cleanup.policy'), 'delete');
    assert.equal((await admin.endOffsets(name)).length, 2);
    assert.equal(proxy.hidings, 0);
    await admin.close();
  });

  it('L8: accepts records of producers of both kinds, which a group reads', async () => {
    const [name, once] = [uniqueName('new-topic'), uniqueName('new-topic')];
    const admin = client.admin();
    await admin.createTopic({ name, partitions: 1, replicationFactor: 1, settings: {} });
    await admin.createTopic({ name: once, partitions: 1, replicationFactor: 1, settings: {} });
    await admin.close();

    const unsure = { [KEY.metadata]: 2, [KEY.produce]: 2 };
    proxy.hideTopic(name, unsure);
    const producer = client.producer();
    await producer.send([record(name, 'a'), record(name, 'b')]);
    await producer.close();
    assert.equal(proxy.hidings, 0);

    proxy.hideTopic(once, { ...unsure, [KEY.addPartitions]: 2 });
    const transactional = client.transactionalProducer({ 'transactional.id': once });
    await transactional.init();
    transactional.begin();
    await transactional.send([record(once, 'c')]);
    await transactional.commit();
    await transactional.close();
    assert.equal(proxy.hidings, 0);

    proxy.hideTopic(name, { [KEY.metadata]: 2, [KEY.listOffsets]: 2 });
    const consumer = client.consumer({ 'group.id': name, 'auto.offset.reset': 'earliest' });
    consumer.subscribe([name], rebalanceLog());
    const records = await pollUntil(consumer, ({ length }) => length >= 2);
    assert.deepEqual(values(records), ['a', 'b']);
    await consumer.commit([{ topic: name, partition: 0, offset: 2 }]);
    assert.equal(proxy.hidings, 0);
    await consumer.close(5000);
  });
});
