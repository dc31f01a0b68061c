import assert from 'node:assert/strict';
import type { LocalKafka } from '../../src/dev/kafka.ts';
import type { KafkaClient, Producer } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { ownBroker } from '../support/services.ts';
import { newTopic, partitionsOf, pollUntil, record, recordingLogger, values } from '../integration/kafka-fixture.ts';

function numbers(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_none, index) => String(from + index));
}

/** One call each, all at once. */
function sendEach(producer: Producer, topic: string, texts: readonly string[]): Promise<void[]> {
  return Promise.all(texts.map((text) => producer.send([record(topic, text)])));
}

async function stored(client: KafkaClient, topic: string, count: number): Promise<(string | null)[]> {
  const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
  consumer.assign(partitionsOf(topic, 1));
  const records = await pollUntil(consumer, (got) => got.length >= count);
  records.push(...(await consumer.poll(300)));
  await consumer.close(1000);
  return values(records);
}

describe('an idempotent producer', () => {
  it('stores each record once when the broker is killed before it acknowledges', async () => {
    const kafka: LocalKafka = await ownBroker();
    const front = await KafkaProxy.start(kafka.bootstrapServers);
    try {
      const client = createKafkaClient({ 'bootstrap.servers': kafka.bootstrapServers }, recordingLogger().logger);
      const topic = await newTopic(client);
      const proxied = createKafkaClient({ 'bootstrap.servers': front.bootstrapServers }, recordingLogger().logger);
      // A broker that was killed remembers the last batch of a producer alone.
      const producer = proxied.producer({ 'max.in.flight.requests.per.connection': '1' });
      await sendEach(producer, topic, numbers(0, 10));
      const swallowed = front.swallowAcknowledgements();
      const sending = sendEach(producer, topic, numbers(10, 60));
      await swallowed;
      await kafka.kill();
      front.pass();
      await kafka.start();
      await sending;
      await producer.close();
      assert.deepEqual(await stored(client, topic, 60), numbers(0, 60));
    } finally {
      await front.close();
      await kafka.discard();
    }
  });
});
