import assert from 'node:assert/strict';
import { Kafka, logLevel } from 'kafkajs';
import { ConfigError } from '../../src/errors.ts';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { ErrorCode } from '../../src/kafka/errors/error-codes.ts';
import { KafkaError, TimeoutError } from '../../src/kafka/errors/kafka-errors.ts';
import { partitionOfKey } from '../../src/kafka/producer/partitioner.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, partitionsOf, pollUntil, record, sharedClient, values } from './kafka-fixture.ts';

describe('a producer', () => {
  let client: KafkaClient;

  before(async () => {
    client = await sharedClient({ 'auto.offset.reset': 'earliest', 'fetch.max.wait.ms': '100' });
  });

  it('writes keys, values, times and headers as they are, nulls and repeated header names included', async () => {
    const topic = await newTopic(client);
    const headers = [
      { key: 'b', value: Buffer.from('1') },
      { key: 'a', value: null },
      { key: 'b', value: Buffer.from('2') },
    ];
    const producer = client.producer();
    await producer.connect();
    await producer.send([
      record(topic, 'full', { key: Buffer.from('k'), timestamp: 0, headers }),
      record(topic, null, { key: new Uint8Array([0, 255]), timestamp: 1_700_000_000_123 }),
    ]);
    await producer.close();
    const consumer = client.consumer();
    consumer.assign(partitionsOf(topic, 1));
    const [full, tombstone] = await pollUntil(consumer, (got) => got.length >= 2);
    await consumer.close(1000);
    assert.deepEqual([full?.key, full?.value, full?.timestamp], [Buffer.from('k'), Buffer.from('full'), 0]);
    assert.deepEqual(full?.headers, headers);
    assert.deepEqual(
      [tombstone?.key, tombstone?.value, tombstone?.timestamp],
      [Buffer.from([0, 255]), null, 1_700_000_000_123],
    );
  });

  it('puts keys where Java puts them, and records without a key of one call together', async () => {
    const topic = await newTopic(client, 5);
    const producer = client.producer();
    const keys = Array.from({ length: 50 }, (_none, index) => Buffer.from(`key-${String(index)}`));
    await producer.send(keys.map((key) => record(topic, 'keyed', { key })));
    await producer.send(Array.from({ length: 20 }, () => record(topic, 'free')));
    await producer.close();
    const consumer = client.consumer();
    consumer.assign(partitionsOf(topic, 5));
    const records = await pollUntil(consumer, (got) => got.length >= 70);
    await consumer.close(1000);
    for (const { key, partition } of records) if (key !== null) assert.equal(partition, partitionOfKey(key, 5));
    const free = records.filter(({ key }) => key === null);
    assert.equal(new Set(free.map(({ partition }) => partition)).size, 1);
  });

  for (const properties of [{}, { 'enable.idempotence': 'true' }]) {
    it(`keeps the order of many calls at once (${JSON.stringify(properties)})`, async () => {
      const topic = await newTopic(client);
      const producer = client.producer(properties);
      const sends = Array.from({ length: 200 }, (_none, call) =>
        producer.send([record(topic, String(call * 2)), record(topic, String(call * 2 + 1))]),
      );
      await Promise.all(sends);
      await producer.close();
      const consumer = client.consumer();
      consumer.assign(partitionsOf(topic, 1));
      const records = await pollUntil(consumer, (got) => got.length >= 400);
      await consumer.close(1000);
      assert.deepEqual(
        values(records).map(Number),
        Array.from({ length: 400 }, (_none, index) => index),
      );
    });
  }

  it('splits records that are too many for one request, and one batch that the topic finds too large', async () => {
    const topic = await newTopic(client, 1, { 'max.message.bytes': '20000' });
    const producer = client.producer({ 'max.request.size': '100000' });
    await producer.send(
      Array.from({ length: 300 }, (_none, index) => record(topic, `${String(index)} ${'x'.repeat(1000)}`)),
    );
    await producer.close();
    const consumer = client.consumer();
    consumer.assign(partitionsOf(topic, 1));
    const records = await pollUntil(consumer, (got) => got.length >= 300);
    await consumer.close(1000);
    assert.deepEqual(
      values(records).map((value) => parseInt(value ?? '', 10)),
      Array.from({ length: 300 }, (_n, i) => i),
    );
  });

  it('refuses a record that is larger than max.request.size, or than the topic takes', async () => {
    const topic = await newTopic(client, 1, { 'max.message.bytes': '2000' });
    const producer = client.producer({ 'max.request.size': '10000' });
    await assert.rejects(producer.send([record(topic, 'x'.repeat(10_000))]), (error: unknown) => {
      assert.ok(error instanceof KafkaError);
      assert.equal(error.javaName, 'org.apache.kafka.common.errors.RecordTooLargeException');
      assert.match(error.message, /The message is 100\d\d bytes when serialized which is larger than 10000/);
      return true;
    });
    await assert.rejects(producer.send([record(topic, 'x'.repeat(5000))]), (error: unknown) => {
      assert.ok(error instanceof KafkaError);
      assert.equal(error.code, ErrorCode.messageTooLarge);
      assert.match(error.message, new RegExp(`Topic ${topic}, partition 0: .*MESSAGE_TOO_LARGE`));
      return true;
    });
    await producer.send([record(topic, 'small')]);
    await producer.close();
  });

  it('fails for a topic that is never created', async () => {
    const producer = client.producer({ 'max.block.ms': '300' });
    const topic = uniqueName('kafka-never');
    await assert.rejects(producer.send([record(topic, 'x')]), (error: unknown) => {
      assert.ok(error instanceof TimeoutError);
      assert.equal(error.message, `Topic ${topic} not present in metadata after 300 ms.`);
      return true;
    });
    await producer.close();
  });

  it('refuses a partition that the topic does not have', async () => {
    const topic = await newTopic(client);
    const producer = client.producer();
    await assert.rejects(producer.send([record(topic, 'x', { partition: 3 })]), /3 is not in the range \[0\.\.\.1\)/);
    await producer.close();
  });

  it('learns of new partitions while it is used, connected by hand or not', async () => {
    const topic = await newTopic(client);
    const producer = client.producer({ 'metadata.max.age.ms': '200' });
    await producer.send([record(topic, 'x')]);
    const { bootstrapServers } = await broker();
    const library = new Kafka({ brokers: bootstrapServers.split(','), logLevel: logLevel.NOTHING }).admin();
    await library.connect();
    await library.createPartitions({ topicPartitions: [{ topic, count: 2 }] });
    await library.disconnect();
    await until(async () => {
      await producer.send([record(topic, 'y', { partition: 1 })]);
      return true;
    }, 'the second partition is known');
    await producer.close();
  });

  it('refuses wrong settings when it is made', () => {
    assert.throws(() => client.producer({ 'compression.type': 'brotli' }), ConfigError);
    assert.throws(
      () => client.producer({ acks: '1', 'enable.idempotence': 'true' }),
      /Must set acks to all in order to use the idempotent producer. Otherwise/,
    );
  });

  it('is content with acks=0 and acks=1', async () => {
    const topic = await newTopic(client);
    for (const acks of ['0', '1']) {
      const producer = client.producer({ acks });
      await producer.send([record(topic, acks)]);
      await producer.close();
    }
    const consumer = client.consumer();
    consumer.assign(partitionsOf(topic, 1));
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 2)).sort(), ['0', '1']);
    await consumer.close(1000);
  });
});
