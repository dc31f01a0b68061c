import type { ConsumedHeader } from '../api.ts';
import { BatchField } from './record-batch.ts';

const ABORT_MARKER = 0;
/** Version and type of a control record, 16 bits each. */
const CONTROL_KEY_BYTES = 4;
/** Length, attributes, two deltas, two lengths and the count of headers, of a byte each. */
const LEAST_RECORD_BYTES = 7;
const MOST_VARLONG_BYTES = 10;
const RECORD_BEYOND_BATCH = 'a record goes beyond its batch';
const RECORD_LENGTH = 'the length of a record is not that of its fields';
const RECORD_OFFSET = 'the offset of a record is not in its place in the batch';
const BATCH_LENGTH = 'the batch is longer than its records';

/** Where records are appended: one entry of each list per record. The lists have room for more records than there are. */
export interface RecordColumns {
  count: number;
  readonly offsets: Float64Array;
  readonly timestamps: Float64Array;
  /** A key or value that is null ends before it starts. */
  readonly keyStarts: Int32Array;
  readonly keyEnds: Int32Array;
  readonly valueStarts: Int32Array;
  readonly valueEnds: Int32Array;
  /** Where the headers' count stands, for the records that have headers; absent when none has. */
  headersAt: (number | undefined)[] | undefined;
  /** Makes room for so many more records. */
  reserve(records: number): void;
}

/** A batch being read: its records run from `at` to `end` in `bytes`. */
export interface OpenBatch {
  readonly bytes: Buffer;
  readonly end: number;
  readonly baseOffset: number;
  readonly nextOffset: number;
  readonly baseTimestamp: number;
  /** Milliseconds, when the broker's clock counts. */
  readonly appendTime: number | undefined;
  at: number;
  remaining: number;
  /** The next record has this offset or a later one. */
  leastOffset: number;
}

/**
 * Appends records of the batch to the block until it has `max` records or `maxBytes` have been read; those below `from` are
 * passed over. A text says what is damaged; the records before the damage have been appended.
 */
export function readRecords(
  batch: OpenBatch,
  block: RecordColumns,
  from: number,
  max: number,
  maxBytes: number,
): string | undefined {
  const { bytes, end, baseOffset, nextOffset, baseTimestamp, appendTime } = batch;
  block.reserve(Math.min(batch.remaining, max - block.count, Math.ceil((end - batch.at) / LEAST_RECORD_BYTES)));
  const { offsets, timestamps, keyStarts, keyEnds, valueStarts, valueEnds } = block;
  cursor = batch.at;
  const stopAt = cursor + maxBytes;
  let { remaining, leastOffset } = batch;
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
    if (offset < leastOffset || offset >= nextOffset) {
      damage = RECORD_OFFSET;
      break;
    }
    if (offset < from) {
      leastOffset = offset + 1;
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
    else passHeaders(bytes, recordEnd);
    if (cursor !== recordEnd) {
      damage = RECORD_LENGTH;
      break;
    }
    const index = block.count++;
    if (bytes[headersAt] !== 0) (block.headersAt ??= [])[index] = headersAt;
    leastOffset = offset + 1;
    offsets[index] = offset;
    timestamps[index] = appendTime ?? baseTimestamp + timestampDelta;
    keyStarts[index] = keyStart;
    keyEnds[index] = keyStart + keyLength;
    valueStarts[index] = valueStart;
    valueEnds[index] = valueStart + valueLength;
  }
  batch.at = damage === undefined ? cursor : recordAt;
  batch.remaining = remaining;
  batch.leastOffset = leastOffset;
  return damage ?? (remaining === 0 && cursor !== end ? BATCH_LENGTH : undefined);
}

/** Moves behind the headers; elsewhere than to `recordEnd` when they are damaged. */
function passHeaders(bytes: Buffer, recordEnd: number): void {
  let count = cursor < recordEnd ? readVarint(bytes) : -1;
  if (count < 0) cursor = NOWHERE;
  for (; count > 0 && cursor < recordEnd; count--) {
    const keyLength = readVarint(bytes);
    cursor = keyLength < 0 ? NOWHERE : cursor + keyLength;
    const valueLength = readVarint(bytes);
    if (valueLength > 0) cursor += valueLength;
  }
  if (count > 0) cursor = NOWHERE;
}

/** The headers of a record whose count of headers stands at `at`, which `readRecords` has looked through. */
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
 * Control records have the key `version int16, type int16`; control batches hold one and are never compressed. `undefined`
 * when there is no such key.
 */
export function isAbortMarker(batch: Buffer): boolean | undefined {
  // Compaction leaves batches without records.
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
 * The place in the bytes being decoded. It is of the module, not of an object: decoding never yields in between, and
 * passing a position in and out of every read doubled the time per record.
 */
let cursor = 0;
/** Beyond every end: what stands here is no number. */
const NOWHERE = Number.MAX_SAFE_INTEGER;

function readVarint(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  for (let shift = 7; shift < 35; shift += 7) {
    byte = bytes[cursor++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (byte >= 0x80) cursor = NOWHERE;
  return (value >>> 1) ^ -(value & 1);
}

/** Up to 2^53 exactly; the bitwise operators of readVarint stop at 32 bits. */
function readVarlong(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  const mostEnd = cursor + MOST_VARLONG_BYTES - 1;
  for (let scale = 128; byte >= 0x80 && cursor < mostEnd; scale *= 128) {
    byte = bytes[cursor++]!;
    value += (byte & 0x7f) * scale;
  }
  if (byte >= 0x80) cursor = NOWHERE;
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function readBytes(bytes: Buffer): Buffer | null {
  const length = readVarint(bytes);
  if (length < 0) return null;
  const start = cursor;
  cursor += length;
  return bytes.subarray(start, cursor);
}
