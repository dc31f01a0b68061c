import type { TopicPartition } from '../../data/record.ts';
import { ResponseReader } from '../protocol/response-reader.ts';
import { compare } from '../assignors/assignor.ts';
import { int16, int32, string, topicsOf, writeTopicPartitions } from '../assignors/consumer-protocol-fields.ts';

/**
 * Serialization of subscriptions and assignments of a consumer group
 * (org.apache.kafka.clients.consumer.internals.ConsumerProtocol). The layout is a 16-bit version, then length-prefixed strings
 * and arrays, big-endian. Later versions append fields, so each version can be read as an older one. Version 3 is written, as
 * in the Java client.
 */
const VERSION = 3;
const WITH_OWNED = 1;
const WITH_GENERATION = 2;
const WITH_RACK = 3;

export interface Subscription {
  readonly topics: readonly string[];
  /** User data of the assignor. */
  readonly userData: Buffer | undefined;
  readonly owned: readonly TopicPartition[];
  /** Generation in which `owned` was assigned; `undefined` if unknown. */
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
  const reader = new ResponseReader(bytes, 'Cannot parse the subscription of a group member');
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

/** Layout: version, partitions per topic, user data. */
export function encodeAssignment(partitions: readonly TopicPartition[]): Buffer {
  return Buffer.concat([int16(VERSION), ...writeTopicPartitions(topicsOf(partitions)), NOTHING]);
}

/** Parses an assignment. Members without an assignment receive zero bytes, which are parsed as an empty list. */
export function decodeAssignment(bytes: Buffer): readonly TopicPartition[] {
  if (bytes.length === 0) return [];
  const reader = new ResponseReader(bytes, 'Cannot parse the assignment of the group leader');
  reader.int16();
  return readTopicPartitions(reader);
}

function readTopicPartitions(reader: ResponseReader): readonly TopicPartition[] {
  return reader
    .list(() => {
      const topic = reader.string();
      return reader.list(() => ({ topic, partition: reader.int32() }));
    })
    .flat();
}

const NOTHING = int32(-1);
