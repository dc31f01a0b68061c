import assert from 'node:assert/strict';
import type { KafkaClient } from '../../src/kafka/api.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { record, sharedClient } from './kafka-fixture.ts';
import { SinkFixture } from './sink-fixture.ts';

const MIB = 1024 * 1024;

describe('messages that unpack large (S1, S6)', function () {
  let client: KafkaClient;
  let fixture: SinkFixture;

  before(async () => {
    [client, fixture] = await Promise.all([sharedClient(), SinkFixture.create('large', { 'task.threads': '1' })]);
  });
  after(() => fixture.close());

  /** A batch for each value, which the broker compresses to some 60 kB or less. */
  async function topicOf(codec: string, values: Iterable<Buffer>): Promise<string> {
    const topic = uniqueName('large').replaceAll('-', '_');
    const maxBytes = String(128 * MIB);
    await fixture.kafka.createTopic(topic, 1, { 'compression.type': codec, 'max.message.bytes': maxBytes });
    const producer = client.producer({ 'max.request.size': maxBytes, 'buffer.memory': String(512 * MIB) });
    for (const value of values) await producer.send([record(topic, null, { partition: 0, value })]);
    await producer.close();
    return topic;
  }

  const row = (id: number, bytes: number): Buffer => Buffer.from(JSON.stringify({ id, text: 'x'.repeat(bytes) }));

  for (const codec of ['gzip', 'snappy', 'lz4', 'zstd']) {
    it(`fail the task that reads a batch above the limit, with its place, and let it stop: ${codec}`, async () => {
      const topic = await topicOf(codec, [row(0, 10), row(1, 65 * MIB), row(2, 10)]);
      const name = await fixture.start(topic, { 'protocol.type': 'json_db', 'errors.tolerance': 'all' });
      const trace = await fixture.traceOf(name);
      assert.match(trace, /partition 0, offset 1: the \w+ batch of offsets 1 to 1 cannot be unpacked/);
      await fixture.sluice.rest.put(`/connectors/${name}/stop`);
      await until(async () => (await fixture.sluice.rest.status(name)).tasks.length === 0, 'the task has stopped');
    });
  }
});
