import assert from 'node:assert/strict';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { record, sharedClient } from './kafka-fixture.ts';
import { SinkFixture } from './sink-fixture.ts';

export const MIB = 1024 * 1024;

/** Sinks in one thread, and topics whose batches the broker compresses. */
export class LargeMessagesFixture extends SinkFixture {
  static override async create(): Promise<LargeMessagesFixture> {
    return new LargeMessagesFixture('large', await SinkFixture.services('large', { 'task.threads': '1' }));
  }

  /** A batch for each value, which the broker compresses to some 60 kB or less. */
  async compressedTopicOf(codec: string, values: Iterable<Buffer>): Promise<string> {
    const topic = uniqueName('large').replaceAll('-', '_');
    const maxBytes = String(128 * MIB);
    await this.kafka.createTopic(topic, 1, { 'compression.type': codec, 'max.message.bytes': maxBytes });
    const client = await sharedClient();
    const producer = client.producer({ 'max.request.size': maxBytes, 'buffer.memory': String(512 * MIB) });
    for (const value of values) await producer.send([record(topic, null, { partition: 0, value })]);
    await producer.close();
    return topic;
  }

  /** Asserts that a batch above the limit fails its task, which names the place of the batch and can be stopped. */
  async failsAboveLimit(codec: string): Promise<void> {
    const row = (id: number, bytes: number): Buffer => Buffer.from(JSON.stringify({ id, text: 'x'.repeat(bytes) }));
    const topic = await this.compressedTopicOf(codec, [row(0, 10), row(1, 65 * MIB), row(2, 10)]);
    const name = await this.start(topic, { 'protocol.type': 'json_db', 'errors.tolerance': 'all' });
    assert.match(
      await this.traceOf(name),
      /partition 0, offset 1: the \w+ batch of offsets 1 to 1 cannot be decompressed/,
    );
    await this.sluice.rest.put(`/connectors/${name}/stop`);
    await until(async () => (await this.sluice.rest.status(name)).tasks.length === 0, 'the task has stopped');
  }
}
