import type { KafkaClient, Producer } from '../../src/kafka/api.ts';
import { partitionsOf, pollUntil, record, values } from './kafka-fixture.ts';

/** The numbers of a range as texts, without `to`. */
export function numbers(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_none, index) => String(from + index));
}

/** One call each, all at once. */
export function sendEach(producer: Producer, topic: string, texts: readonly string[]): Promise<void[]> {
  return Promise.all(texts.map((text) => producer.send([record(topic, text)])));
}

/** The values of the records of a topic, once `count` of them are there. */
export async function stored(client: KafkaClient, topic: string, count: number): Promise<(string | null)[]> {
  const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
  consumer.assign(partitionsOf(topic, 1));
  const records = await pollUntil(consumer, (got) => got.length >= count);
  records.push(...(await consumer.poll(300)));
  await consumer.close(1000);
  return values(records);
}
