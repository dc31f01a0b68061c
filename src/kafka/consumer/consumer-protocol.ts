import type { TopicPartition } from '../../data/record.ts';
import { AnswerReader } from '../protocol/answer-reader.ts';
import { compare } from '../assignors/assignor.ts';
import { int16, int32, string, topicsOf, writeTopicPartitions } from '../assignors/member-bytes.ts';

/**
 * The bytes that members of a consumer group exchange (org.apache.kafka.clients.consumer.internals.ConsumerProtocol):
 * 16-bit version, then length-prefixed strings and arrays, big-endian. Later versions append fields, so that every
 * version can be read as an older one; written is version 3, as by Java.
 */
const VERSION = 3;
const WITH_OWNED = 1;
const WITH_GENERATION = 2;
const WITH_RACK = 3;

/** What a member says of itself when it joins. */
export interface Subscription {
  readonly topics: readonly string[];
  /** Of the assignor; `undefined`: none. */
  readonly userData: Buffer | undefined;
  /** What it holds while it joins. */
  readonly owned: readonly TopicPartition[];
  /** In which it got what it holds; `undefined`: not known. */
  readonly generationId: number | undefined;
  readonly rackId: string | undefined;
}

export function encodeSubscription({ topics, userData, owned, generationId, rackId }: Subscription): Buffer {
  const sorted = [...owned].sort((a, b) => compare(a.topic, b.topic) || a.partition - b.partition);
  return Buffer.concat([
    int16(VERSION),
    int32(topics.length),
    ...[...topics].sort(compare).map(string),
    ...(userData === undefined ? [NOTHING] : [int32(userData.length), userData]),
    ...writeTopicPartitions(topicsOf(sorted)),
    int32(generationId ?? -1),
    rackId === undefined ? int16(-1) : string(rackId),
  ]);
}

export function decodeSubscription(bytes: Buffer): Subscription & { readonly version: number } {
  const reader = new AnswerReader(bytes, 'The subscription of a member of the group cannot be read');
  const version = reader.int16();
  const topics = reader.list(() => reader.string());
  const userData = reader.nullableBytes();
  const owned = version >= WITH_OWNED ? readTopicPartitions(reader) : [];
  const generationId = version >= WITH_GENERATION ? reader.int32() : -1;
  const rackId = version >= WITH_RACK ? reader.nullableString() : '';
  return {
    version,
    topics,
    userData,
    owned,
    generationId: generationId < 0 ? undefined : generationId,
    rackId: rackId === '' ? undefined : rackId,
  };
}

/** What the leader deals out: version, partitions per topic, user data. */
export function encodeAssignment(partitions: readonly TopicPartition[]): Buffer {
  return Buffer.concat([int16(VERSION), ...writeTopicPartitions(topicsOf(partitions)), NOTHING]);
}

/** An empty answer is what a member gets that the leader left out: nothing assigned. */
export function decodeAssignment(bytes: Buffer): readonly TopicPartition[] {
  if (bytes.length === 0) return [];
  const reader = new AnswerReader(bytes, 'The assignment by the leader of the group cannot be read');
  reader.int16();
  return readTopicPartitions(reader);
}

function readTopicPartitions(reader: AnswerReader): readonly TopicPartition[] {
  return reader
    .list(() => {
      const topic = reader.string();
      return reader.list(() => ({ topic, partition: reader.int32() }));
    })
    .flat();
}

const NOTHING = int32(-1);
