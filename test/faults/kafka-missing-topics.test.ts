import assert from 'node:assert/strict';
import { Kafka, logLevel } from 'kafkajs';
import type { LocalKafka } from '../../src/dev/kafka.ts';
import type { ClientProperties, Consumer, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { broker, ownBroker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import {
  newTopic,
  pollUntil,
  produceNumbers,
  rebalanceLog,
  recordingLogger,
  sharedClient,
  values,
} from '../integration/kafka-fixture.ts';

const LATEST = { 'auto.offset.reset': 'latest', 'heartbeat.interval.ms': '200' };

describe('topics that are created while a consumer is subscribed (L10)', function () {
  const open: Consumer[] = [];

  function subscribed(
    client: KafkaClient,
    topics: readonly string[] | ((topic: string) => boolean),
    properties: ClientProperties = {},
  ): Consumer {
    const consumer = client.consumer({ 'group.id': uniqueName('new-topics'), ...LATEST, ...properties });
    consumer.subscribe(topics, rebalanceLog());
    open.push(consumer);
    return consumer;
  }

  afterEach(async () => {
    await Promise.all(open.splice(0).map((consumer) => consumer.close(5_000)));
  });

  /** Polls until the consumer has this number of partitions. */
  async function assigned(consumer: Consumer, partitions: number): Promise<void> {
    await until(
      async () => {
        await consumer.poll(100);
        return consumer.assignment().length === partitions || undefined;
      },
      `${String(partitions)} partitions are assigned`,
    );
  }

  const numbers = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_none, index) => String(from + index));

  async function readsAll(consumer: Consumer, from: number, count: number): Promise<void> {
    const read = values(await pollUntil(consumer, (records) => records.length >= count));
    assert.deepEqual(
      read
        .map(Number)
        .sort((a, b) => a - b)
        .map(String),
      numbers(from, count),
    );
  }

  describe('where brokers create topics on demand', () => {
    let kafka: LocalKafka;
    let client: KafkaClient;

    before(async () => {
      kafka = await ownBroker({ extras: { properties: { 'auto.create.topics.enable': 'true' } } });
      client = createKafkaClient({ 'bootstrap.servers': kafka.bootstrapServers }, recordingLogger().logger);
    });

    after(() => kafka.discard());

    async function exists(topic: string): Promise<boolean> {
      const admin = client.admin();
      try {
        return (await admin.topics()).includes(topic);
      } finally {
        await admin.close();
      }
    }

    it('a missing topic is created by the consumer that subscribes to it, and read from its beginning', async () => {
      const topic = uniqueName('missing');
      const consumer = subscribed(client, [topic]);
      await until(async () => {
        await consumer.poll(20);
        return (await exists(topic)) || undefined;
      }, 'the topic is created');
      await produceNumbers(client, topic, { count: 5 });
      await readsAll(consumer, 0, 5);
      assert.deepEqual(consumer.missingTopics(), []);
    });

    it('a survey reports that they do, and that others do not', async () => {
      for (const [each, creates] of [
        [client, true],
        [await sharedClient(), false],
      ] as const) {
        const survey = each.survey();
        try {
          assert.equal(await survey.brokersCreateTopics(), creates);
        } finally {
          await survey.close();
        }
      }
    });

    it('it is not with allow.auto.create.topics=false', async () => {
      const topic = uniqueName('missing');
      const logged = recordingLogger();
      const quiet = createKafkaClient({ 'bootstrap.servers': kafka.bootstrapServers }, logged.logger);
      const consumer = subscribed(quiet, [topic], { 'allow.auto.create.topics': 'false' });
      await until(async () => {
        await consumer.poll(100);
        return logged.lines.some(({ msg }) => msg === 'Topic does not exist; waiting for it') || undefined;
      }, 'the topic is waited for');
      assert.deepEqual(consumer.missingTopics(), [topic]);
      assert.equal(await exists(topic), false);
    });
  });

  describe('with auto.offset.reset=latest', () => {
    let client: KafkaClient;

    before(async () => (client = await sharedClient()));

    it('a topic that matches later is read from its beginning, an existing one from its end', async () => {
      const prefix = uniqueName('matching');
      const admin = client.admin();
      const create = (name: string) => admin.createTopic({ name, partitions: 1, replicationFactor: 1, settings: {} });
      await create(`${prefix}-old`);
      await produceNumbers(client, `${prefix}-old`, { count: 3 });
      const properties = { 'metadata.max.age.ms': '1000' };
      const consumer = subscribed(client, (topic) => topic.startsWith(prefix), properties);
      await assigned(consumer, 1);
      await create(`${prefix}-new`);
      await produceNumbers(client, `${prefix}-new`, { from: 10, count: 5 });
      await admin.close();
      await readsAll(consumer, 10, 5);
    });

    it('partitions that are added are read from their beginning', async () => {
      const topic = await newTopic(client);
      await produceNumbers(client, topic, { count: 3 });
      const consumer = subscribed(client, [topic], { 'metadata.max.age.ms': '1000' });
      await assigned(consumer, 1);
      const { bootstrapServers } = await broker();
      const library = new Kafka({ brokers: [bootstrapServers], logLevel: logLevel.NOTHING }).admin();
      await library.connect();
      await library.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
      await library.disconnect();
      const producer = client.producer();
      for (const [index, partition] of [1, 1, 2, 2].entries()) {
        const value = Buffer.from(String(10 + index));
        await producer.send([{ topic, partition, key: null, value, timestamp: null, headers: [] }]);
      }
      await producer.close();
      await readsAll(consumer, 10, 4);
    });

    it('the next owner of a new partition begins where the first owner did, which had committed nothing', async () => {
      const topic = uniqueName('taken-over');
      const group = { 'group.id': uniqueName('taken-over') };
      const first = subscribed(client, [topic], group);
      const admin = client.admin();
      await until(async () => {
        await first.poll(50);
        await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings: {} });
        return true;
      }, 'the topic is there');
      await produceNumbers(client, topic, { count: 4 });
      await assigned(first, 1);
      await first.close(5_000);
      await admin.close();
      await readsAll(subscribed(client, [topic], group), 0, 4);
    });
  });
});
