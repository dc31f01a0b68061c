import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { SluiceError } from '../../src/errors.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { newTopic, partitionsOf, pollUntil, record, recordingLogger, values } from './kafka-fixture.ts';
import { TransactionsFixture } from './kafka-transactions-fixture.ts';

const FENCED = 'org.apache.kafka.common.errors.ProducerFencedException';

describe('a transactional producer', function () {
  let fixture: TransactionsFixture;

  before(async () => (fixture = await TransactionsFixture.create()));
  afterEach(() => fixture.closeProducers());

  it('shows readers of committed records a transaction whole, over partitions and topics, and never an aborted one', async () => {
    const topic = await newTopic(fixture.client, 3);
    const producer = await fixture.start(uniqueName('txn'));
    producer.begin();
    await producer.send([0, 1, 2].map((partition) => record(topic, `a${String(partition)}`, { partition })));
    assert.deepEqual(await fixture.read(topic, 'read_uncommitted', 3, 3), ['a0', 'a1', 'a2']);
    assert.deepEqual(await fixture.read(topic, 'read_committed', 0, 3), []);
    await producer.commit();
    assert.deepEqual(await fixture.read(topic, 'read_committed', 3, 3), ['a0', 'a1', 'a2']);
    producer.begin();
    await producer.send([record(topic, 'b')]);
    await producer.abort();
    producer.begin();
    await producer.send([record(topic, 'c')]);
    await producer.commit();
    assert.deepEqual(await fixture.read(topic, 'read_committed', 4, 3), ['a0', 'a1', 'a2', 'c']);
    assert.deepEqual(await fixture.read(topic, 'read_uncommitted', 5, 3), ['a0', 'a1', 'a2', 'b', 'c']);
  });

  it('has nothing for readers of committed records while it is open', async () => {
    const topic = await newTopic(fixture.client);
    const [place] = partitionsOf(topic, 1);
    assert.ok(place);
    const producer = await fixture.start(uniqueName('txn'));
    producer.begin();
    await producer.send([record(topic, 'a')]);
    await producer.commit();
    producer.begin();
    await producer.send([record(topic, 'b')]);
    for (const [isolation, hasMore] of [
      ['read_uncommitted', true],
      ['read_committed', false],
    ] as const) {
      const properties = { 'auto.offset.reset': 'earliest', 'max.poll.records': '1', 'isolation.level': isolation };
      const consumer = fixture.client.consumer(properties);
      consumer.assign([place]);
      assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 1)), ['a']);
      if (!hasMore) await until(async () => (await consumer.poll(100)).length === 0, 'the marker is passed');
      assert.equal(consumer.hasMore(place), hasMore);
      await consumer.close(1000);
    }
  });

  it('commits records that were sent and not awaited, one transaction right after the other', async () => {
    const topic = await newTopic(fixture.client);
    const producer = await fixture.start(uniqueName('txn'));
    const startedAt = Date.now();
    for (let transaction = 0; transaction < 30; transaction++) {
      producer.begin();
      void producer.send([record(topic, `${String(transaction)}a`)]);
      void producer.send([record(topic, `${String(transaction)}b`)]);
      await producer.commit();
    }
    console.log(`    30 transactions in ${String(Date.now() - startedAt)} ms`);
    assert.equal((await fixture.read(topic, 'read_committed', 60)).length, 60);
  });

  it('may be empty', async () => {
    const producer = await fixture.start(uniqueName('txn'));
    producer.begin();
    await producer.commit();
    producer.begin();
    await producer.abort();
  });

  it('fences the previous producer of its id, and aborts its open transaction', async () => {
    const topic = await newTopic(fixture.client);
    const id = uniqueName('txn');
    const zombie = await fixture.start(id);
    zombie.begin();
    await zombie.send([record(topic, 'zombie')]);
    const heir = await fixture.start(id);
    heir.begin();
    await heir.send([record(topic, 'heir')]);
    await heir.commit();
    await zombie.trySend([record(topic, 'late')]);
    await assert.rejects(zombie.commit(), (error: unknown) => error instanceof SluiceError);
    await assert.rejects(zombie.abort(), (error: unknown) => error instanceof SluiceError);
    heir.begin();
    await heir.send([record(topic, 'heir still')]);
    await heir.commit();
    assert.deepEqual(await fixture.read(topic, 'read_committed', 2), ['heir', 'heir still']);
  });

  it('gets the error with Java’s words when it commits', async () => {
    const topic = await newTopic(fixture.client);
    const id = uniqueName('txn');
    const zombie = await fixture.start(id);
    zombie.begin();
    await zombie.send([record(topic, 'zombie')]);
    const admin = fixture.client.admin();
    await admin.fenceProducers([id, uniqueName('never-used')]);
    await admin.close();
    await assert.rejects(zombie.commit(), (error: unknown) => {
      assert.ok(error instanceof SluiceError);
      assert.equal(error.javaName, FENCED);
      assert.match(
        error.message,
        /There is a newer producer with the same transactionalId which fences the current one\./,
      );
      return true;
    });
    assert.deepEqual(await fixture.read(topic, 'read_committed', 0), []);
  });

  it('stores each record once when connections break, even at the commit', async () => {
    const proxy = await KafkaProxy.start((await broker()).bootstrapServers);
    try {
      const through = createKafkaClient({ 'bootstrap.servers': proxy.bootstrapServers }, recordingLogger().logger);
      const topic = await newTopic(fixture.client, 2);
      const producer = await fixture.start(uniqueName('txn'), {}, through);
      const expected: string[] = [];
      for (let round = 0; round < 6; round++) {
        producer.begin();
        const swallowed = round % 2 === 0 ? proxy.swallowAcknowledgements() : undefined;
        for (let number = 0; number < 10; number++) {
          const text = String(round * 10 + number);
          expected.push(text);
          void producer.send([record(topic, text, { partition: number % 2 })]);
        }
        await swallowed;
        proxy.pass();
        proxy.cut();
        const committing = producer.commit();
        await delay(round);
        proxy.cut();
        await committing;
      }
      assert.deepEqual(await fixture.read(topic, 'read_committed', 60, 2), expected.sort());
      assert.equal((await fixture.read(topic, 'read_uncommitted', 60, 2)).length, 60);
    } finally {
      await fixture.closeProducers();
      await proxy.close();
    }
  });

  it('fails as a whole when one record is refused, and continues after the abort', async () => {
    const topic = await newTopic(fixture.client, 1, { 'max.message.bytes': '2000' });
    const producer = await fixture.start(uniqueName('txn'));
    producer.begin();
    await producer.send([record(topic, 'good')]);
    await assert.rejects(producer.send([record(topic, 'x'.repeat(5000))]), /MESSAGE_TOO_LARGE/);
    await assert.rejects(producer.send([record(topic, 'after')]), /MESSAGE_TOO_LARGE/);
    await assert.rejects(producer.commit(), /MESSAGE_TOO_LARGE/);
    await producer.abort();
    producer.begin();
    await producer.send([record(topic, 'next')]);
    await producer.commit();
    assert.deepEqual(await fixture.read(topic, 'read_committed', 1), ['next']);
  });

  it('refuses a timeout that the brokers do not allow', async () => {
    await assert.rejects(
      fixture.start(uniqueName('txn'), { 'transaction.timeout.ms': '2000000000' }),
      /INVALID_TRANSACTION_TIMEOUT/,
    );
  });

  it('needs an id, and a transaction to send in', async () => {
    assert.throws(() => fixture.client.transactionalProducer(), /Missing required configuration "transactional.id"/);
    const producer = await fixture.start(uniqueName('txn'));
    await assert.rejects(producer.send([record('t', 'x')]), /Invalid operation in transaction state ready/);
  });

  it('is awaited by readers of a compacted topic to its end', async () => {
    const topic = uniqueName('followed');
    const seen: string[] = [];
    const compacted = fixture.client.compactedTopic({
      topic,
      property: 'offset.storage.topic',
      purpose: 'source connector offsets',
      partitions: 1,
      replicationFactor: 1,
      settings: {},
      onRecord: ({ value }) => void seen.push(String(value)),
    });
    await compacted.start();
    const [first, second] = [await fixture.start(uniqueName('txn')), await fixture.start(uniqueName('txn'))];
    first.begin();
    await first.send([record(topic, 'open', { key: Buffer.from('a') })]);
    second.begin();
    await second.send([record(topic, 'done', { key: Buffer.from('b') })]);
    await second.commit();
    let isRead = false;
    const reading = compacted.readToEnd().then(() => (isRead = true));
    await delay(300);
    assert.deepEqual([isRead, seen], [false, []]);
    await first.commit();
    await reading;
    assert.deepEqual(seen, ['open', 'done']);
    await compacted.stop();
  });
});
