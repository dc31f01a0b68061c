import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { broker } from '../support/services.ts';
import { newTopic, partitionsOf, pollUntil, record, recordingLogger, sharedClient, values } from './kafka-fixture.ts';
import { numbers, sendEach, stored } from './kafka-producer-fixture.ts';

const PRODUCE = 0;

describe('an idempotent producer', function () {
  let direct: KafkaClient;
  let proxy: KafkaProxy;

  before(async () => {
    direct = await sharedClient();
  });
  beforeEach(async () => {
    proxy = await KafkaProxy.start((await broker()).bootstrapServers);
  });
  afterEach(() => proxy.close());

  const through = (properties: ClientProperties = {}): KafkaClient =>
    createKafkaClient({ 'bootstrap.servers': proxy.bootstrapServers, ...properties }, recordingLogger().logger);

  it('is the default of every producer', async () => {
    const topic = await newTopic(direct);
    const initProducerId = 22;
    const asked = () => proxy.seen.filter(({ apiKey }) => apiKey === initProducerId).length;
    for (const [properties, isIdempotent] of [
      [{}, true],
      [{ 'enable.idempotence': 'false' }, false],
      [{ acks: '1' }, false],
      [{ retries: '0' }, false],
    ] as const) {
      const before = asked();
      const producer = through().producer(properties);
      await producer.send([record(topic, 'x')]);
      await producer.close();
      assert.equal(asked() > before, isIdempotent, JSON.stringify(properties));
    }
  });

  it('keeps the order when its first batch is refused for its size and the next ones are in flight', async () => {
    const topic = await newTopic(direct, 1, { 'max.message.bytes': '100000' });
    const producer = direct.producer();
    const large = numbers(0, 4).map((text) => record(topic, text.padEnd(90_000)));
    await Promise.all([producer.send(large), sendEach(producer, topic, numbers(4, 40))]);
    await producer.close();
    const texts = (await stored(direct, topic, 40)).map((text) => text?.trim());
    assert.deepEqual(texts, numbers(0, 40));
  });

  it('refuses settings that exclude each other with Java’s texts', () => {
    const refused = (properties: ClientProperties): string => {
      try {
        through().producer(properties);
      } catch (error) {
        return (error as Error).message;
      }
      return 'nothing';
    };
    assert.equal(
      refused({ acks: '1', 'enable.idempotence': 'true' }),
      'Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.',
    );
    assert.equal(
      refused({ retries: '0', 'enable.idempotence': 'true' }),
      'Must set retries to non-zero when using the idempotent producer.',
    );
    assert.equal(
      refused({ 'max.in.flight.requests.per.connection': '6' }),
      'To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. Current value is 6.',
    );
    assert.equal(
      refused({ 'transactional.id': 'x', 'enable.idempotence': 'false' }),
      'Cannot set a transactional.id without also enabling idempotence.',
    );
  });

  it('stores each record once, in order, when connections break between storing and acknowledging', async () => {
    const topic = await newTopic(direct);
    const producer = through().producer();
    await producer.send([record(topic, '0')]);
    for (let round = 0; round < 4; round++) {
      const swallowed = proxy.swallowAcknowledgements();
      const sending = sendEach(producer, topic, numbers(1 + round * 20, 21 + round * 20));
      await swallowed;
      proxy.pass();
      proxy.cut();
      await sending;
    }
    await producer.close();
    assert.deepEqual(await stored(direct, topic, 81), numbers(0, 81));
  });

  it('has up to five requests in flight to a broker, or as many as its configuration says', async () => {
    for (const [limit, expected] of [
      ['5', 5],
      ['2', 2],
    ] as const) {
      const topic = await newTopic(direct);
      const producer = through().producer({ 'max.in.flight.requests.per.connection': limit });
      await producer.send([record(topic, '0')]);
      const requests = () => proxy.seen.filter(({ apiKey }) => apiKey === PRODUCE).length;
      const before = requests();
      const swallowed = proxy.swallowAcknowledgements();
      const sending = sendEach(producer, topic, numbers(1, 30));
      await swallowed;
      await delay(200);
      assert.equal(requests() - before, expected);
      proxy.pass();
      proxy.cut();
      await sending;
      await producer.close();
      assert.deepEqual(await stored(direct, topic, 30), numbers(0, 30));
    }
  });

  it('continues in the next epoch after a batch was abandoned, and after one that was refused', async () => {
    const topic = await newTopic(direct, 1, { 'max.message.bytes': '2000' });
    const producer = through({ 'request.timeout.ms': '300' }).producer({ 'delivery.timeout.ms': '800' });
    await producer.send([record(topic, '0')]);
    const sends = [
      producer.send([record(topic, '1')]),
      producer.send([record(topic, 'x'.repeat(5000))]),
      ...numbers(2, 10).map((text) => producer.send([record(topic, text)])),
    ];
    const outcomes = await Promise.allSettled(sends);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', ...Array<string>(8).fill('fulfilled')],
    );
    void proxy.swallowAcknowledgements();
    await assert.rejects(producer.send([record(topic, 'lost')]), /Expiring 1 record\(s\) for .*: 800 ms has passed/);
    proxy.pass();
    await sendEach(producer, topic, numbers(10, 20));
    await producer.close();
    const seen = await stored(direct, topic, 20);
    assert.deepEqual(
      seen.filter((value) => value !== 'lost'),
      numbers(0, 20),
    );
    assert.ok(seen.filter((value) => value === 'lost').length <= 1);
  });

  it('reports the abandoned records of a call, and delivers the others', async () => {
    const topic = await newTopic(direct, 2, { 'max.message.bytes': '2000' });
    const producer = direct.producer({ 'max.request.size': '9000' });
    const failures = await producer.trySend([
      record(topic, 'a'),
      record(topic, 'x'.repeat(5000), { partition: 0 }),
      record(topic, 'b'),
      record(topic, 'y'.repeat(10_000)),
      record(topic, 'c', { partition: 7 }),
    ]);
    await producer.close();
    const told = failures.flatMap(({ records, error }) =>
      records.map(({ value }) => [Buffer.from(value ?? '').toString('utf8', 0, 1), error.message] as const),
    );
    assert.deepEqual(told.map(([first]) => first).sort(), ['c', 'x', 'y']);
    assert.match(new Map(told).get('x') ?? '', /MESSAGE_TOO_LARGE/);
    assert.match(new Map(told).get('y') ?? '', /larger than 9000, which is the value of the max.request.size/);
    assert.match(new Map(told).get('c') ?? '', /7 is not in the range/);
    const consumer = direct.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign(partitionsOf(topic, 2));
    assert.deepEqual(values(await pollUntil(consumer, (got) => got.length >= 2)).sort(), ['a', 'b']);
    await consumer.close(1000);
  });

  it('does not wait longer than its time limit when it is closed while the broker is unreachable', async () => {
    const topic = await newTopic(direct);
    const producer = through().producer();
    await producer.send([record(topic, '0')]);
    void proxy.swallowAcknowledgements();
    const sending = assert.rejects(producer.send([record(topic, '1')]), /The producer has been closed/);
    const startedAt = Date.now();
    await producer.close(200);
    assert.ok(Date.now() - startedAt < 10_000);
    await sending;
  });
});
