import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { KafkaClient, ProducedRecord } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import type { BenchServices } from './bench-services.ts';
import type { MessageOf } from './rows.ts';
import type { Stretch } from './stretch.ts';

const PARTITIONS = 4;
const MESSAGES_PER_SEND = 2000;

/** A topic with 4 partitions and one message per row. It is produced once and read by every run. */
export class RowTopic {
  readonly name: string;
  readonly #client: KafkaClient;

  private constructor(name: string, client: KafkaClient) {
    this.name = name;
    this.#client = client;
  }

  /** Produces the rows. They are generated while they are sent, so their number does not affect the memory. */
  static async produce(services: BenchServices, name: string, rows: number, messageOf: MessageOf): Promise<RowTopic> {
    const client = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger);
    const topic = new RowTopic(`${name}-${String(Date.now())}`, client);
    const admin = client.admin();
    await admin.createTopic({ name: topic.name, partitions: PARTITIONS, replicationFactor: 1, settings: {} });
    await admin.close();
    const producer = client.producer();
    await producer.connect();
    for (let from = 0; from < rows; from += MESSAGES_PER_SEND) {
      const records = Array.from({ length: Math.min(MESSAGES_PER_SEND, rows - from) }, (_, i) =>
        topic.record(from + i, messageOf),
      );
      await producer.send(records);
    }
    await producer.close();
    return topic;
  }

  /** Returns the message of row `id`, for the partition that all workloads use for this row. */
  record(id: number, messageOf: MessageOf): ProducedRecord {
    return {
      topic: this.name,
      partition: id % PARTITIONS,
      key: Buffer.from(String(id)),
      value: Buffer.from(messageOf(id) as string),
      timestamp: null,
      headers: [],
    };
  }

  /** Reads the whole topic without processing the records. */
  async consume(rows: number): Promise<Stretch> {
    const consumer = this.#client.consumer({ 'auto.offset.reset': 'earliest', 'max.poll.records': '5000' });
    consumer.assign(Array.from({ length: PARTITIONS }, (_, partition) => ({ topic: this.name, partition })));
    let first: { rows: number; atMs: number } | undefined;
    for (let count = 0; count < rows;) {
      count += (await consumer.poll(1000)).length;
      if (count > 0) first ??= { rows: count, atMs: performance.now() };
    }
    const toMs = performance.now();
    await consumer.close(1000);
    return { rows: rows - (first?.rows ?? 0), fromMs: first?.atMs ?? toMs, toMs };
  }

  async delete(): Promise<void> {
    const admin = this.#client.admin();
    await admin.deleteTopics([this.name]);
    await admin.close();
  }
}
