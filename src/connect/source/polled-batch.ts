import type { SourceRecord } from '../../data/record.ts';
import { SluiceError } from '../../errors.ts';
import type { ProducedRecord, SendFailure } from '../../kafka/api.ts';
import type { SourceTask } from '../api.ts';
import { coordinatesKey } from './offset-tracker.ts';

/** Where a transaction ends: after so many records of the batch. */
export interface TransactionEnd {
  readonly after: number;
  readonly outcome: 'commit' | 'abort';
}

/** Records in the order in which they were polled, each with what is sent of it. */
export class PolledBatch {
  readonly sources: SourceRecord[] = [];
  /** `null`: dropped by a transformation, or by the error policy. */
  readonly produced: (ProducedRecord | null)[] = [];
  readonly ends: TransactionEnd[] = [];
  byteLength = 0;
  #dropped = 0;

  get size(): number {
    return this.sources.length;
  }

  add(source: SourceRecord, record: ProducedRecord | null): void {
    this.sources.push(source);
    this.produced.push(record);
    if (record === null) this.#dropped += 1;
    else this.byteLength += (record.value?.length ?? 0) + (record.key?.length ?? 0);
  }

  append(other: PolledBatch): void {
    for (const { after, outcome } of other.ends) this.ends.push({ after: this.size + after, outcome });
    for (const source of other.sources) this.sources.push(source);
    for (const record of other.produced) this.produced.push(record);
    this.byteLength += other.byteLength;
    this.#dropped += other.#dropped;
  }

  /** What is sent. */
  records(): readonly ProducedRecord[] {
    return this.#dropped === 0
      ? (this.produced as ProducedRecord[])
      : this.produced.filter((record): record is ProducedRecord => record !== null);
  }

  slice(from: number, to: number): PolledBatch {
    const part = new PolledBatch();
    for (let index = from; index < to; index++) {
      const source = this.sources[index];
      if (source !== undefined) part.add(source, this.produced[index] ?? null);
    }
    return part;
  }

  sourceOf(record: ProducedRecord): SourceRecord | undefined {
    return this.sources[this.produced.indexOf(record)];
  }

  /** Of a record that is too large the producer says only its size: which one it is, the task can tell. */
  explain({ records, error }: SendFailure, task: SourceTask): Error {
    if (!(error instanceof SluiceError) || !error.javaName.endsWith('RecordTooLargeException')) return error;
    const source = records[0] && this.sourceOf(records[0]);
    if (source === undefined) return error;
    const what = task.describe?.(source) ?? `source partition ${coordinatesKey(source.sourcePartition)}`;
    return new SluiceError(`${what}: ${error.message}`, { javaName: error.javaName, cause: error });
  }
}
