import { uniqueName } from '../support/services.ts';
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
}
