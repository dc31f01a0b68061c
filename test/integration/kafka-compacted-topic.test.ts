import assert from 'node:assert/strict';
import { ConfigError } from '../../src/errors.ts';
import type { CompactedTopic, CompactedTopicOptions, ConsumedRecord, KafkaClient } from '../../src/kafka/api.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, produceNumbers, sharedClient } from './kafka-fixture.ts';

function optionsFor(topic: string, seen: string[], over: Partial<CompactedTopicOptions> = {}): CompactedTopicOptions {
  return {
    topic,
    property: 'config.storage.topic',
    purpose: 'connector configurations',
    partitions: 1,
    replicationFactor: 1,
    settings: {},
    onRecord: ({ key, value }: ConsumedRecord) => {
      seen.push(`${key?.toString() ?? ''}=${value?.toString() ?? 'null'}`);
    },
    ...over,
  };
}

describe('a compacted topic', () => {
  let client: KafkaClient;

  before(async () => {
    client = await sharedClient();
  });

  it('is created as it should be, read whole, and followed', async () => {
    const name = uniqueName('compacted');
    const seen: string[] = [];
    const topic = client.compactedTopic(
      optionsFor(name, seen, { partitions: 3, settings: { 'segment.ms': '600000' } }),
    );
    await topic.start();
    const admin = client.admin();
    assert.equal((await admin.describeTopics([name])).get(name), 3);
    const settings = await admin.topicSettings(name);
    assert.deepEqual([settings.get('cleanup.policy'), settings.get('segment.ms')], ['compact', '600000']);
    await topic.sendAll([
      { key: 'a', value: Buffer.from('1') },
      { key: Buffer.from('b'), value: Buffer.from('2') },
    ]);
    await topic.send('a', null);
    await topic.readToEnd();
    assert.deepEqual(
      seen.filter((entry) => entry.startsWith('a')),
      ['a=1', 'a=null'],
    );
    assert.ok(seen.includes('b=2'));

    const others: string[] = [];
    const other = client.compactedTopic(optionsFor(name, others));
    await other.start();
    assert.deepEqual([...others].sort(), [...seen].sort());
    await topic.send('c', Buffer.from('3'));
    await until(() => others.includes('c=3'), 'the other follows');
    await Promise.all([topic.stop(), other.stop(), admin.close()]);
    await assert.rejects(topic.readToEnd(), /has been closed/);
  });

  it('reads to the end without waiting for an empty fetch, as a rule', async () => {
    const seen: string[] = [];
    const topic = client.compactedTopic(optionsFor(uniqueName('compacted'), seen));
    await topic.start();
    const times: number[] = [];
    for (let index = 0; index < 20; index++) {
      await topic.send('k', Buffer.from(String(index)));
      const startedAt = performance.now();
      await topic.readToEnd();
      times.push(performance.now() - startedAt);
      assert.equal(seen.length, index + 1);
    }
    await topic.stop();
    const [median = Infinity] = times.sort((a, b) => a - b).slice(10);
    assert.ok(median < 250, `the median of ${String(times.length)} was ${median.toFixed(1)} ms`);
  });

  it('starts three topics that exist at once, quickly', async () => {
    const names = [uniqueName('configs'), uniqueName('offsets'), uniqueName('status')];
    const open = (): CompactedTopic[] =>
      names.map((name, index) => client.compactedTopic(optionsFor(name, [], { partitions: [1, 25, 5][index] ?? 1 })));
    const first = open();
    await Promise.all(first.map((topic) => topic.start()));
    await Promise.all(first.map((topic) => topic.stop()));
    const again = open();
    const startedAt = performance.now();
    await Promise.all(again.map((topic) => topic.start()));
    const tookMs = performance.now() - startedAt;
    await Promise.all(again.map((topic) => topic.stop()));
    assert.ok(tookMs < 5000, `starting took ${tookMs.toFixed(0)} ms`);
  });

  it('continues after a record that its reader cannot take', async () => {
    const seen: string[] = [];
    const options = optionsFor(uniqueName('compacted'), seen, {
      onRecord: ({ value }) => {
        if (value?.toString() === 'bad') throw new Error('unreadable');
        seen.push(String(value));
      },
    });
    const topic = client.compactedTopic(options);
    await topic.start();
    for (const value of ['good', 'bad', 'better']) await topic.send('k', Buffer.from(value));
    await topic.readToEnd();
    assert.deepEqual(seen, ['good', 'better']);
    await topic.stop();
  });

  it('refuses a topic that is not compacted, in Connect’s words', async () => {
    const name = await newTopic(client);
    const topic = client.compactedTopic(optionsFor(name, []));
    await assert.rejects(topic.start(), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(
        error.message,
        `Topic '${name}' supplied via the 'config.storage.topic' property is required to have 'cleanup.policy=compact' to ` +
          'guarantee consistency and durability of connector configurations, but found the topic currently has ' +
          "'cleanup.policy=delete'. Continuing would likely result in eventually losing connector configurations and " +
          "problems restarting this Connect cluster in the future. Change the 'config.storage.topic' property in the " +
          "Connect worker configurations to use a topic with 'cleanup.policy=compact'.",
      );
      return true;
    });
  });

  it('refuses several partitions where order matters', async () => {
    const name = await newTopic(client, 2, { 'cleanup.policy': 'compact' });
    const topic = client.compactedTopic(optionsFor(name, [], { singlePartition: true }));
    await assert.rejects(topic.start(), /required to have a single partition .* but found 2 partitions/);
  });

  it('says which property to change when there are too few brokers', async () => {
    const topic = client.compactedTopic(optionsFor(uniqueName('compacted'), [], { replicationFactor: 3 }));
    await assert.rejects(topic.start(), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /replication factor 3 on a cluster of 1 broker\(s\)/);
      assert.match(error.message, /Set the 'config\.storage\.replication\.factor' property/);
      return true;
    });
  });

  it('reads a long topic to its end', async () => {
    const name = await newTopic(client, 1, { 'cleanup.policy': 'compact' });
    await produceNumbers(client, name, { count: 0 });
    const producer = client.producer();
    const records = Array.from({ length: 20_000 }, (_none, index) => ({
      topic: name,
      partition: null,
      key: Buffer.from(String(index)),
      value: Buffer.from('x'),
      timestamp: null,
      headers: [],
    }));
    await producer.send(records);
    await producer.close();
    const seen: string[] = [];
    const topic = client.compactedTopic(optionsFor(name, seen));
    await topic.start();
    assert.equal(seen.length, 20_000);
    await topic.stop();
  });
});
