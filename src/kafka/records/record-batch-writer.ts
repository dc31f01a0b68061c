import { PackedRecords } from '../../data/packed-records.ts';
import type { ProducedRecord } from './produced-record.ts';
import { COMPRESSION_TYPES, codecFor, type CompressionType } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { BatchAttribute, BatchField, LENGTH_OVERHEAD, MAGIC, writeInt64 } from './record-batch.ts';

/** Records of one batch. */
export type RecordList = readonly ProducedRecord[] | PackedRecords;

export function recordsOf(list: RecordList): readonly ProducedRecord[] {
  if (!(list instanceof PackedRecords)) return list;
  const { topic, headers } = list;
  return list.entries().map(({ key, value }) => {
    return { topic, partition: null, key, value, timestamp: null, headers: headers.list };
  });
}

export interface BatchOptions {
  readonly topic: string;
  readonly compression: CompressionType;
  /** Timestamp, in milliseconds since the epoch, of records without one. */
  readonly nowMs: number;
  /** -1 if the producer is not idempotent; the same applies to the next two fields. */
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly transactional?: boolean;
}

/**
 * Serializes a record batch in message format 2. For packed records that are not compressed, the header is written into their
 * buffer.
 */
export function writeBatch(records: RecordList, options: BatchOptions): Buffer {
  return records instanceof PackedRecords
    ? finish(records.bytes, records.length, options.nowMs, options.nowMs, options)
    : writeRecords(records, options);
}

function writeRecords(records: readonly ProducedRecord[], options: BatchOptions): Buffer {
  const baseTimestamp = records[0]?.timestamp ?? options.nowMs;
  let maxTimestamp = baseTimestamp;
  let size: number = BatchField.records;
  const bodySizes = new Array<number>(records.length);
  records.forEach((record, index) => {
    const timestamp = record.timestamp ?? options.nowMs;
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    const bodySize = recordSize(record, timestamp - baseTimestamp, index);
    bodySizes[index] = bodySize;
    size += varintSize(bodySize) + bodySize;
  });
  const plain = Buffer.allocUnsafe(size);
  cursor = BatchField.records;
  records.forEach((record, index) => {
    const timestampDelta = (record.timestamp ?? options.nowMs) - baseTimestamp;
    writeRecord(plain, record, bodySizes[index] ?? 0, timestampDelta, index);
  });
  return finish(plain, records.length, baseTimestamp, maxTimestamp, options);
}

function finish(plain: Buffer, count: number, baseTimestamp: number, maxTimestamp: number, options: BatchOptions) {
  const batch = pack(plain, options);
  batch.writeInt32BE(0, BatchField.baseOffset);
  batch.writeInt32BE(0, BatchField.baseOffset + 4);
  batch.writeInt32BE(batch.length - LENGTH_OVERHEAD, BatchField.length);
  batch.writeInt32BE(-1, BatchField.leaderEpoch);
  batch.writeInt8(MAGIC, BatchField.magic);
  const ofTransaction = options.transactional === true ? BatchAttribute.transactional : 0;
  batch.writeInt16BE(COMPRESSION_TYPES.indexOf(options.compression) | ofTransaction, BatchField.attributes);
  batch.writeInt32BE(count - 1, BatchField.lastOffsetDelta);
  writeInt64(batch, baseTimestamp, BatchField.baseTimestamp);
  writeInt64(batch, maxTimestamp, BatchField.maxTimestamp);
  writeInt64(batch, options.producerId, BatchField.producerId);
  batch.writeInt16BE(options.producerEpoch, BatchField.producerEpoch);
  batch.writeInt32BE(options.baseSequence, BatchField.baseSequence);
  batch.writeInt32BE(count, BatchField.recordCount);
  batch.writeUInt32BE(crc32c(batch, BatchField.attributes, batch.length), BatchField.crc);
  return batch;
}

/** Uncompressed size in bytes of a batch that contains only this record. `max.request.size` limits this size. */
export function serializedSize(record: ProducedRecord): number {
  const bodySize = recordSize(record, 0, 0);
  return BatchField.records + varintSize(bodySize) + bodySize;
}

/** Upper bound of `serializedSize` that is cheaper to compute. */
export function sizeBound({ key, value, headers }: ProducedRecord): number {
  let size = BatchField.records + MAX_VARINT_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  for (const header of headers) size += MAX_VARINT_BYTES + 3 * header.key.length + (header.value?.length ?? 0);
  return size;
}

/** Maximum bytes of the varints of a record or header. */
const MAX_VARINT_BYTES = 36;

function pack(plain: Buffer, { compression, topic }: BatchOptions): Buffer {
  if (compression === 'none') return plain;
  const packed = codecFor(compression, topic).compress(plain.subarray(BatchField.records));
  const batch = Buffer.allocUnsafe(BatchField.records + packed.length);
  packed.copy(batch, BatchField.records);
  return batch;
}

function recordSize({ key, value, headers }: ProducedRecord, timestampDelta: number, offsetDelta: number): number {
  const attributes = 1;
  let size = attributes + varlongSize(timestampDelta) + varintSize(offsetDelta);
  size += bytesSize(key) + bytesSize(value) + varintSize(headers.length);
  for (const header of headers) {
    const keyLength = Buffer.byteLength(header.key);
    size += varintSize(keyLength) + keyLength + bytesSize(header.value);
  }
  return size;
}

function bytesSize(bytes: Uint8Array | null): number {
  return bytes === null ? 1 : varintSize(bytes.length) + bytes.length;
}

/** Write position. It can be a variable of the module, as in record-reader.ts, because writing is synchronous. */
let cursor = 0;

function writeRecord(
  target: Buffer,
  { key, value, headers }: ProducedRecord,
  bodySize: number,
  timestampDelta: number,
  offsetDelta: number,
): void {
  writeVarint(target, bodySize);
  target[cursor++] = 0;
  writeVarlong(target, timestampDelta);
  writeVarint(target, offsetDelta);
  writeBytes(target, key);
  writeBytes(target, value);
  writeVarint(target, headers.length);
  for (const header of headers) {
    writeVarint(target, Buffer.byteLength(header.key));
    cursor += target.write(header.key, cursor, 'utf8');
    writeBytes(target, header.value);
  }
}

function writeBytes(target: Buffer, bytes: Uint8Array | null): void {
  if (bytes === null) {
    writeVarint(target, -1);
    return;
  }
  writeVarint(target, bytes.length);
  target.set(bytes, cursor);
  cursor += bytes.length;
}

function varintSize(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 0x80) return 1;
  if (zigzag < 0x4000) return 2;
  if (zigzag < 0x20_0000) return 3;
  return zigzag < 0x1000_0000 ? 4 : 5;
}

function writeVarint(target: Buffer, value: number): void {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  while (rest >= 0x80) {
    target[cursor++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[cursor++] = rest;
}

const INT32_LIMIT = 2 ** 30;

function zigzagLong(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function varlongSize(value: number): number {
  if (value > -INT32_LIMIT && value < INT32_LIMIT) return varintSize(value);
  let size = 1;
  for (let rest = zigzagLong(value); rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
  return size;
}

function writeVarlong(target: Buffer, value: number): void {
  if (value > -INT32_LIMIT && value < INT32_LIMIT) {
    writeVarint(target, value);
    return;
  }
  let rest = zigzagLong(value);
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) target[cursor++] = (rest % 0x80) | 0x80;
  target[cursor++] = rest;
}
