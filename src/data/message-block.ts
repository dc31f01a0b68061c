import type { TopicPartition } from './record.ts';

/**
 * Consecutive records of one partition, as places in the bytes that they came in: nothing is made per record until it is
 * asked for. All lists have one entry per record.
 */
export interface MessageBlock extends TopicPartition {
  readonly bytes: Buffer;
  readonly count: number;
  readonly offsets: readonly number[];
  /** Milliseconds since the epoch; -1 when the record has none. */
  readonly timestamps: readonly number[];
  readonly valueStarts: readonly number[];
  /** Behind the last byte; before the start where there is no value. */
  readonly valueEnds: readonly number[];
}
