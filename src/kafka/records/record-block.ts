import type { MessageBlock } from '../../data/message-block.ts';
import type { TopicPartition } from '../../data/record.ts';
import type { ConsumedHeader, ConsumedRecord } from './consumed-record.ts';
import { readHeaders, type RecordColumns } from './record-reader.ts';

const NO_HEADERS: readonly ConsumedHeader[] = Object.freeze([]);

const NO_BYTES = Buffer.alloc(0);

/**
 * A message block that also has keys and headers, and can return individual records. Keys, values and header values are
 * views of `bytes`.
 */
export class RecordBlock implements MessageBlock, RecordColumns {
  readonly topic: string;
  readonly partition: number;
  readonly timestampType: ConsumedRecord['timestampType'];
  count = 0;
  offsets = new Float64Array(0);
  timestamps = new Float64Array(0);
  keyStarts = new Int32Array(0);
  keyEnds = new Int32Array(0);
  valueStarts = new Int32Array(0);
  valueEnds = new Int32Array(0);
  headersAt: (number | undefined)[] | undefined;
  readonly bytes: Buffer;
  /** Set if `bytes` does not contain the records. Only `record` may be called then. */
  records: readonly ConsumedRecord[] | undefined;

  constructor({ topic, partition }: TopicPartition, bytes: Buffer, timestampType: ConsumedRecord['timestampType']) {
    this.topic = topic;
    this.partition = partition;
    this.bytes = bytes;
    this.timestampType = timestampType;
  }

  /** Creates a block of records that are not in its bytes. `offsets` are the offsets under which the records were read. */
  static ofRecords(
    partition: TopicPartition,
    records: readonly ConsumedRecord[],
    offsets: readonly number[],
  ): RecordBlock {
    const block = new RecordBlock(partition, NO_BYTES, 'CreateTime');
    block.reserve(records.length);
    block.count = records.length;
    block.offsets.set(offsets);
    block.timestamps.set(records.map(({ timestamp }) => timestamp));
    block.records = records;
    return block;
  }

  reserve(records: number): void {
    const needed = this.count + records;
    if (needed <= this.offsets.length) return;
    const length = Math.max(needed, 2 * this.offsets.length);
    this.offsets = grown(this.offsets, new Float64Array(length));
    this.timestamps = grown(this.timestamps, new Float64Array(length));
    this.keyStarts = grown(this.keyStarts, new Int32Array(length));
    this.keyEnds = grown(this.keyEnds, new Int32Array(length));
    this.valueStarts = grown(this.valueStarts, new Int32Array(length));
    this.valueEnds = grown(this.valueEnds, new Int32Array(length));
  }

  /** Whether any record has headers. */
  get hasHeaders(): boolean {
    return this.headersAt !== undefined;
  }

  key(index: number): Buffer | null {
    return this.#slice(this.keyStarts[index]!, this.keyEnds[index]!);
  }

  value(index: number): Buffer | null {
    return this.#slice(this.valueStarts[index]!, this.valueEnds[index]!);
  }

  headers(index: number): readonly ConsumedHeader[] {
    const at = this.headersAt?.[index];
    if (at === undefined) return NO_HEADERS;
    return readHeaders(this.bytes, at);
  }

  record(index: number): ConsumedRecord {
    if (this.records !== undefined) return this.records[index]!;
    return {
      topic: this.topic,
      partition: this.partition,
      offset: this.offsets[index]!,
      timestamp: this.timestamps[index]!,
      timestampType: this.timestampType,
      key: this.key(index),
      value: this.value(index),
      headers: this.headers(index),
    };
  }

  #slice(start: number, end: number): Buffer | null {
    if (end < start) return null;
    return this.bytes.subarray(start, end);
  }
}

function grown<T extends Float64Array | Int32Array>(from: T, to: T): T {
  if (from.length > 0) to.set(from);
  return to;
}
