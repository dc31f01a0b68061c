import type { SinkRecord, TopicPartition } from './record.ts';
import type { Schema } from './schema.ts';
import type { ConnectValue } from './value.ts';

/**
 * Records of one partition in the order of their offsets, as positions in the bytes that the broker sent. Objects for
 * records are created only on request. All lists have one entry per record.
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
 * @param values the values in the order of the schema's fields. The array is reused for the next struct; an int64 is a
 * number if a number represents it exactly
 * @param index the index of the record in the block
 * @returns `false` if a record has to be created for the struct
 */
export type TakeStruct = (schema: Schema, values: readonly ConnectValue[], index: number) => boolean;

/** The members, except the value, of the record that contains a struct. They may be read only during the call. */
export interface StructRecord {
  /** May differ from the block's topic, because transforms can change it. */
  readonly topic: string;
  /** Returns `undefined` if the key cannot be read without creating the record. */
  key(): { readonly schema: Schema | null; readonly value: ConnectValue } | undefined;
}

/** Like `TakeStruct`, but called with the result of the transforms. */
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
  /**
   * True if neither the converter nor transforms change values. The task may then read the bytes of a value directly,
   * or decode them as UTF-8 text.
   */
  readonly passesMessages: boolean;
  /**
   * Calls `take` with the structs from index `from` to `to` (exclusive), without creating records. Stops at a struct
   * that the value converter cannot read, that the transforms have no plan for, or that `take` does not accept.
   * @returns the index of the first struct that was not accepted, or `to`
   */
  readStructs(from: number, to: number, take: TakeRecord): number;
  /**
   * Creates one record; `undefined` if a transform drops it, or if it cannot be converted and the error policy skips
   * it.
   */
  sinkRecord(index: number): SinkRecord | undefined | Promise<SinkRecord | undefined>;
}
