import type { ClientProperties, KafkaClient, TransactionalProducer } from '../../src/kafka/api.ts';
import { partitionsOf, pollUntil, sharedClient, values } from './kafka-fixture.ts';

/** Transactional producers on the shared broker; `closeProducers` in an afterEach hook. */
export class TransactionsFixture {
  readonly client: KafkaClient;
  readonly #open: TransactionalProducer[] = [];

  private constructor(client: KafkaClient) {
    this.client = client;
  }

  static async create(): Promise<TransactionsFixture> {
    return new TransactionsFixture(await sharedClient());
  }

  async start(id: string, properties: ClientProperties = {}, from = this.client): Promise<TransactionalProducer> {
    const producer = from.transactionalProducer({ 'transactional.id': id, ...properties });
    this.#open.push(producer);
    await producer.connect();
    await producer.init();
    return producer;
  }

  async closeProducers(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((producer) => producer.close(0)));
  }

  /** The values that a reader receives once `count` of them are there. */
  async read(topic: string, isolation: string, count: number, partitions = 1): Promise<(string | null)[]> {
    const consumer = this.client.consumer({ 'auto.offset.reset': 'earliest', 'isolation.level': isolation });
    consumer.assign(partitionsOf(topic, partitions));
    try {
      const records = await pollUntil(consumer, (got) => got.length >= count);
      records.push(...(await consumer.poll(200)));
      return values(records).sort();
    } finally {
      await consumer.close(1000);
    }
  }
}
