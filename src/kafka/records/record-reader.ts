import type { ConsumedHeader } from '../api.ts';
import { BatchField } from './record-batch.ts';
import type { RecordBlock } from './record-block.ts';

const ABORT_MARKER = 0;
/** Length, attributes, two deltas, two lengths and the count of headers, of a byte each. */
const LEAST_RECORD_BYTES = 7;
const RECORD_BEYOND_BATCH = 'a record goes beyond its batch';

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
}

/**
 * Appends records of the batch to the block until it has `max` records or `maxBytes` have been read; those below `from` are
 * passed over. A text says what is damaged.
 */
export function readRecords(
  batch: OpenBatch,
  block: RecordBlock,
  from: number,
  max: number,
  maxBytes: number,
): string | undefined {
  const { bytes, end, baseOffset, baseTimestamp, appendTime } = batch;
  block.reserve(Math.min(batch.remaining, max - block.count, Math.ceil((end - batch.at) / LEAST_RECORD_BYTES)));
  const { offsets, timestamps, keyStarts, keyEnds, valueStarts, valueEnds } = block;
  cursor = batch.at;
  const stopAt = cursor + maxBytes;
  let remaining = batch.remaining;
  while (remaining > 0 && block.count < max && cursor < stopAt) {
    batch.at = cursor;
    batch.remaining = remaining;
    remaining -= 1;
    const length = readVarint(bytes);
    const recordEnd = cursor + length;
    if (recordEnd > end || length < 0) return RECORD_BEYOND_BATCH;
    cursor += 1;
    const timestampDelta = readVarlong(bytes);
    const offset = baseOffset + readVarint(bytes);
    if (offset < from) {
      cursor = recordEnd;
      continue;
    }
    const keyLength = readVarint(bytes);
    const keyStart = cursor;
    if (keyLength > 0) cursor += keyLength;
    const valueLength = readVarint(bytes);
    const valueStart = cursor;
    if (valueLength > 0) cursor += valueLength;
    if (cursor >= recordEnd) return RECORD_BEYOND_BATCH;
    const index = block.count++;
    if (bytes[cursor] !== 0) (block.headersAt ??= [])[index] = cursor;
    offsets[index] = offset;
    timestamps[index] = appendTime ?? baseTimestamp + timestampDelta;
    keyStarts[index] = keyStart;
    keyEnds[index] = keyStart + keyLength;
    valueStarts[index] = valueStart;
    valueEnds[index] = valueStart + valueLength;
    cursor = recordEnd;
  }
  batch.at = cursor;
  batch.remaining = remaining;
  return undefined;
}

/** The headers of a record whose count of headers stands at `at`. */
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

/** Control records have the key `version int16, type int16`; control batches hold one and are never compressed. */
export function isAbortMarker(batch: Buffer): boolean {
  cursor = BatchField.records;
  readVarint(batch);
  cursor += 1;
  readVarlong(batch);
  readVarint(batch);
  const key = readBytes(batch);
  return key !== null && key.length >= 4 && key.readInt16BE(2) === ABORT_MARKER;
}

/**
 * The place in the bytes being decoded. It is of the module, not of an object: decoding never yields in between, and
 * passing a position in and out of every read doubled the time per record.
 */
let cursor = 0;

function readVarint(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  for (let shift = 7; shift < 35; shift += 7) {
    byte = bytes[cursor++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return (value >>> 1) ^ -(value & 1);
}

/** Up to 2^53 exactly; the bitwise operators of readVarint stop at 32 bits. */
function readVarlong(bytes: Buffer): number {
  let byte = bytes[cursor++]!;
  if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
  let value = byte & 0x7f;
  for (let scale = 128; byte >= 0x80; scale *= 128) {
    byte = bytes[cursor++]!;
    value += (byte & 0x7f) * scale;
  }
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function readBytes(bytes: Buffer): Buffer | null {
  const length = readVarint(bytes);
  if (length < 0) return null;
  const start = cursor;
  cursor += length;
  return bytes.subarray(start, cursor);
}
