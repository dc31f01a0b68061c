import assert from 'node:assert/strict';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { until } from '../support/until.ts';
import { GroupReader, QUICK } from '../integration/group-reader.ts';
import { newTopic, rebalanceLog, sharedClient } from '../integration/kafka-fixture.ts';

describe('a consumer group', () => {
  let client: KafkaClient;

  before(async () => {
    client = await sharedClient();
  });

  it('stays a member while its caller does not poll, and rejoins at the next poll', async () => {
    const topic = await newTopic(client, 2);
    const busy = client.consumer({ ...QUICK, 'group.id': topic, 'session.timeout.ms': '6000' });
    const busyLog = rebalanceLog();
    busy.subscribe([topic], busyLog);
    await until(
      async () => (await busy.poll(50)).length === 0 && busy.assignment().length === 2,
      'the first has joined',
    );
    const other = new GroupReader(client, topic, topic);
    // Longer than a session would live without heartbeats.
    await new Promise((resolve) => setTimeout(resolve, 7000));
    assert.deepEqual(busyLog.events, ['onAssigned 0,1']);
    assert.deepEqual(other.owned(), []);
    await until(async () => {
      await busy.poll(50);
      return busy.assignment().length === 1 && other.owned().length === 1;
    }, 'both have one partition');
    assert.deepEqual(busyLog.events.slice(0, 2), ['onAssigned 0,1', 'onRevoked 0,1']);
    await Promise.all([busy.close(5000), other.close()]);
  });
});
