import assert from 'node:assert/strict';
import { ConfigStore } from '../../src/herder/stores/config-store.ts';
import { LeaderWriter } from '../../src/herder/stores/leader-writer.ts';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, partitionsOf, recordingLogger, sharedClient } from './kafka-fixture.ts';

const UNINTERESTED = {
  workChanged: () => undefined,
  targetStateChanged: () => undefined,
  restartRequested: () => undefined,
  loggerLevelChanged: () => undefined,
};

/** Two workers' stores on one config topic, each of which may be the leader's. */
describe('the config topic of a group that fences its leaders', function () {
  const { logger } = recordingLogger();
  const stores: ConfigStore[] = [];
  let client: KafkaClient;
  let topic: string;
  const transactionalId = uniqueName('connect-cluster');

  async function store(): Promise<ConfigStore> {
    const open = () => client.transactionalProducer({ 'transactional.id': transactionalId });
    const writer = new LeaderWriter(topic, open, logger);
    const created = new ConfigStore(
      (onRecord) =>
        client.compactedTopic({
          topic,
          property: 'config.storage.topic',
          purpose: 'connector configurations',
          partitions: 1,
          replicationFactor: 1,
          settings: {},
          onRecord: ({ key, value, offset }) => {
            if (key !== null) onRecord({ key, value, offset });
          },
        }),
      logger,
      writer,
    );
    stores.push(created);
    await created.start(UNINTERESTED);
    return created;
  }

  before(async () => {
    client = await sharedClient();
    topic = await newTopic(client, 1, { 'cleanup.policy': 'compact' });
  });
  after(() => Promise.all(stores.map((each) => each.stop())));

  it('is written by its leader, and no longer by an earlier leader that has not noticed the change', async () => {
    const [before, now] = [await store(), await store()];
    await before.lead();
    await before.putConnector('a', { name: 'a', step: '1' }, 'PAUSED');
    await before.putTaskConfigs('a', [{ task: '0' }, { task: '1' }]);
    await now.lead();
    await now.putConnector('a', { name: 'a', step: '2' });
    await assert.rejects(
      before.putTaskConfigs('a', [{ task: 'of the past' }]),
      /^ConnectError: Failed to perform fencable send to config topic: another worker may have become the leader/,
    );
    await assert.doesNotReject(before.putTargetState('a', 'STARTED'), 'any worker may write target states');
    await Promise.all([before.refresh(), now.refresh()]);
    for (const each of [before, now]) {
      const { config, targetState, taskConfigs } = each.connector('a') ?? {};
      assert.deepEqual(
        [config, targetState, taskConfigs],
        [{ name: 'a', step: '2' }, 'STARTED', [{ task: '0' }, { task: '1' }]],
      );
    }
  });

  it('is taken back by a leader that was refused and still leads', async () => {
    const [first, second] = stores;
    assert.ok(first !== undefined && second !== undefined);
    await first.putConnector('b', { name: 'b' });
    await assert.rejects(second.putTaskCount('b', 1));
    await second.putTaskCount('b', 2);
    assert.equal(second.connector('b')?.taskCountRecord, 2);
    await assert.rejects(first.removeConnector('b'));
    await first.refresh();
    assert.equal(first.connector('b')?.taskCountRecord, 2);
  });

  it('shows all records of one write or none, as a reader of committed records sees it', async () => {
    const writer = client.transactionalProducer({ 'transactional.id': uniqueName('stuck') });
    await writer.connect();
    await writer.init();
    writer.begin();
    const key = Buffer.from('connector-c');
    const value = Buffer.from(JSON.stringify({ properties: { name: 'c' } }));
    await writer.send([{ topic, partition: 0, key, value, timestamp: null, headers: [] }]);
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign(partitionsOf(topic, 1));
    await until(async () => {
      const records = await consumer.poll(100);
      return records.some((record) => record.key?.equals(key) === true);
    }, 'the record is in the topic');
    await consumer.close(1000);
    assert.equal(stores[1]?.connector('c'), undefined);
    await writer.abort();
    await writer.close();
    await stores[1]?.refresh();
    assert.equal(stores[1]?.connector('c'), undefined);
  });
});
