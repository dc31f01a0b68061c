import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LocalKafka } from '../../src/dev/kafka.ts';
import type { ConsumedRecord } from '../../src/kafka/api.ts';
import { ownBroker } from '../support/services.ts';
import { until } from '../support/until.ts';
import { loggedClient, newTopic, rebalanceLog, record, values } from '../integration/kafka-fixture.ts';

const OUTAGE_MS = 3000;

describe('an outage of the broker', function () {
  let kafka: LocalKafka;

  before(async () => (kafka = await ownBroker()));
  after(() => kafka.discard());

  const kinds = {
    'an orderly stop': () => kafka.stop(),
    'a kill': () => kafka.kill(),
  };
  for (const [kind, end] of Object.entries(kinds)) {
    it(`${kind} loses no record, causes no rebalance, and logs one line per client`, async () => {
      const { client, lines } = loggedClient(kafka.bootstrapServers);
      const topic = await newTopic(client, 2);
      const consumer = client.consumer({ 'group.id': topic, 'auto.offset.reset': 'earliest' });
      const log = rebalanceLog();
      consumer.subscribe([topic], log);
      const seen: ConsumedRecord[] = [];
      let running = true;
      const reading = (async () => {
        while (running) seen.push(...(await consumer.poll(100)));
      })();
      // Without idempotence a record whose acknowledgement is lost with the broker is sent again.
      const producer = client.producer({ 'enable.idempotence': 'true' });
      await producer.connect();
      let sent = 0;
      const writing = (async () => {
        while (running) {
          await producer.send([record(topic, String(sent), { partition: sent % 2 })]);
          sent += 1;
          await delay(5);
        }
      })();
      await until(() => seen.length > 50, 'records flow');
      lines.splice(0);
      await end();
      const committing = consumer.commit([{ topic, partition: 0, offset: 10 }]);
      await delay(OUTAGE_MS);
      const before = sent;
      await kafka.start();
      await until(() => sent > before + 50, 'the producer continues');
      await committing;
      running = false;
      await writing;
      await reading;
      while (seen.length < sent) seen.push(...(await consumer.poll(1000)));
      assert.deepEqual(
        values(seen)
          .map(Number)
          .sort((a, b) => a - b),
        Array.from({ length: sent }, (_none, index) => index),
      );
      assert.deepEqual(await consumer.committed([{ topic, partition: 0 }]), [{ topic, partition: 0, offset: 10 }]);
      assert.deepEqual(log.events, ['onAssigned 0,1']);
      await Promise.all([consumer.close(5000), producer.close()]);
      const noted = lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);
      assert.deepEqual(noted, Array(2).fill('Broker is unreachable; reconnecting'));
      const back = lines.filter(({ msg }) => msg === 'Broker is reachable again');
      assert.equal(back.length, 2);
    });
  }

  it('is survived by a compacted topic that is being followed', async () => {
    const { client } = loggedClient(kafka.bootstrapServers);
    const seen: string[] = [];
    const topic = client.compactedTopic({
      topic: 'followed',
      property: 'config.storage.topic',
      purpose: 'connector configurations',
      partitions: 1,
      replicationFactor: 1,
      settings: {},
      onRecord: ({ value }) => {
        seen.push(String(value));
      },
    });
    await topic.start();
    await topic.send('k', Buffer.from('1'));
    await topic.readToEnd();
    await kafka.kill();
    const sending = topic.send('k', Buffer.from('2'));
    await delay(500);
    const reading = topic.readToEnd();
    await kafka.start();
    await Promise.all([sending, reading]);
    await topic.readToEnd();
    assert.deepEqual(seen, ['1', '2']);
    await topic.stop();
  });

  it('is reported to callers with a time limit: a poll returns nothing, other calls fail with the reason', async () => {
    const { client } = loggedClient(kafka.bootstrapServers, {
      'default.api.timeout.ms': '1000',
      'delivery.timeout.ms': '1500',
    });
    const topic = await newTopic(client);
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
    const producer = client.producer();
    await producer.send([record(topic, 'x')]);
    consumer.assign([{ topic, partition: 0 }]);
    await until(async () => (await consumer.poll(100)).length > 0, 'the consumer reads');
    await kafka.stop();
    const startedAt = Date.now();
    assert.deepEqual(await consumer.poll(300), []);
    assert.ok(Date.now() - startedAt < 5000);
    await assert.rejects(
      consumer.endOffsets([{ topic, partition: 0 }]),
      /Reading end offsets did not succeed within 1000 ms: (Broker|No broker)/,
    );
    await assert.rejects(
      producer.send([record(topic, 'y')]),
      /Expiring 1 record\(s\) for kafka-room-\w+-0: 1500 ms has passed since batch creation \(Broker 127\.0\.0\.1/,
    );
    const closedAt = Date.now();
    await Promise.all([consumer.close(60_000), producer.close()]);
    assert.ok(Date.now() - closedAt < 10_000);
    await kafka.start();
  });
});
