import type { ConsumedHeader } from './consumed-record.ts';
import { BatchField } from './record-batch.ts';

const ABORT_MARKER = 0;
const CONTROL_KEY_BYTES = 4;
/** One byte each for length, attributes, two deltas, two lengths and the header count. */
const MIN_RECORD_BYTES = 7;
const MAX_VARLONG_BYTES = 10;
const RECORD_BEYOND_BATCH = 'a record exceeds its batch';
const RECORD_LENGTH = 'the length of a record does not match its fields';
const RECORD_OFFSET = 'the offset of a record is out of order';
const BATCH_LENGTH = 'the batch is longer than its records';

/** Columns of decoded records, with capacity for more records than `count`. */
export interface RecordColumns {
  count: number;
  readonly offsets: Float64Array;
  readonly timestamps: Float64Array;
  /** If a key or value is null, its end is before its start. */
  readonly keyStarts: Int32Array;
  readonly keyEnds: Int32Array;
  readonly valueStarts: Int32Array;
  readonly valueEnds: Int32Array;
  /** Position of the header count of each record that has headers; absent if no record has headers. */
  headersAt: (number | undefined)[] | undefined;
  /** Grows the columns if they do not have the capacity for this number of further records. */
  reserve(records: number): void;
}

/** A batch that is being read. The remaining records are between `at` and `end` in `bytes`. */
export interface OpenBatch {
  readonly bytes: Buffer;
  readonly end: number;
  readonly baseOffset: number;
  readonly nextOffset: number;
  readonly baseTimestamp: number;
  /** Timestamp of all records in milliseconds, if the topic uses `LogAppendTime`. */
  readonly appendTime: number | undefined;
  at: number;
  remaining: number;
  /** Lower bound of the next record's offset. */
  minOffset: number;
}

/**
 * Appends records of the batch to the block until it has `max` records or `maxBytes` have been read. Skips offsets below
 * `from`. If a record is corrupt, returns a description of the damage; the records before it have been appended.
 */
export function readRecords(
  batch: OpenBatch,
  block: RecordColumns,
  from: number,
  max: number,
  maxBytes: number,
): string | undefined {
  const { bytes, end, baseOffset, nextOffset, baseTimestamp, appendTime } = batch;
  block.reserve(Math.min(batch.remaining, max - block.count, Math.ceil((end - batch.at) / MIN_RECORD_BYTES)));
  const { offsets, timestamps, keyStarts, keyEnds, valueStarts, valueEnds } = block;
  cursor = batch.at;
  const stopAt = cursor + maxBytes;
  let { remaining, minOffset } = batch;
  let damage: string | undefined;
  let recordAt = cursor;
  for (; remaining > 0 && block.count < max && cursor < stopAt; remaining--) {
    recordAt = cursor;
    const length = readVarint(bytes);
    const recordEnd = cursor + length;
    if (recordEnd > end || length < 0) {
      damage = RECORD_BEYOND_BATCH;
      break;
    }
    cursor += 1;
    const timestampDelta = readVarlong(bytes);
    const offset = baseOffset + readVarint(bytes);
    if (offset < minOffset || offset >= nextOffset) {
      damage = RECORD_OFFSET;
      break;
    }
    if (offset < from) {
      minOffset = offset + 1;
      cursor = recordEnd;
      continue;
    }
    const keyLength = readVarint(bytes);
    const keyStart = cursor;
    if (keyLength > 0) cursor += keyLength;
    const valueLength = readVarint(bytes);
    const valueStart = cursor;
    if (valueLength > 0) cursor += valueLength;
    const headersAt = cursor;
    if (bytes[headersAt] === 0) cursor += 1;
    else skipHeaders(bytes, recordEnd);
    if (cursor !== recordEnd) {
      damage = RECORD_LENGTH;
      break;
    }
    const index = block.count++;
    if (bytes[headersAt] !== 0) (block.headersAt ??= [])[index] = headersAt;
    minOffset = offset + 1;
    offsets[index] = offset;
    timestamps[index] = appendTime ?? baseTimestamp + timestampDelta;
    keyStarts[index] = keyStart;
    keyEnds[index] = keyStart + keyLength;
    valueStarts[index] = valueStart;
    valueEnds[index] = valueStart + valueLength;
  }
  batch.at = damage === undefined ? cursor : recordAt;
  batch.remaining = remaining;
  batch.minOffset = minOffset;
  return damage ?? (remaining === 0 && cursor !== end ? BATCH_LENGTH : undefined);
}

/** Skips the headers. If they are corrupt, the cursor does not end at `recordEnd`. */
function skipHeaders(bytes: Buffer, recordEnd: number): void {
  let count = cursor < recordEnd ? readVarint(bytes) : -1;
  if (count < 0) cursor = INVALID_POSITION;
  for (; count > 0 && cursor < recordEnd; count--) {
    const keyLength = readVarint(bytes);
    cursor = keyLength < 0 ? INVALID_POSITION : cursor + keyLength;
    const valueLength = readVarint(bytes);
    if (valueLength > 0) cursor += valueLength;
  }
  if (count > 0) cursor = INVALID_POSITION;
}

/** Reads the headers. Their count is at `at`, and `readRecords` has validated them. */
export function readHeaders(bytes: Buffer, at: number): ConsumedHeader[] {
  cursor = at;
  const headers: ConsumedHeader[] = [];
  const count = readVarint(bytes);
  for (let index = 0; index < count; index++) {
    const length = readVarint(bytes);
    const key = bytes.toString('utf8', cursor, cursor + length);
    cursor += length;
    headers.push({ key, value: readBytes(bytes) });
  }
  return headers;
}

/**
 * Returns whether a control batch is an abort marker, or `undefined` if its record has no valid key. Control records have the
 * key `version int16, type int16`; control batches contain one record and are never compressed.
 */
export function isAbortMarker(batch: Buffer): boolean | undefined {
  // Compaction may leave empty batches.
  if (batch.readInt32BE(BatchField.recordCount) === 0) return false;
  cursor = BatchField.records;
  readVarint(batch);
  cursor += 1;
  readVarlong(batch);
  readVarint(batch);
  const length = readVarint(batch);
  if (length < CONTROL_KEY_BYTES || cursor + length > batch.length) return undefined;
  return batch.readInt16BE(cursor + 2) === ABORT_MARKER;
}

/**
 * The read position. It is module-level because decoding is synchronous, and passing it to and from every function doubled the
 * time per record.
 */
let cursor = 0;
/** A position beyond any buffer, set after an invalid number. */
const INVALID_POSITION = Number.MAX_SAFE_INTEGER;

function readVarint(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  for (let shift = 7; shift < 35; shift += 7) {
    byte = bytes[cursor++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (byte >= 0x80) cursor = INVALID_POSITION;
  return (value >>> 1) ^ -(value & 1);
}

/** Reads a 64-bit varint. The result is exact up to 2^53; `readVarint` is limited to 32 bits by its bitwise operators. */
function readVarlong(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  const mostEnd = cursor + MAX_VARLONG_BYTES - 1;
  for (let scale = 128; byte >= 0x80 && cursor < mostEnd; scale *= 128) {
    byte = bytes[cursor++]!;
    value += (byte & 0x7f) * scale;
  }
  if (byte >= 0x80) cursor = INVALID_POSITION;
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function readBytes(bytes: Buffer): Buffer | null {
  const length = readVarint(bytes);
  if (length < 0) return null;
  const start = cursor;
  cursor += length;
  return bytes.subarray(start, cursor);
}
