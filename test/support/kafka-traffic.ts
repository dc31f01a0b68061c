import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { ClientProperties, ConsumedRecord, KafkaClient, ProducedRecord } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { broker } from './services.ts';
import { TopicTally } from './topic-tally.ts';
import { PATIENCE, until } from './until.ts';

export interface TestMessage {
  readonly key?: string | Uint8Array;
  readonly value: string | Uint8Array | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly partition?: number;
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
}

/** Creates topics, and writes and reads messages and offsets of a broker, for tests. */
export class KafkaTraffic {
  readonly #client: KafkaClient;

  constructor(bootstrapServers: string) {
    this.#client = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, silentLogger);
  }

  /** Uses the shared broker. */
  static async shared(): Promise<KafkaTraffic> {
    return new KafkaTraffic((await broker()).bootstrapServers);
  }

  async createTopic(name: string, partitions = 1, settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const admin = this.#client.admin();
    await admin.createTopic({ name, partitions, replicationFactor: 1, settings });
    await admin.close();
  }

  /** Deletes a topic and creates an empty one with the same name. */
  async recreateTopic(name: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const admin = this.#client.admin();
    await admin.deleteTopics([name]);
    const created = (): Promise<boolean> => admin.createTopic({ name, partitions: 1, replicationFactor: 1, settings });
    await until(created, `${name} is created again`);
    await admin.close();
  }

  async produce(topic: string, messages: readonly TestMessage[]): Promise<void> {
    const producer = this.#client.producer();
    await producer.connect();
    for (let from = 0; from < messages.length; from += 2000) {
      await producer.send(messages.slice(from, from + 2000).map((message) => toRecord(topic, message)));
    }
    await producer.close();
  }

  /**
   * Reads a topic from its beginning until `enough` returns true; fails after `timeoutMs`. `properties` are those of
   * the consumer.
   */
  async read(
    topic: string,
    enough: (records: readonly ConsumedRecord[]) => boolean,
    timeoutMs = 30_000,
    properties: ClientProperties = {},
  ): Promise<readonly ConsumedRecord[]> {
    const admin = this.#client.admin();
    const partitions = await until(
      async () => (await admin.describeTopics([topic])).get(topic),
      `topic ${topic} exists`,
      { timeoutMs },
    );
    await admin.close();
    const consumer = this.#client.consumer({ 'auto.offset.reset': 'earliest', ...properties });
    consumer.assign(Array.from({ length: partitions }, (_, partition) => ({ topic, partition })));
    const records: ConsumedRecord[] = [];
    const deadline = Date.now() + timeoutMs * PATIENCE;
    try {
      while (!enough(records)) {
        if (Date.now() > deadline) throw new Error(`${topic} has only ${String(records.length)} records so far`);
        records.push(...(await consumer.poll(200)));
      }
    } finally {
      await consumer.close(1000);
    }
    return records;
  }

  /** Returns all records that are in a topic now. */
  async all(topic: string, properties: ClientProperties = {}): Promise<readonly ConsumedRecord[]> {
    const admin = this.#client.admin();
    const partitions = (await admin.describeTopics([topic])).get(topic) ?? 0;
    await admin.close();
    const consumer = this.#client.consumer({ 'auto.offset.reset': 'earliest', ...properties });
    const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }));
    consumer.assign(all);
    const records: ConsumedRecord[] = [];
    try {
      const ends = await consumer.endOffsets(all);
      while (ends.some((end) => (consumer.position(end) ?? 0) < end.offset)) records.push(...(await consumer.poll(20)));
    } finally {
      await consumer.close(1000);
    }
    return records;
  }

  /** Counts how often each number from 0 is in a topic, without keeping its records. */
  tally(
    topic: string,
    size: number,
    numberOf: (value: Buffer) => number,
    properties: ClientProperties = {},
  ): Promise<TopicTally> {
    return TopicTally.of(this.#client, topic, size, numberOf, properties);
  }

  async texts(topic: string, count: number, timeoutMs?: number): Promise<string[]> {
    const records = await this.read(topic, ({ length }) => length >= count, timeoutMs);
    return records.map(({ value }) => value?.toString() ?? '');
  }

  /** Returns the sum of the committed offsets of a group; 0 if it has none. */
  async committed(group: string): Promise<number> {
    const admin = this.#client.admin();
    try {
      return (await admin.groupOffsets(group)).reduce((sum, { offset }) => sum + Math.max(0, offset), 0);
    } finally {
      await admin.close();
    }
  }
}

function toRecord(topic: string, { key, value, headers = {}, partition, timestamp }: TestMessage): ProducedRecord {
  return {
    topic,
    partition: partition ?? null,
    key: key === undefined ? null : bytesOf(key),
    value: value === null ? null : bytesOf(value),
    timestamp: timestamp ?? null,
    headers: Object.entries(headers).map(([name, text]) => ({ key: name, value: bytesOf(text) })),
  };
}

function bytesOf(content: string | Uint8Array): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
}
