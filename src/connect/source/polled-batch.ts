import { PackedRecords } from '../../data/packed-records.ts';
import { SluiceError } from '../../errors.ts';
import type { ProducedRecord, SendFailure } from '../../kafka/api.ts';
import type { OffsetUpdate, SourceBlock, SourceTask } from '../api.ts';
import { coordinatesKey } from './offset-tracker.ts';
import { isBlock, isOffsetUpdate, isRecord, type PolledPart } from './source-block.ts';

/**
 * Ends a transaction after this number of parts (see PolledPart) of the batch. Only a task that defines transaction
 * boundaries requests such ends; its batches contain no blocks.
 */
export interface TransactionEnd {
  readonly after: number;
  readonly outcome: 'commit' | 'abort';
}

/** Polled records, blocks and offset updates in order, each with the converted record or block to send. */
export class PolledBatch {
  readonly sources: PolledPart[] = [];
  /**
   * Results by index of `sources`. `null` for an offset update, and for a record that a transform or the error policy dropped.
   */
  readonly produced: (ProducedRecord | PackedRecords | null)[] = [];
  readonly ends: TransactionEnd[] = [];
  byteLength = 0;
  /** Number of records to send. */
  sent = 0;
  #dropped = 0;
  #offsets = 0;

  /** Number of records, including dropped ones. */
  get size(): number {
    return this.sent + this.#dropped;
  }

  /** Adds an offset update, for which nothing is sent. */
  addOffset(update: OffsetUpdate): void {
    this.sources.push(update);
    this.produced.push(null);
    this.#offsets += 1;
  }

  add(source: PolledPart, record: ProducedRecord | null): void {
    this.sources.push(source);
    this.produced.push(record);
    if (record === null) {
      this.#dropped += 1;
      return;
    }
    this.sent += 1;
    this.byteLength += (record.value?.length ?? 0) + (record.key?.length ?? 0);
  }

  /** Adds a block that is sent unchanged. */
  addBlock(block: SourceBlock): void {
    this.sources.push(block);
    this.produced.push(block.packed);
    this.sent += block.packed.length;
    this.byteLength += block.packed.bytes.length;
  }

  append(other: PolledBatch): void {
    for (const { after, outcome } of other.ends) this.ends.push({ after: this.sources.length + after, outcome });
    for (const source of other.sources) this.sources.push(source);
    for (const record of other.produced) this.produced.push(record);
    this.byteLength += other.byteLength;
    this.sent += other.sent;
    this.#dropped += other.#dropped;
    this.#offsets += other.#offsets;
  }

  /** The records and blocks to send. */
  records(): readonly (ProducedRecord | PackedRecords)[] {
    return this.#dropped + this.#offsets === 0
      ? (this.produced as (ProducedRecord | PackedRecords)[])
      : this.produced.filter((record) => record !== null);
  }

  slice(from: number, to: number): PolledBatch {
    const part = new PolledBatch();
    for (let index = from; index < to; index++) {
      const source = this.sources[index];
      const record = this.produced[index] ?? null;
      if (source === undefined) continue;
      if (isBlock(source)) part.addBlock(source);
      else if (isOffsetUpdate(source)) part.addOffset(source);
      else part.add(source, record instanceof PackedRecords ? null : record);
    }
    return part;
  }

  sourceOf(record: ProducedRecord | PackedRecords): PolledPart | undefined {
    return this.sources[this.produced.indexOf(record)];
  }

  /**
   * Adds the origin of the record, as described by the task, to the producer's error for a record that is too large. The error
   * itself only mentions the size.
   */
  explain({ records, packed, error }: SendFailure, task: SourceTask): Error {
    if (!(error instanceof SluiceError) || !error.javaName.endsWith('RecordTooLargeException')) return error;
    const sent = packed ?? records[0];
    const source = sent && this.sourceOf(sent);
    if (source === undefined) return error;
    const description = isRecord(source) ? task.describe?.(source) : undefined;
    const place = description ?? `source partition ${coordinatesKey(source.sourcePartition)}`;
    return new SluiceError(`${place}: ${error.message}`, { javaName: error.javaName, cause: error });
  }
}
