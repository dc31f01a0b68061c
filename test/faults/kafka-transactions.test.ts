import assert from 'node:assert/strict';
import { SluiceError } from '../../src/errors.ts';
import type { ClientProperties, KafkaClient, TransactionalProducer } from '../../src/kafka/api.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, partitionsOf, pollUntil, record, sharedClient, values } from '../integration/kafka-fixture.ts';

describe('a transactional producer', function () {
  let client: KafkaClient;
  const open: TransactionalProducer[] = [];

  before(async () => {
    client = await sharedClient();
  });
  afterEach(() => Promise.all(open.splice(0).map((producer) => producer.close(0))));

  async function start(id: string, properties: ClientProperties = {}, from = client): Promise<TransactionalProducer> {
    const producer = from.transactionalProducer({ 'transactional.id': id, ...properties });
    open.push(producer);
    await producer.connect();
    await producer.init();
    return producer;
  }

  /** What a reader sees after `count` values are there. */
  async function read(topic: string, isolation: string, count: number, partitions = 1): Promise<(string | null)[]> {
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest', 'isolation.level': isolation });
    consumer.assign(partitionsOf(topic, partitions));
    try {
      const records = await pollUntil(consumer, (got) => got.length >= count);
      records.push(...(await consumer.poll(200)));
      return values(records).sort();
    } finally {
      await consumer.close(1000);
    }
  }

  it('cannot go on with a transaction that took longer than transaction.timeout.ms', async () => {
    const topic = await newTopic(client);
    const id = uniqueName('txn');
    const producer = await start(id, { 'transaction.timeout.ms': '500' });
    producer.begin();
    await producer.send([record(topic, 'slow')]);
    // Brokers look for such transactions every 10 s by default.
    await until(async () => (await ended(topic)) > 1, 'the broker has ended it', { timeoutMs: 25_000 });
    await assert.rejects(producer.send([record(topic, 'more')]), /INVALID_PRODUCER_EPOCH|newer producer/);
    await assert.rejects(producer.commit(), (error: unknown) => error instanceof SluiceError);
    assert.deepEqual(await read(topic, 'read_committed', 0), []);
  });

  async function ended(topic: string): Promise<number> {
    const admin = client.admin();
    try {
      return (await admin.endOffsets(topic)).reduce((sum, { offset }) => sum + offset, 0);
    } finally {
      await admin.close();
    }
  }
});
