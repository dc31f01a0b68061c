import assert from 'node:assert/strict';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { broker, database, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';

describe('the services that tests share', () => {
  it('give every caller an empty database of its own on one server', async function () {
    const [one, other] = await Promise.all([database('Sales'), database('sales')]);
    assert.notEqual(one.database, other.database);
    assert.equal(one.port, other.port);
    const client = new pg.Client({ connectionString: one.url });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT current_database() AS name, current_setting($1) AS encoding', [
        'server_encoding',
      ]);
      assert.deepEqual(rows, [{ name: one.database, encoding: 'UTF8' }]);
    } finally {
      await client.end();
    }
  });

  it('give every caller the same broker, on which topics are created only when asked for', async function () {
    const [one, other] = await Promise.all([broker(), broker()]);
    assert.equal(one, other);
    const topic = uniqueName('orders');
    const admin = new Kafka({ brokers: one.bootstrapServers.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      assert.equal((await admin.listTopics()).includes(topic), false);
      await admin.createTopics({ topics: [{ topic, numPartitions: 2 }], waitForLeaders: true });
      // A broker without CPU time names the leaders before it takes the lead.
      const hasBoth = async (): Promise<boolean> => (await admin.fetchTopicOffsets(topic)).length === 2;
      await until(hasBoth, 'the topic has two partitions');
      await admin.deleteTopics({ topics: [topic] });
    } finally {
      await admin.disconnect();
    }
  });
});
