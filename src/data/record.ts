import type { Schema } from './schema.ts';
import type { ConnectValue } from './value.ts';

/** A topic and a partition of it. */
export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Returns `topic/partition`, the key of a partition in maps, such as the one that `SinkTask.preCommit` gets. */
export function topicPartitionKey(topic: string, partition: number): string {
  return `${topic}/${String(partition)}`;
}

/** Returns `topic-partition`, as Kafka's tools and logs print it. */
export function topicPartitionText({ topic, partition }: TopicPartition): string {
  return `${topic}-${String(partition)}`;
}

/** The coordinates of a record in Kafka. */
export interface RecordPlace extends TopicPartition {
  readonly offset: number;
}

/** A header of a record; a key can occur more than once. */
export interface Header {
  readonly key: string;
  readonly schema: Schema | null;
  readonly value: ConnectValue;
}

/**
 * A record as transforms receive and return it (org.apache.kafka.connect.connector.ConnectRecord). Records are never
 * changed in place.
 */
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

/** A record that was read from a topic. */
export interface SinkRecord extends ConnectRecord {
  readonly partition: number;
  /**
   * A number, because Kafka offsets stay below 2^53 in practice. The consumer rejects record batches with higher offsets.
   */
  readonly offset: number;
  readonly timestampType: 'CreateTime' | 'LogAppendTime' | 'NoTimestampType';
  /**
   * Topic, partition and offset before transforms. In a replay of dead-letter records, the coordinates of the record
   * that originally failed.
   */
  readonly original: RecordPlace;
  /**
   * The coordinates from which the task read the record; offsets and failures refer to them. In a replay of dead-letter
   * records, the coordinates of the dead-letter record.
   */
  readonly consumed: RecordPlace;
}

/** A flat map of primitives (Connect's rule for source partitions and offsets). 64-bit integers are bigint. */
export type SourceCoordinates = Readonly<Record<string, string | number | bigint | boolean | null>>;

/** A record that a source task returns from `poll`. */
export interface SourceRecord extends ConnectRecord {
  /** The origin of the record (a table, a file); offsets are stored per origin. */
  readonly sourcePartition: SourceCoordinates;
  /** How far the source partition has been read when this record is stored. */
  readonly sourceOffset: SourceCoordinates;
}
