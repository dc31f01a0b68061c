import type { SinkRecord, TopicPartition } from './record.ts';

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

/** A block on its way into a sink task. */
export interface SinkRecordBlock extends MessageBlock {
  /** One record of its own; `undefined`: it cannot be converted, and the error policy let it go. */
  sinkRecord(index: number): SinkRecord | undefined | Promise<SinkRecord | undefined>;
}
