import type { SinkRecord, TopicPartition } from './record.ts';
import type { Schema } from './schema.ts';
import type { ConnectValue } from './value.ts';

/**
 * Consecutive records of one partition, as positions in the bytes that the broker sent: an object is made for a record only on
 * request. All lists have one entry for each record.
 */
export interface MessageBlock extends TopicPartition {
  readonly bytes: Buffer;
  readonly count: number;
  readonly offsets: ArrayLike<number>;
  /** Milliseconds since the epoch; -1 when the record has none. */
  readonly timestamps: ArrayLike<number>;
  readonly valueStarts: ArrayLike<number>;
  /** The position after the last byte; before the start if the record has no value. */
  readonly valueEnds: ArrayLike<number>;
}

/**
 * Called with a struct of a block.
 * @param values in the order of the schema's fields. The array is used again for the next struct; an int64 is a number if it is exact
 * @param index of the record in the block
 * @returns `false` if a record has to be created for it
 */
export type TakeStruct = (schema: Schema, values: readonly ConnectValue[], index: number) => boolean;

/** The members of a struct's record in addition to its value, which may only be read during the call. */
export interface StructRecord {
  /** May differ from the block's topic, because transforms can change it. */
  readonly topic: string;
  /** `undefined` if a record must be created to know it. */
  key(): { readonly schema: Schema | null; readonly value: ConnectValue } | undefined;
}

/** As `TakeStruct`, with the result of the transforms. */
export type TakeRecord = (
  schema: Schema,
  values: readonly ConnectValue[],
  index: number,
  record: StructRecord,
) => boolean;

/** A block for `SinkTask.putBlock`. */
export interface SinkRecordBlock {
  /** The messages as they were read, before transforms. */
  readonly messages: MessageBlock;
  /** Neither the converter nor transforms change values: they are the bytes, or the bytes as UTF-8 text. */
  readonly passesMessages: boolean;
  /**
   * Calls `take` with the structs from index `from` on, without making records, as long as the value converter can read them,
   * the transforms are planned by their schemas, and `take` accepts them.
   * @returns the index of the first one that was not accepted, or `to`
   */
  readStructs(from: number, to: number, take: TakeRecord): number;
  /** Makes one record; `undefined` if a transform drops it, or if it cannot be converted and the error policy skips it. */
  sinkRecord(index: number): SinkRecord | undefined | Promise<SinkRecord | undefined>;
}
