import type { SinkRecord, TopicPartition } from './record.ts';
import type { Schema } from './schema.ts';
import type { ConnectValue } from './value.ts';

/**
 * Consecutive records of one partition, as places in the bytes that they came in: nothing is made per record until it is
 * asked for. All lists have an entry per record.
 */
export interface MessageBlock extends TopicPartition {
  readonly bytes: Buffer;
  readonly count: number;
  readonly offsets: ArrayLike<number>;
  /** Milliseconds since the epoch; -1 when the record has none. */
  readonly timestamps: ArrayLike<number>;
  readonly valueStarts: ArrayLike<number>;
  /** Behind the last byte; before the start where there is no value. */
  readonly valueEnds: ArrayLike<number>;
}

/**
 * Told of a struct of a block: its schema, its values in the order of the schema's fields, and which record it is. The array is
 * used again for the next one; an int64 is a number in it where that is exact. False: the record must be made after all.
 */
export type TakeStruct = (schema: Schema, values: readonly ConnectValue[], index: number) => boolean;

/** A block on its way into a sink task. */
export interface SinkRecordBlock extends MessageBlock {
  /** Values are messages as they are: bytes, or UTF-8 text. */
  readonly passesMessages: boolean;
  /**
   * Hands out structs from `from` on without making records, as long as the value converter can read them where they lie and
   * `take` takes them; gives the index of the first that was not taken, or `to`.
   */
  readStructs(from: number, to: number, take: TakeStruct): number;
  /** One record of its own; `undefined`: it cannot be converted, and the error policy let it go. */
  sinkRecord(index: number): SinkRecord | undefined | Promise<SinkRecord | undefined>;
}
