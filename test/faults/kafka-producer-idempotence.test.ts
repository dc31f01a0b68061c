import assert from 'node:assert/strict';
import type { LocalKafka } from '../../src/dev/kafka.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { ownBroker } from '../support/services.ts';
import { newTopic, recordingLogger } from '../integration/kafka-fixture.ts';
import { numbers, sendEach, stored } from '../integration/kafka-producer-fixture.ts';

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
