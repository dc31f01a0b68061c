import type { TopicPartition } from '../../data/record.ts';
import { AnswerReader } from '../answer-reader.ts';

/**
 * The bytes that members of a consumer group exchange (org.apache.kafka.clients.consumer.internals.ConsumerProtocol):
 * 16-bit version, then length-prefixed strings and arrays, big-endian. Later versions append fields, so that every
 * version can be read as the oldest; written is version 0, which every Java consumer reads.
 */
const VERSION = 0;

/** What a member says of itself when it joins: version, topics, user data. */
export function encodeSubscription(topics: readonly string[]): Buffer {
  const parts = [int16(VERSION), int32(topics.length), ...topics.map(string), NO_USER_DATA];
  return Buffer.concat(parts);
}

export function decodeSubscription(bytes: Buffer): { readonly version: number; readonly topics: readonly string[] } {
  const reader = new AnswerReader(bytes, 'The subscription of a member of the group cannot be read');
  const version = reader.int16();
  return { version, topics: reader.list(() => reader.string()) };
}

/** What the leader deals out: version, partitions per topic, user data. */
export function encodeAssignment(partitions: readonly TopicPartition[]): Buffer {
  const byTopic = new Map<string, number[]>();
  for (const { topic, partition } of partitions) {
    const ids = byTopic.get(topic);
    if (ids === undefined) byTopic.set(topic, [partition]);
    else ids.push(partition);
  }
  const parts = [int16(VERSION), int32(byTopic.size)];
  for (const [topic, ids] of byTopic) parts.push(string(topic), int32(ids.length), ...ids.map(int32));
  return Buffer.concat([...parts, NO_USER_DATA]);
}

/** An empty answer is what a member gets that the leader left out: nothing assigned. */
export function decodeAssignment(bytes: Buffer): readonly TopicPartition[] {
  if (bytes.length === 0) return [];
  const reader = new AnswerReader(bytes, 'The assignment by the leader of the group cannot be read');
  reader.int16();
  return reader
    .list(() => {
      const topic = reader.string();
      return reader.list(() => ({ topic, partition: reader.int32() }));
    })
    .flat();
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([int16(bytes.length), bytes]);
}

const NO_USER_DATA = int32(-1);
