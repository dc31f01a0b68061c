import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LocalKafka } from '../../src/dev/kafka.ts';
import { ownBroker } from '../support/services.ts';
import { loggedClient, newTopic, record, values } from './kafka-fixture.ts';

describe('an outage of the broker', function () {
  let kafka: LocalKafka;

  before(async () => (kafka = await ownBroker()));
  after(() => kafka.discard());

  it('of the frozen kind is noticed by the request timeout', async () => {
    const { client } = loggedClient(kafka.bootstrapServers, { 'request.timeout.ms': '1000' });
    const topic = await newTopic(client);
    const producer = client.producer();
    await producer.send([record(topic, 'before')]);
    const { pid } = kafka;
    assert.ok(pid !== undefined);
    process.kill(pid, 'SIGSTOP');
    const sending = producer.send([record(topic, 'during')]);
    await delay(2500);
    process.kill(pid, 'SIGCONT');
    await sending;
    await producer.close();
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign([{ topic, partition: 0 }]);
    const seen: (string | null)[] = [];
    while (!seen.includes('during')) seen.push(...values(await consumer.poll(1000)));
    assert.equal(seen[0], 'before');
    await consumer.close(1000);
  });
});
