import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { connectionConfig } from '../../src/kafka/config/client-config.ts';
import { Cluster } from '../../src/kafka/connections/cluster.ts';
import { produceCall } from '../../src/kafka/producer/produce-protocol.ts';
import { PropertyReader } from '../../src/config/property-reader.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { broker } from '../support/services.ts';
import { newTopic, partitionsOf, pollUntil, produceNumbers, record, sharedClient, values } from './kafka-fixture.ts';

describe('a consumer with assigned partitions', () => {
  let client: KafkaClient;
  const earliest = { 'auto.offset.reset': 'earliest', 'fetch.max.wait.ms': '100' };

  before(async () => {
    client = await sharedClient();
  });

  it('returns all records, in order per partition, and knows its positions', async () => {
    const topic = await newTopic(client, 3);
    await produceNumbers(client, topic, { count: 3000, partitions: 3 });
    const consumer = client.consumer(earliest);
    consumer.assign(partitionsOf(topic, 3));
    const records = await pollUntil(consumer, (got) => got.length >= 3000);
    for (const partition of [0, 1, 2]) {
      const own = records.filter((each) => each.partition === partition);
      assert.deepEqual(
        values(own),
        Array.from({ length: 1000 }, (_none, index) => String(index * 3 + partition)),
      );
      assert.deepEqual(
        own.map(({ offset }) => offset),
        own.map((_record, index) => index),
      );
      assert.equal(consumer.position({ topic, partition }), 1000);
    }
    assert.deepEqual(
      (await consumer.endOffsets(partitionsOf(topic, 3))).map(({ offset }) => offset),
      [1000, 1000, 1000],
    );
    await consumer.close(1000);
  });

  it('returns at most max.poll.records at once, and nothing after the timeout', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 25 });
    const consumer = client.consumer({ ...earliest, 'max.poll.records': '10' });
    consumer.assign(partitionsOf(topic, 1));
    const sizes: number[] = [];
    while (sizes.reduce((sum, size) => sum + size, 0) < 25) {
      const { length } = await consumer.poll(5000);
      if (length > 0) sizes.push(length);
    }
    assert.deepEqual(sizes, [10, 10, 5]);
    const startedAt = Date.now();
    assert.deepEqual(await consumer.poll(150), []);
    assert.ok(Date.now() - startedAt >= 140);
    await consumer.close(1000);
  });

  it('knows whether partitions that are not paused have more records', async () => {
    const topic = await newTopic(client);
    const place = { topic, partition: 0 };
    await produceNumbers(client, topic, { count: 2 });
    const consumer = client.consumer({ ...earliest, 'max.poll.records': '1' });
    assert.ok(!consumer.hasMore(place));
    consumer.assign([place]);
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 1)), ['0']);
    assert.ok(consumer.hasMore(place));
    consumer.pause([place]);
    assert.ok(!consumer.hasMore(place));
    consumer.resume([place]);
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 1)), ['1']);
    assert.ok(!consumer.hasMore(place));
    await consumer.close(1000);
  });

  it('ends a waiting poll at wakeup', async () => {
    const topic = await newTopic(client);
    const consumer = client.consumer(earliest);
    consumer.assign(partitionsOf(topic, 1));
    const startedAt = Date.now();
    const polled = consumer.poll(60_000);
    setTimeout(() => consumer.wakeup(), 50);
    assert.deepEqual(await polled, []);
    assert.ok(Date.now() - startedAt < 10_000);
    await consumer.close(1000);
  });

  it('returns nothing from paused partitions, keeps their buffered records, and continues after resume', async () => {
    const topic = await newTopic(client, 2);
    await produceNumbers(client, topic, { count: 20, partitions: 2 });
    const consumer = client.consumer({ ...earliest, 'max.poll.records': '4' });
    consumer.assign(partitionsOf(topic, 2));
    const first = await pollUntil(consumer, (got) => got.length >= 4);
    const paused = { topic, partition: first[0]?.partition ?? 0 };
    consumer.pause([paused]);
    assert.deepEqual(consumer.paused(), [paused]);
    const position = consumer.position(paused);
    const others = await pollUntil(consumer, (got) => got.length >= 10);
    assert.ok(others.every(({ partition }) => partition !== paused.partition));
    assert.deepEqual(await consumer.poll(100), []);
    assert.equal(consumer.position(paused), position);
    consumer.resume([paused]);
    const rest = await pollUntil(consumer, (got) => got.length >= 6);
    assert.equal(rest[0]?.offset, position);
    assert.equal(rest.at(-1)?.offset, 9);
    await consumer.close(1000);
  });

  it('starts where seek says, regardless of buffered records', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 1000 });
    const consumer = client.consumer({ ...earliest, 'max.poll.records': '10' });
    consumer.assign(partitionsOf(topic, 1));
    await pollUntil(consumer, (got) => got.length >= 10);
    consumer.seek({ topic, partition: 0, offset: 990 });
    assert.equal(consumer.position({ topic, partition: 0 }), 990);
    assert.equal((await pollUntil(consumer, (got) => got.length >= 10))[0]?.offset, 990);
    consumer.seek({ topic, partition: 0, offset: 5 });
    assert.equal((await pollUntil(consumer, (got) => got.length >= 1))[0]?.offset, 5);
    assert.throws(() => consumer.seek({ topic, partition: 7, offset: 0 }), /No current assignment for partition/);
    await consumer.close(1000);
  });

  it('waits for a topic that does not exist and reads it when it does', async () => {
    const topic = await newTopic(client);
    const later = `${topic}-later`;
    const consumer = client.consumer(earliest);
    consumer.assign(partitionsOf(later, 1));
    assert.deepEqual(await consumer.poll(200), []);
    const admin = client.admin();
    assert.equal((await admin.describeTopics([later])).size, 0, 'asking for a topic must not create it');
    await admin.createTopic({ name: later, partitions: 1, replicationFactor: 1, settings: {} });
    await admin.close();
    await produceNumbers(client, later, { count: 3 });
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 3)), ['0', '1', '2']);
    await consumer.close(1000);
  });

  it('starts at the end with auto.offset.reset=latest', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 5 });
    const consumer = client.consumer({ ...earliest, 'auto.offset.reset': 'latest' });
    consumer.assign(partitionsOf(topic, 1));
    await consumer.poll(300);
    assert.equal(consumer.position({ topic, partition: 0 }), 5);
    await produceNumbers(client, topic, { from: 5, count: 1 });
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 1)), ['5']);
    await consumer.close(1000);
  });

  it('rejects the poll when there is no position and auto.offset.reset=none', async () => {
    const topic = await newTopic(client);
    const consumer = client.consumer({ ...earliest, 'auto.offset.reset': 'none' });
    consumer.assign(partitionsOf(topic, 1));
    await assert.rejects(async () => {
      for (let polls = 0; polls < 50; polls++) await consumer.poll(100);
    }, /Undefined offset with no reset policy for partitions: \[kafka-room-\w+-0\]/);
    await consumer.close(1000);
  });

  it('continues at the first offset there is when its own was deleted', async () => {
    const topic = await newTopic(client);
    await produceNumbers(client, topic, { count: 100 });
    const { bootstrapServers } = await broker();
    const kafka = new Kafka({ brokers: bootstrapServers.split(','), logLevel: logLevel.NOTHING });
    const library = kafka.admin();
    await library.connect();
    await library.fetchTopicOffsets(topic);
    await library.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '60' }] });
    await library.disconnect();
    const consumer = client.consumer(earliest);
    consumer.assign(partitionsOf(topic, 1));
    consumer.seek({ topic, partition: 0, offset: 10 });
    const records = await pollUntil(consumer, (got) => got.length >= 40);
    assert.equal(records[0]?.offset, 60);
    await consumer.close(1000);
  });

  it('hides aborted records with read_committed, and moves past them', async () => {
    const topic = await newTopic(client);
    const { bootstrapServers } = await broker();
    process.env['KAFKAJS_NO_PARTITIONER_WARNING'] = '1';
    const kafka = new Kafka({ brokers: bootstrapServers.split(','), logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
    await producer.connect();
    for (const [value, end] of [
      ['kept 1', 'commit'],
      ['aborted', 'abort'],
      ['kept 2', 'commit'],
      ['gone', 'abort'],
    ] as const) {
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: [{ value }] });
      await transaction[end]();
    }
    await producer.disconnect();
    const committed = client.consumer({ ...earliest, 'isolation.level': 'read_committed' });
    committed.assign(partitionsOf(topic, 1));
    const [end] = await committed.endOffsets(partitionsOf(topic, 1));
    const seen: (string | null)[] = [];
    while ((committed.position({ topic, partition: 0 }) ?? 0) < (end?.offset ?? Infinity)) {
      seen.push(...values(await committed.poll(1000)));
    }
    assert.deepEqual(seen, ['kept 1', 'kept 2']);
    await committed.close(1000);
    const all = client.consumer(earliest);
    all.assign(partitionsOf(topic, 1));
    const everything = await pollUntil(all, (got) => got.length >= 4);
    assert.deepEqual(values(everything), ['kept 1', 'aborted', 'kept 2', 'gone']);
    await all.close(1000);
  });

  it('keeps a group’s offsets without being its member', async () => {
    const topic = await newTopic(client, 2);
    const consumer = client.consumer({ ...earliest, 'group.id': topic });
    assert.deepEqual(await consumer.committed(partitionsOf(topic, 2)), []);
    await consumer.commit([{ topic, partition: 1, offset: 42 }]);
    assert.deepEqual(await consumer.committed(partitionsOf(topic, 2)), [{ topic, partition: 1, offset: 42 }]);
    await consumer.close(1000);
  });

  for (const compression of ['gzip', 'snappy', 'lz4'] as const) {
    it(`reads topics compressed with ${compression}`, async () => {
      const topic = await newTopic(client);
      const producer = client.producer({ 'compression.type': compression });
      await producer.send(Array.from({ length: 500 }, (_none, index) => record(topic, `value ${String(index)}`)));
      await producer.close();
      const consumer = client.consumer(earliest);
      consumer.assign(partitionsOf(topic, 1));
      const records = await pollUntil(consumer, (got) => got.length >= 500);
      assert.equal(values(records).at(-1), 'value 499');
      await consumer.close(1000);
    });
  }

  it('reads a topic that Java compressed with zstd', async () => {
    const topic = await newTopic(client);
    const file = new URL('../unit/kafka/java-client-bytes.json', import.meta.url);
    const { batches } = JSON.parse(readFileSync(file, 'utf8')) as {
      batches: { compression: string; base64: string }[];
    };
    const zstd = batches.find(({ compression }) => compression === 'zstd');
    const { bootstrapServers } = await broker();
    const config = connectionConfig(new PropertyReader({ 'bootstrap.servers': bootstrapServers }));
    const cluster = new Cluster(config, silentLogger);
    const { topicMetadata } = await cluster.metadata([topic]);
    const leader = topicMetadata[0]?.partitionMetadata[0]?.leader ?? -1;
    const bytes = Buffer.from(zstd?.base64 ?? '', 'base64');
    // Producers count from 0.
    bytes.writeBigInt64BE(0n, 0);
    const batch = { topic, partition: 0, bytes };
    const options = { acks: -1, timeoutMs: 5000, transactionalId: null };
    const answer = await cluster.callNode(leader, 'produce', produceCall([batch], options));
    assert.equal(answer.partitions[0]?.errorCode, 0);
    await cluster.close();
    const consumer = client.consumer(earliest);
    consumer.assign(partitionsOf(topic, 1));
    const records = await pollUntil(consumer, (got) => got.length >= 6);
    assert.deepEqual(
      records.map(({ offset, key }) => [offset, key?.toString() ?? null]),
      [
        [0, 'key-0'],
        [1, null],
        [2, 'key-2'],
        [3, 'key-3'],
        [4, 'key-4'],
        [5, 'key-5'],
      ],
    );
    await consumer.close(1000);
  });
});
