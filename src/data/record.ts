import type { Schema } from './schema.ts';
import type { ConnectValue } from './value.ts';

/** A topic and a partition of it. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** One string for a topic and partition, for use as a map key; topic names cannot hold a `/`. */
export function topicPartitionKey(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}

export interface Header {
  readonly key: string;
  readonly schema: Schema | null;
  readonly value: ConnectValue;
}

/** What a transform sees and returns (org.apache.kafka.connect.connector.ConnectRecord). */
export interface ConnectRecord {
  readonly topic: string;
  /** `null`: the producer's partitioner decides (source records only). */
  readonly partition: number | null;
  readonly keySchema: Schema | null;
  readonly key: ConnectValue;
  readonly valueSchema: Schema | null;
  readonly value: ConnectValue;
  /** Milliseconds since the epoch. */
  readonly timestamp: number | null;
  readonly headers: readonly Header[];
}

export interface SinkRecord extends ConnectRecord {
  readonly partition: number;
  /** Kafka offsets stay below 2^53 in practice (kafkajs gives text; the consumer checks when it converts). */
  readonly offset: number;
  readonly timestampType: 'CreateTime' | 'LogAppendTime' | 'NoTimestampType';
  /** Coordinates before transforms, which commits and dead letters speak of. */
  readonly original: { readonly topic: string; readonly partition: number; readonly offset: number };
}

/** A flat map of primitives (Connect's rule for source partitions and offsets). 64-bit integers are bigint. */
export type SourceCoordinates = Readonly<Record<string, string | number | bigint | boolean | null>>;

export interface SourceRecord extends ConnectRecord {
  readonly sourcePartition: SourceCoordinates;
  readonly sourceOffset: SourceCoordinates;
}
