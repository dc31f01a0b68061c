import type { TopicPartition } from '../../data/record.ts';

/** Encodes fields of the ConsumerProtocol. Numbers are big-endian; strings and arrays are length-prefixed. */

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([int16(bytes.length), bytes]);
}

/** Groups partitions by topic, in order of first occurrence. */
export function topicsOf(partitions: readonly TopicPartition[]): Map<string, number[]> {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of partitions) {
    const ids = topics.get(topic);
    if (ids === undefined) topics.set(topic, [partition]);
    else ids.push(partition);
  }
  return topics;
}

export function writeTopicPartitions(topics: ReadonlyMap<string, readonly number[]>): readonly Buffer[] {
  const parts = [int32(topics.size)];
  for (const [topic, ids] of topics) parts.push(string(topic), int32(ids.length), ...ids.map(int32));
  return parts;
}
